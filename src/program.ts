import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import closeWithGrace from "close-with-grace";
import packageJson from "../package.json" with { type: "json" };
import { systemClock } from "./base/clock.ts";
import { systemRandom } from "./base/random.ts";
import { runCli } from "./cli/cli.ts";
import type { Config } from "./config/config.ts";
import type { Effects } from "./house.ts";
import { startServer } from "./serve.ts";

const drainMsMax = 30_000;
const oneWishMs = 1_000;
const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

const effects: Effects = {
  clock: systemClock,
  random: systemRandom,
  monotonicMs: () => performance.now(),
  pause: (ms) => sleep(ms),
};

/**
 * Runs until SIGTERM or SIGINT; then running requests finish, new connections are refused and the database closes. A
 * signal that comes while the server still starts lets it start, and then stops it.
 */
async function serve(config: Config, warnings: readonly string[]): Promise<number> {
  let askedBy: string | undefined;
  const ended = Promise.withResolvers<number>();
  const starting = startServer(config, warnings, {
    effects,
    logDestination: process.stdout,
    assetsDir: join(import.meta.dirname, "assets"),
    version: packageJson.version,
  });
  const ending = closeWithGrace(
    { delay: drainMsMax, logger: false, skip: [...stopSignals] },
    async ({ signal, err }) => {
      const app = await starting;
      if (err !== undefined) app.events.jobFailed("process", err);
      app.events.serverStopping(askedBy ?? signal ?? "error");
      await app.close();
      const { commits, units } = app.house.db.counts;
      app.events.serverStopped({ commits, units });
      ended.resolve(err === undefined ? 0 : 1);
    },
  );
  onStopSignal((signal) => {
    askedBy = signal;
    ending.close();
  });
  try {
    await starting;
  } catch (error) {
    ending.uninstall();
    throw error;
  }
  return await ended.promise;
}

/**
 * A second signal ends the process at once, for whoever does not want to wait. But npm passes on to the server what a
 * terminal or a supervisor has sent to the whole group already: close together, two signals are one wish.
 */
function onStopSignal(stop: (signal: string) => void): void {
  let firstAt: number | undefined;
  for (const name of stopSignals) {
    process.on(name, () => {
      const now = effects.monotonicMs();
      if (firstAt === undefined) {
        firstAt = now;
        stop(name);
      } else if (now - firstAt > oneWishMs) {
        process.exit(1);
      }
    });
  }
}

// Files that this process makes are its user's alone.
process.umask(0o077);
process.exitCode = await runCli(process.argv.slice(2), {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  stdin: process.stdin,
  environment: process.env,
  ...effects,
  version: packageJson.version,
  serve,
});
