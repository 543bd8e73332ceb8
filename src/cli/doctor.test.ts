import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createUser, makeCliUser, makeTestCli, password } from "../../test/support/cli.ts";
import { engine, settingsOfEngine } from "../../test/support/engine.ts";
import { minuteMs, systemClock } from "../base/clock.ts";
import { isNodeOutdated } from "../config/pinned-programs.ts";

describe("doctor", () => {
  const levels = (stdout: string) =>
    Object.fromEntries([...stdout.matchAll(/^(ok|warn|fail) +([^:]+):/gm)].map(([, level, name]) => [name, level]));
  const nobody = { PORT: "1" };

  it("finds no problem in a working installation", async () => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    const run = await cli.run(["doctor"], { environment: { ...nobody, PWP__DISK__FREE_MIN_BYTES: "1" } });
    expect(levels(run.stdout)).toEqual({
      settings: "ok",
      // The Node that npm installs may lack the last fixes.
      node: isNodeOutdated(process.versions.node) ? "warn" : "ok",
      "master key": "ok",
      database: "ok",
      "key ring": "ok",
      clock: "ok",
      forwarders: "ok",
      "disk writable": "ok",
      "disk space": "ok",
      "base URL": "ok",
      mail: "ok",
      server: "warn",
    });
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("reports that there is no data yet, and creates none", async () => {
    const cli = makeTestCli();
    const run = await cli.run(["doctor"], { environment: nobody });
    expect(run.exitCode).toBe(1);
    expect(levels(run.stdout)).toMatchObject({
      "master key": "fail",
      // On PostgreSQL, the database exists before it has tables.
      ...(engine === "sqlite" ? { database: "fail" } : { "key ring": "fail" }),
      "disk writable": "fail",
      "disk space": "fail",
      clock: "ok",
    });
    expect(existsSync(cli.dataDir)).toBe(false);
  });

  it("reports a restore that was interrupted", async () => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    mkdirSync(join(cli.dataDir, "restore-unfinished"));
    const run = await cli.run(["doctor"], { environment: nobody });
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toMatch(/^fail {2}database: A restore into .* is running or was interrupted/m);
  });

  it("reports a database that is sealed under another key, and a new key that no server has loaded yet", async () => {
    const cli = makeTestCli();
    const [old, fresh] = ["11".repeat(32), "22".repeat(32)];
    await cli.run(createUser, { stdin: password, environment: { PWPUSH_MASTER_KEY: old } });
    const wrong = await cli.run(["doctor"], { environment: { ...nobody, PWPUSH_MASTER_KEY: fresh } });
    expect(wrong.exitCode).toBe(1);
    expect(levels(wrong.stdout)).toMatchObject({ "key ring": "fail" });
    const both = { ...nobody, PWPUSH_MASTER_KEY: fresh, PWPUSH_MASTER_KEY_PREVIOUS: old };
    expect(levels((await cli.run(["doctor"], { environment: both })).stdout)).toMatchObject({ "key ring": "warn" });
    // The check has not put the new key into use: the old one alone still opens the domain.
    const back = await cli.run(["doctor"], { environment: { ...nobody, PWPUSH_MASTER_KEY: old } });
    expect(levels(back.stdout)).toMatchObject({ "key ring": "ok" });
  });

  it("reports a key file that others can read", async () => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    chmodSync(join(cli.dataDir, "master.key"), 0o644);
    const run = await cli.run(["doctor"], { environment: nobody });
    expect(levels(run.stdout)).toMatchObject({ "master key": "warn" });
  });

  it("reports a clock that was set back", async () => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    const late = makeTestCli({ clock: { now: () => systemClock.now() - 2 * minuteMs } });
    const domain = { ...(await settingsOfEngine(cli.dataDir)), DATA_DIR: cli.dataDir };
    const run = await late.run(["doctor"], { environment: { ...nobody, ...domain } });
    expect(levels(run.stdout)).toMatchObject({ clock: "fail" });
  });
});
