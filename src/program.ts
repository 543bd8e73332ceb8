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

const effects: Effects = {
  clock: systemClock,
  random: systemRandom,
  monotonicMs: () => performance.now(),
  pause: (ms) => sleep(ms),
};

/** Runs until SIGTERM or SIGINT; then running requests finish, new connections are refused and the database closes. */
async function serve(config: Config, warnings: readonly string[]): Promise<number> {
  const app = await startServer(config, warnings, {
    effects,
    logDestination: process.stdout,
    assetsDir: join(import.meta.dirname, "assets"),
    version: packageJson.version,
  });
  return await new Promise<number>((resolve) => {
    closeWithGrace({ delay: drainMsMax, logger: false }, async ({ signal, err }) => {
      if (err !== undefined) app.events.jobFailed("process", err);
      app.events.serverStopping(signal ?? "error");
      const { commits, units } = app.house.db.counts;
      await app.close();
      app.events.serverStopped({ commits, units });
      resolve(err === undefined ? 0 : 1);
    });
  });
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
