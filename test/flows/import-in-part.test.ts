import { readdirSync } from "node:fs";
import type { Database as Connection } from "better-sqlite3";
import { expect, test } from "vitest";
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

test("rows left out for missing keys are imported once the keys are given, and those imported in part stay so", async () => {
  const target = makeImportTarget();
  const { whole, inPart: incomplete } = installation();
  const report = withReport(target);
  expect((await target.run(incomplete, ...report.options)).exitCode).toBe(3);
  expect(inPart(report)).toEqual(partly);
  // Neither the old password nor a new one is enough to sign in without the second factor.
  expect(await signInTo(target, password)).toBeUndefined();
  const own = "another password of the user";
  const set = await target.cli.run(["user", "set-password", "--email", email, "--password-stdin"], { stdin: own });
  expect(set.exitCode, set.stderr).toBe(0);

  const sealed = leftOut.map((id) => `pushes ${id} left_out`);
  expect(problemsOf(report)).toEqual(expect.arrayContaining(sealed));
  for (const options of [["--dry-run"], [], []]) {
    expect((await target.run(whole, ...options, ...report.options)).exitCode).toBe(3);
    expect(problemsOf(report).sort()).toEqual([...partly, lostKey].sort());
    expect(report.read()).toMatchObject({ users: { brought: 0, known: 4 }, differences: [] });
  }
  expect(report.text()).toContain("An earlier run imported it without its two-step sign-in and its password.");
  expect(await signInTo(target, own)).toMatchObject({ waitsForFactor: false });
  expect(await signInTo(target, password)).toBeUndefined();

  const fresh = makeImportTarget();
  await fresh.run(whole);
  await expectEverything(fresh, production);
});

test("a user with an invalid creation time is reported", async () => {
  const target = makeImportTarget();
  const { whole } = installation();
  changeDatabase(whole.databasePath, (connection) => {
    connection.prepare("UPDATE users SET created_at = '2024-13-01 00:00:00' WHERE id = ?").run(alice);
  });
  const report = withReport(target);
  await target.run(whole, ...report.options);
  expect(inPart(report)).toEqual([`users ${alice} partly`]);
  expect(report.text()).toContain("Its time of creation (created_at) cannot be read");
});

test("audit entries that cannot be read are reported by each run", async () => {
  const target = makeImportTarget();
  const { whole } = installation();
  const ids = [pushTagged("text-passphrase-utf8"), pushTagged("qr-wifi")].map(({ id }) => id);
  changeDatabase(whole.databasePath, (connection) => {
    for (const id of ids) {
      connection.prepare("UPDATE audit_logs SET kind = 77 WHERE push_id = ? AND kind = 0").run(id);
    }
  });
  const report = withReport(target);
  await target.run(whole, ...report.options);
  const gaps = ids.map((id) => `pushes ${id} partly`).sort();
  expect(inPart(report)).toEqual(gaps);
  expect(report.text()).toMatch(/The audit entry \d+ is left out: its kind is not known\./);
  await target.run(whole, ...report.options);
  expect(inPart(report)).toEqual(gaps);
  expect(report.text()).toContain("An earlier run imported it without entries of its audit trail.");
});
