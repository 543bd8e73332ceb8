import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createUser, makeTestCli, password } from "../../test/support/cli.ts";

describe("keys", () => {
  it("generate prints 64 hex digits, others each time", async () => {
    const cli = makeTestCli();
    const [one, other] = [await cli.run(["keys", "generate"]), await cli.run(["keys", "generate"])];
    expect(one).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/), stderr: "" });
    expect(other.stdout).not.toBe(one.stdout);
  });

  it("rotate moves everything to the new key, so that the old one can go", async () => {
    const cli = makeTestCli();
    const [old, fresh] = ["11".repeat(32), "22".repeat(32)];
    await cli.run(createUser, { stdin: password, environment: { PWPUSH_MASTER_KEY: old } });
    const both = { PWPUSH_MASTER_KEY: fresh, PWPUSH_MASTER_KEY_PREVIOUS: old };

    const early = await cli.run(["keys", "rotate"], { environment: { PWPUSH_MASTER_KEY: fresh } });
    expect(early).toMatchObject({ exitCode: 1, stdout: "" });
    expect(early.stderr).toMatch(/^The database is sealed under the master key with id [0-9a-f]{8}, /);

    const rotated = await cli.run(["keys", "rotate"], { environment: both });
    expect(rotated).toMatchObject({ exitCode: 0, stderr: "" });
    expect(rotated.stdout).toMatch(/can be removed: [0-9a-f]{8}\.\n$/);
    const after = await cli.run(["keys", "rotate"], { environment: { PWPUSH_MASTER_KEY: fresh } });
    expect(after).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("rotate makes neither database nor key", async () => {
    const cli = makeTestCli();
    const run = await cli.run(["keys", "rotate"]);
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    expect(existsSync(cli.dataDir)).toBe(false);
  });
});

describe("config check", () => {
  const masterKey = "ab".repeat(32);

  it("prints every setting with its origin, and no secret", async () => {
    const run = await makeTestCli().run(["config", "check"], {
      environment: { PORT: "6000", PWPUSH_MASTER_KEY: masterKey },
    });
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toContain("PORT = 6000 (environment)\n");
    expect(run.stdout).toContain("HOST = 127.0.0.1 (default)\n");
    expect(run.stdout).toContain("PWPUSH_MASTER_KEY = (hidden) (environment)\n");
    expect(run.stdout).not.toContain(masterKey);
  });

  it("prints all mistakes and warnings and ends with 2", async () => {
    const environment = { PORT: "many", PWP__ALLOW_ANONYMOUS: "perhaps", PWP__ENABLE_FILE_PUSHS: "true" };
    const run = await makeTestCli().run(["config", "check"], { environment });
    expect(run.exitCode).toBe(2);
    expect(run.stdout).toContain("PORT = many (environment)\n");
    expect(run.stderr).toMatch(/^mistake: PORT /m);
    expect(run.stderr).toMatch(/^mistake: PWP__ALLOW_ANONYMOUS /m);
    expect(run.stderr).toMatch(/^warning: .*PWP__ENABLE_FILE_PUSHES/m);
  });

  it("reads a file instead of the environment", async () => {
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const file = join(cli.dataDir, "settings.env");
    writeFileSync(file, `# comment\nPORT=7000\nPWP__LOG_LEVEL="debug"\nPWPUSH_MASTER_KEY=${masterKey}\n`);
    const run = await cli.run(["config", "check", "--env-file", file], { environment: { HOST: "0.0.0.0" } });
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toContain("PORT = 7000 (environment)\n");
    expect(run.stdout).toContain("HOST = 127.0.0.1 (default)\n");
    expect(run.stdout).not.toContain(masterKey);
    const missing = await cli.run(["config", "check", "--env-file", `${file}.none`]);
    expect(missing).toEqual({ exitCode: 1, stdout: "", stderr: `${file}.none cannot be read (ENOENT).\n` });
  });
});
