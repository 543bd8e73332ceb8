import { expect, it } from "vitest";
import { makeCliUser, makeTestCli } from "../../test/support/cli.ts";
import { withDatabaseOf } from "../../test/support/database-of.ts";
import { countEveryone, openTestDomain, stranger, TestClock } from "../../test/support/domain.ts";
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
  expect(run).toEqual({ exitCode: 0, stdout: "Matching pushes: 2, with 200 bytes.\n", stderr: "" });
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
    stdout: "Matching pushes: 2, with 200 bytes.\nEnded pushes: 2, with 200 bytes.\n",
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
  expect(await cli.run(["pushes", "end", ...options, "--yes"])).toEqual({ exitCode: 2, stdout: "", stderr });
});

/** One owned push, that was viewed once by a browser with a hostile name. */
async function makeOwned() {
  const clock = new TestClock();
  const cli = makeTestCli({ clock });
  await makeCliUser(cli);
  const fixture = await openTestDomain({ dataDir: cli.dataDir, clock });
  const { accounts, pushes } = fixture.domain;
  const user = await accounts.createUser({
    email: "owner@example.com",
    password: "a long enough password",
    admin: false,
  });
  const push = await pushes.create({ payload: "canary", name: "label" }, { ...stranger, user });
  await pushes.claimView(push.urlToken, countEveryone, {
    ...stranger,
    address: "192.0.2.9",
    userAgent: "evil\u001b[2J",
  });
  await fixture[Symbol.asyncDispose]();
  const query = "SELECT action, subject, admin_email FROM admin_audit_entries ORDER BY id DESC LIMIT 1";
  return { cli, push, latest: () => withDatabaseOf(cli.dataDir, (db) => readRows(db, query)) };
}

it("pushes audit prints the trail of one push, found by its link or its id, and is recorded", async () => {
  const { cli, push, latest } = await makeOwned();
  const { exitCode, stdout } = await cli.run(["pushes", "audit", "--link-stdin"], {
    stdin: `https://push.example/p/${push.urlToken}\n`,
  });
  expect(exitCode).toBe(0);
  const [header, view, creation, ...rest] = stdout.split("\n").map((line) => line.split("\t"));
  expect(header?.slice(1, 3)).toEqual(["kind", "by"]);
  expect(view?.slice(1, 6)).toEqual(["view", "holder", "1", "192.0.2.9", "evil\ufffd[2J"]);
  expect(creation?.slice(1, 3)).toEqual(["creation", "owner"]);
  expect([rest, stdout.includes("canary"), stdout.includes("label")]).toEqual([[[""]], false, false]);
  const [entry] = await latest();
  expect(entry).toMatchObject({ action: "read_trail", admin_email: "shell" });
  const id = String((entry as { subject: string }).subject);
  const json = await cli.run(["pushes", "audit", "--id", id, "--json"]);
  expect(JSON.parse(json.stdout.split("\n")[0] ?? "")).toMatchObject({ kind: "view", address: "192.0.2.9" });
});

it("pushes end and pushes delete act on one push", async () => {
  const { cli, push, latest } = await makeOwned();
  const stdin = push.urlToken;
  expect(await cli.run(["pushes", "end", "--link-stdin"], { stdin })).toMatchObject({ exitCode: 1 });
  const ended = await cli.run(["pushes", "end", "--link-stdin", "--yes"], { stdin });
  expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Push \d+ has ended\.\n$/) });
  expect(await latest()).toEqual([expect.objectContaining({ action: "ended_push", admin_email: "shell" })]);
  const again = await cli.run(["pushes", "end", "--link-stdin", "--yes"], { stdin });
  expect(again.stdout).toMatch(/^Push \d+ had ended before\.\n$/);
  expect(await cli.run(["pushes", "delete", "--link-stdin"], { stdin })).toMatchObject({ exitCode: 1 });
  const deleted = await cli.run(["pushes", "delete", "--link-stdin", "--yes"], { stdin });
  expect(deleted).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Push \d+ is deleted\.\n$/) });
  expect(await latest()).toEqual([expect.objectContaining({ action: "deleted_push", admin_email: "shell" })]);
  expect(await cli.run(["pushes", "audit", "--link-stdin"], { stdin })).toMatchObject({
    exitCode: 1,
    stderr: "No push has this link.\n",
  });
});

it.each([
  [["audit"], "Give either --id or --link-stdin.\n", 2],
  [["audit", "--id", "1", "--link-stdin"], "Give either --id or --link-stdin.\n", 2],
  [["audit", "--id", "x"], "--id must be the number of a push.\n", 2],
  [["audit", "--id", "99"], "There is no push with this id.\n", 1],
  [["delete", "--id", "99", "--yes"], "There is no push with this id.\n", 1],
  [["end", "--id", "99", "--yes"], "There is no push with this id.\n", 1],
  [["end", "--id", "99", "--anonymous", "--yes"], "Name one push, or say which pushes: not both.\n", 2],
])("pushes refuses %j", async (options, stderr, exitCode) => {
  const cli = makeTestCli();
  await makeCliUser(cli);
  expect(await cli.run(["pushes", ...options])).toEqual({ exitCode, stdout: "", stderr });
});
