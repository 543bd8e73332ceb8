import { availableParallelism } from "node:os";
import { secondMs } from "../base/clock.ts";
import type { Config } from "./config.ts";
import type { ParsedSettings } from "./read-settings.ts";
import { setting } from "./setting.ts";
import { wholeNumber, wordOr } from "./value-type.ts";

const workersMax = 64;

/** The part of the settings table about processes: how many answer, and how they end. */
export const processSettings = {
  processes: {
    title: "Processes",
    intro: "",
    settings: {
      workers: setting({
        env: "WEB_CONCURRENCY",
        doc: "How many worker processes answer on this machine. `auto`: one for each processor. More than one needs PostgreSQL; with SQLite it stays one.",
        type: wordOr("auto", "auto", wholeNumber(1, workersMax)),
        default: "1",
      }),
      shutdownGraceSeconds: setting({
        env: "PWP__SHUTDOWN_GRACE_SECONDS",
        doc: "How long a server that is told to stop goes on taking connections while `/ready` answers 503 already: the time in which a load balancer notices.",
        type: wholeNumber(0, 300),
        default: "0",
      }),
      shutdownIdleSeconds: setting({
        env: "PWP__SHUTDOWN_IDLE_SECONDS",
        doc: "How long a server that ends keeps a connection on which nothing is asked: a last request may be on its way, as of a proxy that keeps its connections.",
        type: wholeNumber(1, 20),
        default: "1",
      }),
    },
  },
};

type ProcessReadings = ParsedSettings<typeof processSettings>["processes"];

/** @param engine of the database: one SQLite file has one process that writes well. */
export function processesOf(
  { workers, shutdownGraceSeconds, shutdownIdleSeconds }: ProcessReadings,
  engine: "sqlite" | "postgres",
): Pick<Config, "workers" | "shutdownGraceMs" | "shutdownIdleMs"> {
  const wanted = workers.value === "auto" ? Math.min(availableParallelism(), workersMax) : workers.value;
  return {
    workers: engine === "sqlite" ? 1 : wanted,
    shutdownGraceMs: shutdownGraceSeconds.value * secondMs,
    shutdownIdleMs: shutdownIdleSeconds.value * secondMs,
  };
}

export function processWarnings({ workers }: ProcessReadings, engine: "sqlite" | "postgres"): readonly string[] {
  if (engine === "postgres" || workers.value === 1) return [];
  return [
    `${workers.env} is ${workers.value}, but it stays one process: SQLite has one writer at a time, so more of them would only wait for each other. Several need PostgreSQL.`,
  ];
}
