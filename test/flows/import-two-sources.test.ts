import { expect, test } from "vitest";
import { makeImportTarget, problemsOf, withReport } from "../support/password-pusher/import-run.ts";
import { changeDatabase, installDefaultKey, installProduction } from "../support/password-pusher/installations.ts";
import { addLeaver, changeSource, leaver, newToken } from "../support/password-pusher/source-changes.ts";

const complete = (run: (statement: string) => Promise<void>) => run("DELETE FROM pushes WHERE id = 103");

test("an API token that belongs to another account here is reported by each run, and imported once it is free", async () => {
  const target = makeImportTarget();
  const [installation, second] = [installProduction(), installDefaultKey()];
  await changeSource(installation, complete);
  changeDatabase(second.databasePath, (connection) =>
    connection.prepare("UPDATE users SET authentication_token = ?").run(newToken),
  );
  expect((await target.run(second)).exitCode).toBe(0);
  expect((await target.run(installation)).exitCode).toBe(0);
  await changeSource(installation, (run) =>
    run("UPDATE users SET authentication_token = ?, updated_at = '2026-11-20 12:30:00' WHERE id = 1", newToken),
  );
  const report = withReport(target);
  for (let runs = 0; runs < 3; runs += 1) {
    const run = await target.run(installation, ...report.options);
    expect([run.exitCode, problemsOf(report)], run.stdout).toEqual([3, ["users 1 partly"]]);
    expect(report.text()).toContain("Its API token belongs to another account here and is not imported.");
  }

  changeDatabase(second.databasePath, (connection) =>
    connection.prepare("UPDATE users SET authentication_token = NULL, updated_at = '2026-11-20 12:30:00'").run(),
  );
  expect((await target.run(second)).exitCode).toBe(0);
  expect((await target.run(installation)).exitCode).toBe(0);
  const app = await target.serve();
  const headers = { "x-user-token": newToken };
  const active = await app.server.inject({ url: "/p/active.json", headers });
  const { accounts } = app.app.domain;
  const admin = await accounts.findUserByEmail("admin@example.com");
  expect([active.statusCode, (await accounts.listTokens(admin?.id ?? 0)).length]).toEqual([200, 1]);
  expect((await target.run(installation, ...report.options)).exitCode).toBe(0);
});

test("an account that has the pushes of a second source stays when the first source deletes its user", async () => {
  const target = makeImportTarget();
  const [installation, second] = [installProduction(), installDefaultKey()];
  await changeSource(installation, complete);
  await changeSource(installation, addLeaver);
  changeDatabase(second.databasePath, (connection) =>
    connection.prepare("UPDATE users SET email = ?").run(leaver.email),
  );
  expect((await target.run(installation)).exitCode).toBe(0);
  expect((await target.run(second, "--merge-users")).exitCode).toBe(0);
  const pushesOfLeaver = async () => {
    const app = await target.serve();
    const user = await app.app.domain.accounts.findUserByEmail(leaver.email);
    const { token } = await app.app.domain.accounts.createToken(user?.id ?? 0, "reader");
    const lists = ["active", "expired"].map((list) =>
      app.server.inject({ url: `/api/v2/pushes/${list}`, headers: { authorization: `Bearer ${token}` } }),
    );
    return (await Promise.all(lists)).flatMap((answer) => answer.json()).length;
  };
  const before = await pushesOfLeaver();
  expect(before).toBeGreaterThan(leaver.pushes.length);

  await changeSource(installation, async (run) => {
    for (const id of leaver.pushes) await run("DELETE FROM audit_logs WHERE push_id = ?", id);
    for (const id of leaver.pushes) await run("DELETE FROM pushes WHERE id = ?", id);
    await run("DELETE FROM users WHERE id = ?", leaver.id);
  });
  const report = withReport(target);
  const run = await target.run(installation, "--newest-deleted", ...report.options);
  expect(problemsOf(report), run.stdout + run.stderr).toEqual([`users ${leaver.id} partly`]);
  expect(await pushesOfLeaver()).toBe(before - leaver.pushes.length);
});
