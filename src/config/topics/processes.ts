import { availableParallelism } from "node:os";
import { secondMs } from "../../base/clock.ts";
import { type ParsedGroup, type SettingReport, setting } from "../setting.ts";
import { wholeNumber, wordOr } from "../value-types.ts";

const workersMax = 64;

export const processSettings = {
  title: "Processes",
  intro: "",
  settings: {
    workers: setting({
      env: "WEB_CONCURRENCY",
      doc: "How many worker processes answer requests on this machine. `auto`: one per processor. 0 is one, as in Password Pusher. More than one needs PostgreSQL; with SQLite it is always one.",
      type: wordOr("auto", "auto", wholeNumber(0, workersMax)),
      default: "1",
    }),
    shutdownGraceSeconds: setting({
      env: "PWP__SHUTDOWN_GRACE_SECONDS",
      doc: "After the signal to stop, how long the server still accepts connections while `/ready` already answers 503: the time a load balancer needs to notice.",
      type: wholeNumber(0, 300),
      default: "0",
    }),
    shutdownIdleSeconds: setting({
      env: "PWP__SHUTDOWN_IDLE_SECONDS",
      doc: "How long a server that is stopping keeps an idle connection open: a last request may be on its way, for example from a proxy that keeps connections alive.",
      type: wholeNumber(1, 20),
      default: "1",
    }),
  },
};

type Engine = "sqlite" | "postgres";

function isOneProcessOn(engine: Engine): boolean {
  switch (engine) {
    case "sqlite":
      return true;
    case "postgres":
      return false;
    default:
      return engine satisfies never;
  }
}

export function processesConfig(
  { workers, shutdownGraceSeconds, shutdownIdleSeconds }: ParsedGroup<typeof processSettings>,
  engine: Engine,
  report: SettingReport,
) {
  const isOneProcess = isOneProcessOn(engine);
  if (isOneProcess && (workers.value === "auto" || workers.value > 1)) {
    report.warn(
      `${workers.env} is ${workers.value}, but the server stays one process: SQLite has one writer at a time, so several processes would only wait for each other. Several need PostgreSQL.`,
    );
  }
  const wanted = workers.value === "auto" ? Math.min(availableParallelism(), workersMax) : Math.max(workers.value, 1);
  return {
    /** Processes that answer requests on this machine. */
    workers: isOneProcess ? 1 : wanted,
    /** How long a server that is stopping still accepts connections, although it says that it is not ready. */
    shutdownGraceMs: shutdownGraceSeconds.value * secondMs,
    /** How long a server that is stopping keeps an idle connection open. */
    shutdownIdleMs: shutdownIdleSeconds.value * secondMs,
  };
}
