import { readdirSync } from "node:fs";
import type { Database as Connection } from "better-sqlite3";
import { expect, test } from "vitest";
import { signedIn } from "../support/domain.ts";
import { readRows } from "../support/engine-database.ts";
import { expectEverything } from "../support/password-pusher/expect-everything.ts";
import { expected } from "../support/password-pusher/expected.ts";
import {
  type ImportTarget,
  lostKey,
  makeImportTarget,
  problemsOf,
  pushTagged,
  withReport,
} from "../support/password-pusher/import-run.ts";
import { changeDatabase, installProduction, keysOfFixture } from "../support/password-pusher/installations.ts";
import { sealedByLockbox } from "../support/password-pusher/seal.ts";

const { production } = expected;
const alice = 3;
const { PWPUSH_MASTER_KEY, SECRET_KEY_BASE } = keysOfFixture;
const [previousKey = ""] = keysOfFixture.PWPUSH_MASTER_KEY_PREVIOUS.split(",");
const client = { throttleKey: "192.0.2.1", address: "192.0.2.1", userAgent: "test" };

const byId = (id: number) => production.users.find((user) => user.id === id);
const { email = "", password = "" } = byId(alice) ?? {};
const recorded = production.pushes.filter(({ note, owner }) => note && owner !== null);
const mailed = [...new Set(production.notify_by_emails.map(({ push_id: id }) => id))];

/** Values whose rows can be imported without them are sealed under a previous key; all others keep the current key. */
function sealUnderPrevious(connection: Connection): void {
  const otp = byId(alice)?.otp?.secret ?? "";
  const otpPlace = { table: "users", column: "otp_secret_ciphertext" } as const;
  connection
    .prepare("UPDATE users SET otp_secret_ciphertext = ? WHERE id = ?")
    .run(sealedByLockbox(previousKey, otpPlace, otp), alice);
  const notePlace = { table: "pushes", column: "note_ciphertext" } as const;
  for (const { id, note } of recorded) {
    connection
      .prepare("UPDATE pushes SET note_ciphertext = ? WHERE id = ?")
      .run(sealedByLockbox(previousKey, notePlace, note ?? ""), id);
  }
  const mailPlace = { table: "notify_by_emails", column: "recipients_ciphertext" } as const;
  for (const { audit_log_id: id, recipients } of production.notify_by_emails) {
    connection
      .prepare("UPDATE notify_by_emails SET recipients_ciphertext = ? WHERE audit_log_id = ?")
      .run(sealedByLockbox(previousKey, mailPlace, recipients), id);
  }
}

function installation() {
  const whole = installProduction(sealUnderPrevious);
  return {
    whole,
    /** No previous keys are given. */
    inPart: { ...whole, environment: { PWPUSH_MASTER_KEY, SECRET_KEY_BASE } },
    /** No key is the right one. */
    wrong: { ...whole, environment: { PWPUSH_MASTER_KEY: "ab".repeat(32), SECRET_KEY_BASE } },
  };
}

const inPart = (report: ReturnType<typeof withReport>) =>
  [...new Set(problemsOf(report).filter((problem) => problem.endsWith(" partly")))].sort();

/** Pushes of the fixture whose payloads are encrypted under previous keys: they are left out completely. */
const leftOut = production.pushes.filter(({ tag }) => /^sealed-/.test(tag)).map(({ id }) => id);
const partly = [
  `users ${alice} partly`,
  ...[...new Set([...recorded.map(({ id }) => id), ...mailed])]
    .filter((id) => !leftOut.includes(id))
    .map((id) => `pushes ${id} partly`),
].sort();

async function signInTo(target: ImportTarget, withPassword: string) {
  const { accounts } = (await target.serve()).app.domain;
  return await accounts.signIn({ email, password: withPassword, client });
}

test("keys that decrypt nothing stop a run before the first write; a dry run lists all such rows", async () => {
  const target = makeImportTarget();
  const { wrong, whole } = installation();
  const report = withReport(target);
  const dry = await target.run(wrong, "--dry-run", ...report.options);
  expect(dry.exitCode).toBe(3);
  const open = production.pushes.filter((push) => !push.at_reference.expired && push.payload !== "");
  for (const { id } of open) expect(problemsOf(report)).toContain(`pushes ${id} left_out`);

  const stopped = await target.run(wrong);
  expect(stopped).toMatchObject({ exitCode: 2, stdout: "" });
  expect(stopped.stderr).toMatch(
    /^None of the \d+ encrypted values .* \((pushes|users) \d+, .*\), so nothing was written\. Check PWPUSH_MASTER_KEY and /,
  );
  expect(stopped.stderr.trim().split("\n")).toHaveLength(1);
  expect(readdirSync(target.cli.dataDir)).toEqual([]);

  expect((await target.run(whole, ...report.options)).exitCode).toBe(3);
  expect(problemsOf(report)).toEqual([lostKey]);
  await expectEverything(target, production);
});

test("rows left out for missing keys are imported completely once the keys are given", async () => {
  const target = makeImportTarget();
  const { whole, inPart: incomplete } = installation();
  const report = withReport(target);
  expect((await target.run(incomplete, ...report.options)).exitCode).toBe(3);
  expect(inPart(report)).toEqual(partly);
  // Neither the old password nor a new one is enough to sign in without the second factor.
  expect(await signInTo(target, password)).toBeUndefined();

  expect((await target.run(incomplete, ...report.options)).exitCode).toBe(3);
  expect(inPart(report)).toEqual(partly);
  expect(report.read()).toMatchObject({ updated: 0, differences: [] });
  expect((await target.run(whole, "--dry-run", ...report.options)).exitCode).toBe(3);
  expect(inPart(report)).toEqual([]);

  expect((await target.run(whole, ...report.options)).exitCode).toBe(3);
  expect(problemsOf(report)).toEqual([lostKey]);
  expect(report.read()).toMatchObject({ updated: partly.length, users: { brought: 0, known: 4 }, differences: [] });
  await expectEverything(target, production);

  await target.run(whole, ...report.options);
  expect(report.read()).toMatchObject({ updated: 0, differences: [] });
});

test("a user who has set a new password keeps it and gets no imported second factor", async () => {
  const target = makeImportTarget();
  const { whole, inPart: incomplete } = installation();
  const report = withReport(target);
  await target.run(incomplete);
  const own = "another password of the user";
  const set = await target.cli.run(["user", "set-password", "--email", email, "--password-stdin"], { stdin: own });
  expect(set.exitCode, set.stderr).toBe(0);
  await target.run(whole, ...report.options);
  expect(problemsOf(report)).toContain(`users ${alice} kept`);
  expect(await signInTo(target, own)).toMatchObject({ waitsForFactor: false });
  expect(await signInTo(target, password)).toBeUndefined();

  await target.run(whole, ...report.options);
  expect(problemsOf(report)).toEqual([lostKey]);
});

test("a note written here since is kept, and audit entries made here follow the imported ones", async () => {
  const target = makeImportTarget();
  const { whole, inPart: incomplete } = installation();
  await target.run(incomplete);
  const edited = recorded.find(({ at_reference: { expired } }) => !expired);
  const viewed = production.pushes.find(
    ({ id, at_reference: { expired }, has_passphrase: locked }) => mailed.includes(id) && !expired && !locked,
  );
  if (edited === undefined || viewed === undefined) throw new Error("The fixture has lost pushes.");
  const tokenOf = (owner: string | null) => production.users.find((user) => user.email === owner)?.api_token;
  const bearer = (owner: string | null) => ({ authorization: `Bearer ${tokenOf(owner)}` });
  const app = await target.serve();
  const { accounts, pushes } = app.app.domain;
  const owner = await accounts.findUserByEmail(edited.owner ?? "");
  if (owner === undefined) throw new Error("The owner was not imported.");
  const change = await pushes.edit(edited.url_token, { note: "written here" }, signedIn(owner.id));
  expect(change.outcome).toBe("edited");
  expect((await app.server.inject({ url: `/api/v2/pushes/${viewed.url_token}` })).statusCode).toBe(200);
  const report = withReport(target);
  await target.run(whole, ...report.options);
  expect(problemsOf(report)).toContain(`pushes ${edited.id} kept`);

  const trailOf = async () => {
    const url = `/api/v2/pushes/${viewed.url_token}/audit`;
    return (await app.server.inject({ url, headers: bearer(viewed.owner) })).json().logs;
  };
  const active = await app.server.inject({ url: "/api/v2/pushes/active", headers: bearer(edited.owner) });
  const notes: { url_token: string; note: string }[] = active.json();
  expect(notes.find(({ url_token: token }) => token === edited.url_token)?.note).toBe("written here");
  const logs: { kind: string; notify_by_email?: { recipients: string } }[] = await trailOf();
  expect(logs.at(-1)?.kind).toBe("view");
  expect(logs).toHaveLength(viewed.audit_total + 1);
  const told = logs.filter(({ kind }) => kind === "creation_email_send").map((entry) => entry.notify_by_email);
  const wanted = production.notify_by_emails.filter(({ push_id: id }) => id === viewed.id);
  expect(told.map((mail) => mail?.recipients).sort()).toEqual(wanted.map(({ recipients }) => recipients).sort());
});

test("audit entries name their user once that account has been imported", async () => {
  const target = makeImportTarget();
  const { whole } = installation();
  const someone = pushTagged("text-passphrase-utf8");
  const bob = production.users.find((user) => user.email === "bob@example.org");
  changeDatabase(whole.databasePath, (connection) => {
    connection
      .prepare("UPDATE audit_logs SET user_id = ? WHERE id = (SELECT max(id) FROM audit_logs WHERE push_id = ?)")
      .run(bob?.id, someone.id);
  });
  const create = ["user", "create", "--email", "bob@example.org", "--password-stdin"];
  await target.cli.run(create, { stdin: "another password" });
  const report = withReport(target);
  await target.run(whole, ...report.options);
  expect(problemsOf(report)).toContain(`pushes ${someone.id} partly`);
  await target.run(whole, "--merge-users", ...report.options);
  expect(problemsOf(report)).toEqual([lostKey]);
  const { domain } = (await target.serve()).app;
  const [acting] = await readRows<{ userId: number | null }>(
    domain.db,
    `SELECT user_id AS userId FROM audit_entries WHERE push_id =
       (SELECT id FROM imported_rows WHERE kind = 'push' AND source_id = ?) ORDER BY sequence DESC LIMIT 1`,
    someone.id,
  );
  expect(acting?.userId).toBe((await domain.accounts.findUserByEmail("bob@example.org"))?.id);
});

test("a gap in an imported trail is filled once the source is readable, before the entries that were made here", async () => {
  const target = makeImportTarget();
  const { whole } = installation();
  const ids = [pushTagged("text-passphrase-utf8"), pushTagged("qr-wifi")].map(({ id }) => id);
  const damage = (from: number, to: number) =>
    changeDatabase(whole.databasePath, (connection) => {
      for (const id of ids) {
        connection.prepare("UPDATE audit_logs SET kind = ? WHERE push_id = ? AND kind = ?").run(to, id, from);
      }
    });
  damage(0, 77);
  const report = withReport(target);
  await target.run(whole, ...report.options);
  const gaps = ids.map((id) => `pushes ${id} partly`).sort();
  expect(inPart(report)).toEqual(gaps);
  expect(report.text()).toMatch(/The audit entry \d+ is left out: its kind is not known\./);
  const app = await target.serve();
  const viewed = pushTagged("qr-wifi");
  expect((await app.server.inject({ url: `/api/v2/pushes/${viewed.url_token}` })).statusCode).toBe(200);

  damage(77, 0);
  await target.run(whole, ...report.options);
  expect(inPart(report)).toEqual([]);
  expect(problemsOf(report)).toContain(`pushes ${viewed.id} kept`);
  expect(report.read().differences).toEqual([]);
  const { url_token: urlToken, owner, audit_total: entries } = pushTagged("text-passphrase-utf8");
  const token = production.users.find((user) => user.email === owner)?.api_token;
  const { logs } = (
    await app.server.inject({
      url: `/api/v2/pushes/${urlToken}/audit`,
      headers: { authorization: `Bearer ${token}` },
    })
  ).json();
  expect(logs).toHaveLength(entries);
  const [last] = await readRows<{ kind: number; sequence: number }>(
    app.app.domain.db,
    `SELECT kind, sequence FROM audit_entries WHERE push_id =
       (SELECT id FROM imported_rows WHERE kind = 'push' AND source_id = ?) ORDER BY sequence DESC LIMIT 1`,
    viewed.id,
  );
  expect(last).toEqual({ kind: 1, sequence: viewed.audit_total + 1 });
});

test("a user with an invalid creation time is reported, and corrected once the source row is", async () => {
  const target = makeImportTarget();
  const { whole } = installation();
  const set = (createdAt: string) =>
    changeDatabase(whole.databasePath, (connection) => {
      connection.prepare("UPDATE users SET created_at = ? WHERE id = ?").run(createdAt, alice);
    });
  set("2024-13-01 00:00:00");
  const report = withReport(target);
  await target.run(whole, ...report.options);
  expect(inPart(report)).toEqual([`users ${alice} partly`]);
  expect(report.text()).toContain("Its time of creation (created_at) cannot be read");
  set("2024-12-01 00:00:00");
  await target.run(whole, ...report.options);
  expect(problemsOf(report)).toEqual([lostKey]);
  const user = await (await target.serve()).app.domain.accounts.findUserByEmail(email);
  expect(user?.createdAt).toBe(Date.UTC(2024, 11, 1));
});
