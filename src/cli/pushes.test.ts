import { expect, it } from "vitest";
import { makeCliUser, makeTestCli } from "../../test/support/cli.ts";
import { withDatabaseOf } from "../../test/support/database-of.ts";
import { openTestDomain, stranger } from "../../test/support/domain.ts";
import { readRows } from "../../test/support/engine-database.ts";

async function makeData() {
  const cli = makeTestCli();
  await makeCliUser(cli);
  const fixture = await openTestDomain({ dataDir: cli.dataDir });
  const { pushes } = fixture.domain;
  for (const address of ["192.0.2.1", "192.0.2.2", "198.51.100.1"]) {
    await pushes.create({ payload: "x".repeat(100) }, { ...stranger, address });
  }
  await fixture[Symbol.asyncDispose]();
  const live = async () => {
    const count = "SELECT count(*) AS count FROM pushes WHERE ended_at IS NULL";
    const [row] = await withDatabaseOf(cli.dataDir, (db) => readRows<{ count: number }>(db, count));
    return Number(row?.count);
  };
  return { cli, live };
}

const end = ["pushes", "end", "--from-network", "192.0.2.0/24"];

it("pushes end --dry-run counts, and ends nothing", async () => {
  const { cli, live } = await makeData();
  const run = await cli.run([...end, "--dry-run"]);
  expect(run).toEqual({ exitCode: 0, stdout: "2 pushes match, with 200 bytes.\n", stderr: "" });
  expect(await live()).toBe(3);
});

it("pushes end requires --yes", async () => {
  const { cli, live } = await makeData();
  expect(await cli.run(end)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--yes") });
  expect(await live()).toBe(3);
});

it("pushes end ends what matches every option, and is in the administrators' log", async () => {
  const { cli, live } = await makeData();
  const options = ["--older-than", "1 hour", "--larger-than", "50", "--anonymous", "--yes"];
  expect(await cli.run([...end, ...options])).toEqual({
    exitCode: 0,
    stdout: "2 pushes match, with 200 bytes.\n2 pushes have ended, with 200 bytes.\n",
    stderr: "",
  });
  expect(await live()).toBe(1);
  const query = "SELECT subject, admin_email FROM admin_audit_entries WHERE action = 'ended_pushes'";
  expect(await withDatabaseOf(cli.dataDir, (db) => readRows(db, query))).toEqual([
    { subject: "network=192.0.2.0/24 older-than=3600s larger-than=50B anonymous", admin_email: "shell" },
  ]);
});

it.each([
  [[], "Say which pushes: --from-network, --older-than, --larger-than, --anonymous or --owned.\n"],
  [["--from-network", "nowhere"], "--from-network must be an IP address or a CIDR network.\n"],
  [["--older-than", "soon"], "--older-than must be a time such as 2 hours or 30 days, up to 100 years.\n"],
  [["--anonymous", "--owned"], "Give either --anonymous or --owned.\n"],
])("pushes end refuses the options %j", async (options, stderr) => {
  const cli = makeTestCli();
  expect(await cli.run(["pushes", "end", ...options, "--yes"])).toEqual({ exitCode: 1, stdout: "", stderr });
});
