import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { noFile } from "../../../test/support/settings.ts";
import { loadConfig } from "../load-config.ts";

const postgres = { DATABASE_URL: "postgres://sealpush@db.example.com/sealpush" };

function load(environment: Readonly<Record<string, string>>) {
  const result = loadConfig(environment, noFile);
  if (!result.ok) throw new Error(result.mistakes.join(" "));
  return result;
}

it("PostgreSQL has the configured number of workers, and one per processor with auto", () => {
  expect(load({ ...postgres }).config.workers).toBe(1);
  expect(load({ ...postgres, WEB_CONCURRENCY: "6" }).config.workers).toBe(6);
  const automatic = load({ ...postgres, WEB_CONCURRENCY: "auto" });
  expect(automatic.config.workers).toBe(Math.min(availableParallelism(), 64));
  expect(automatic.warnings.filter((warning) => warning.includes("WEB_CONCURRENCY"))).toEqual([]);
});

it("SQLite has one process, and a warning explains why if more are configured", () => {
  const { config, warnings } = load({ WEB_CONCURRENCY: "6" });
  expect(config.workers).toBe(1);
  expect(warnings).toEqual([
    expect.stringMatching(/^WEB_CONCURRENCY is 6, but the server stays one process: SQLite .*\.$/),
  ]);
  for (const one of ["0", "1"]) {
    expect(load({ WEB_CONCURRENCY: one })).toMatchObject({ warnings: [], config: { workers: 1 } });
    expect(load({ ...postgres, WEB_CONCURRENCY: one }).config.workers).toBe(1);
  }
});

it.each(["65", "1.5", "-1", "many"])("WEB_CONCURRENCY=%s is refused", (WEB_CONCURRENCY) => {
  expect(loadConfig({ WEB_CONCURRENCY }, noFile)).toMatchObject({
    ok: false,
    mistakes: [expect.stringMatching(/^WEB_CONCURRENCY .*auto, or a whole number from 0 to 64.*\.$/)],
  });
});

it("the delay before a stop is given in seconds", () => {
  expect(load({ PWP__SHUTDOWN_GRACE_SECONDS: "15" }).config.shutdownGraceMs).toBe(15_000);
  expect(load({}).config.shutdownGraceMs).toBe(0);
});

it("the time for a last request is given in seconds, and is shorter than the time for the whole stop", () => {
  expect(load({ PWP__SHUTDOWN_IDLE_SECONDS: "20" }).config.shutdownIdleMs).toBe(20_000);
  expect(load({}).config.shutdownIdleMs).toBe(1_000);
  expect(loadConfig({ PWP__SHUTDOWN_IDLE_SECONDS: "21" }, noFile)).toMatchObject({ ok: false });
});
