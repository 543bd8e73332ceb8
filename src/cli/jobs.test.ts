import { expect, it } from "vitest";
import { startTestApp } from "../../test/support/app.ts";
import { makeCliUser, makeTestCli } from "../../test/support/cli.ts";
import { withDatabaseOf } from "../../test/support/database-of.ts";
import { TestClock } from "../../test/support/domain.ts";
import { changeRows, readRows } from "../../test/support/engine-database.ts";
import { jobNames } from "../database/job-runs.ts";

async function makeData() {
  const clock = new TestClock();
  const cli = makeTestCli({ clock });
  await makeCliUser(cli);
  return { cli, clock };
}

it("jobs run needs a running server and a known name", async () => {
  const { cli } = await makeData();
  expect(await cli.run(["jobs", "run", "sweep"])).toMatchObject({
    exitCode: 1,
    stderr: "No server is running on this database. All jobs run when one starts.\n",
  });
  expect(await cli.run(["jobs", "run", "nothing"])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("claim retries"),
  });
});

it("jobs list shows each job of a running server, and jobs run lets it run one", async () => {
  const { cli, clock } = await makeData();
  await using server = await startTestApp({ dataDir: cli.dataDir, clock });
  const { jobs } = server.app.domain;
  await expect.poll(async () => (await jobs.list()).length).toBe(jobNames.length);
  const { stdout } = await cli.run(["jobs", "list"]);
  const lines = stdout.split("\n");
  expect(lines.slice(1, jobNames.length + 1).map((line) => line.split("\t")[0])).toEqual([...jobNames]);
  const now = new Date(clock.now()).toISOString();
  expect(
    lines
      .find((line) => line.startsWith("sweep\t"))
      ?.split("\t")
      .slice(1, 3),
  ).toEqual(["30000", now]);
  expect(lines.slice(-3)).toEqual([
    "Emails: 0 waiting, 0 failed.",
    "Files to delete: 0 waiting, of which 0 have failed.",
    "",
  ]);
  const [first] = (await cli.run(["jobs", "list", "--json"])).stdout.split("\n");
  expect(JSON.parse(first ?? "")).toMatchObject({ name: jobNames[0], failure: null });
  expect(await cli.run(["jobs", "run", "claim", "retries"])).toEqual({
    exitCode: 0,
    stdout: "A running server starts the job claim retries within a second.\n",
    stderr: "",
  });
  const query = "SELECT admin_email, subject FROM admin_audit_entries WHERE action = 'ran_job'";
  expect(await readRows(server.app.domain.db, query)).toEqual([{ admin_email: "shell", subject: "claim retries" }]);
});

it("jobs retry-emails and retry-deletions say how many are due now", async () => {
  const { cli } = await makeData();
  const key = "a".repeat(32);
  await withDatabaseOf(cli.dataDir, async (db) => {
    await changeRows(db, `INSERT INTO blob_deletions (blob_key, due_at, attempts) VALUES ('${key}', 9999999999999, 1)`);
  });
  expect((await cli.run(["jobs", "retry-emails"])).stdout).toBe("0 failed emails are due now.\n");
  expect((await cli.run(["jobs", "retry-deletions"])).stdout).toBe("1 failed deletions are due now.\n");
  expect((await cli.run(["jobs", "list"])).stdout).toContain("No server is running, so no job is.\n");
});
