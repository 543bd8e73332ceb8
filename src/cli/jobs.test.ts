import { expect, it } from "vitest";
import { startTestApp } from "../../test/support/app.ts";
import { makeCliUser, makeTestCli } from "../../test/support/cli.ts";
import { withDatabaseOf } from "../../test/support/database-of.ts";
import { TestClock } from "../../test/support/domain.ts";
import { changeRows } from "../../test/support/engine-database.ts";
import { jobNames } from "../database/job-runs.ts";

async function makeData() {
  const clock = new TestClock();
  const cli = makeTestCli({ clock });
  await makeCliUser(cli);
  return { cli, clock };
}

it("jobs list shows each job of a running server", async () => {
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
