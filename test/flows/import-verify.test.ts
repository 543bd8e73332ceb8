import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type ImportTarget, makeImportTarget, pushTagged } from "../support/password-pusher/import-run.ts";
import {
  type Installation,
  installProduction,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../support/password-pusher/installations.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../support/password-pusher/mariadb.ts";
import {
  alice,
  carol,
  damage,
  failuresOf,
  findingsIn,
  lost,
  shareImport,
  verified,
} from "../support/password-pusher/verification.ts";
import { filesIn } from "../support/raw-files.ts";
import { storedIn } from "../support/stored.ts";

const imported = shareImport();

/** Opening SQLite makes an empty log. */
async function dataOf({ cli }: ImportTarget) {
  const data = new Map(await storedIn(cli.dataDir));
  expect(data.get("sealpush.sqlite3-wal") ?? Buffer.alloc(0)).toHaveLength(0);
  for (const name of ["sealpush.sqlite3-wal", "sealpush.sqlite3-shm"]) data.delete(name);
  return data;
}

async function expectWholeVerification(installation: Installation): Promise<void> {
  const target = makeImportTarget();
  const imported = await target.run(installation);
  expect(imported.exitCode, imported.stderr).toBe(3);
  const stored = async () => [await dataOf(target), filesIn(installation.folder)];
  const before = await stored();
  const { exitCode, stdout, stderr } = await target.verify(installation);
  expect(findingsIn(stdout), stderr).toEqual([lost]);
  expect(exitCode).toBe(3);
  // Nothing is written on either side: no view is counted, and no audit entry is added.
  expect(await stored()).toEqual(before);
  expect(stdout).toMatch(/users +4 +4 +0 +0 +0 +0\n/);
  expect(stdout).toMatch(/pushes +48 +32 +15 +0 +0 +1\n/);
  expect(stdout).toMatch(/Read 9 files with 5246905 bytes completely\./);
  expect(stdout).toContain("1 row failed, listed above. No view was counted.");
  expect(stderr).toContain("pushes: 48 of 48");
}

const whole = "a complete import is verified, and nothing is written";

describe.each([
  ["SQLite", async () => installProduction()],
  ["PostgreSQL", installProductionOnPostgres],
] as const)("an installation on %s", (_name, install) => {
  it(whole, async () => await expectWholeVerification(await install()));
});

describe.runIf(mariadbProgram !== undefined)("an installation on MariaDB", () => {
  let mariadb: Mariadb | undefined;
  beforeAll(async () => {
    mariadb = await startMariadb(mariadbProgram ?? "");
  });
  afterAll(() => mariadb?.[Symbol.asyncDispose]());

  it(whole, async () => {
    if (mariadb === undefined) throw new Error("MariaDB has not been started.");
    await expectWholeVerification(await installProductionOnMysql(mariadb));
  });
});

/** Each on a push of its own. */
const damagedPushes: readonly (readonly [tag: string, finding: string, statement: string])[] = [
  [
    "text-plain",
    "Its payload does not open: it was damaged, or one of its files is lost.",
    "UPDATE payloads SET sealed = (SELECT max(sealed) FROM payloads WHERE push_id <> $push) WHERE push_id = $push",
  ],
  ["text-edge-whitespace", "Its payload is missing.", "DELETE FROM payloads WHERE push_id = $push"],
  [
    "text-crlf-multiline",
    "Its key does not open with its link.",
    `UPDATE row_secrets SET sealed = (SELECT max(sealed) FROM row_secrets AS other WHERE other.id <> row_secrets.id)
     WHERE id = (SELECT row_secret_id FROM pushes WHERE id = $push)`,
  ],
  [
    "text-passphrase-utf8",
    "Its key does not open with its link.",
    "UPDATE pushes SET key_check = (SELECT max(key_check) FROM pushes WHERE id <> $push) WHERE id = $push",
  ],
  [
    "text-passphrase",
    "It has no passphrase here, unlike at the source.",
    "UPDATE pushes SET passphrase_salt = NULL WHERE id = $push",
  ],
  ["text-emoji-nfd", "It is not here any more.", "DELETE FROM pushes WHERE id = $push"],
  ["expired-by-owner", "It is not here any more.", "DELETE FROM pushes WHERE id = $push"],
  ["text-html-like", "It is here, but its link does not find it.", "DELETE FROM imported_links WHERE push_id = $push"],
  ["url-iri", "Its owner's lists cannot show its link.", "UPDATE pushes SET owner_check = NULL WHERE id = $push"],
  [
    "qr-emoji",
    "Its owner's lists cannot show its link.",
    `UPDATE pushes SET token_sealed = (
       SELECT max(token_sealed) FROM pushes AS other WHERE other.owner_id = pushes.owner_id AND other.id <> pushes.id
     ) WHERE id = $push`,
  ],
  [
    "url-long-query",
    "It does not belong to the account of its owner here.",
    "UPDATE pushes SET owner_id = NULL WHERE id = $push",
  ],
  [
    "text-token-dash",
    "It allows 6 more views here, and 5 at the source.",
    "UPDATE pushes SET expire_after_views = expire_after_views + 1 WHERE id = $push",
  ],
  ["url-plain", "It allows 5 more views here, and 3 at the source.", "UPDATE pushes SET views = 0 WHERE id = $push"],
  ["qr-wifi", "It expires at ", "UPDATE pushes SET expires_at = expires_at + 1 WHERE id = $push"],
  [
    "text-no-step-not-deletable",
    "Viewers may delete it here, unlike at the source.",
    "UPDATE pushes SET deletable_by_viewer = 1 WHERE id = $push",
  ],
  [
    "one-hour-left",
    "It has no retrieval step here, unlike at the source.",
    "UPDATE pushes SET retrieval_step = 0 WHERE id = $push",
  ],
  [
    "expired-by-viewer",
    "It has ended at the source and can still be opened here.",
    "UPDATE pushes SET ended_at = NULL, expires_at = 4000000000000 WHERE id = $push",
  ],
  [
    "file-three-unicode",
    "It has 2 files here, and 3 at the source.",
    "DELETE FROM files WHERE push_id = $push AND id = (SELECT max(id) FROM files WHERE push_id = $push)",
  ],
  [
    "file-in-db-folder",
    "File 1 of 1 (…) does not open.",
    "UPDATE files SET key_sealed = (SELECT max(key_sealed) FROM files WHERE push_id <> $push) WHERE push_id = $push",
  ],
  [
    "file-one",
    "File 1 of 1 (…) has a name that does not open.",
    "UPDATE files SET details_sealed = (SELECT max(details_sealed) FROM files WHERE push_id <> $push) WHERE push_id = $push",
  ],
  [
    "qr-1024",
    "It was not imported. Run the import again: it says why.",
    "DELETE FROM imported_rows WHERE kind = 'push' AND id = $push",
  ],
];

test("damage of each kind to a push here is found", async () => {
  const { target, installation } = await imported();
  for (const [tag, , statement] of damagedPushes) await damage(target, statement, pushTagged(tag).id);
  const { exitCode, findings } = await verified(target, installation);
  expect(exitCode).toBe(3);
  for (const [tag, finding] of damagedPushes) {
    const found = failuresOf(findings, "push", pushTagged(tag).id).map((line) =>
      line.replace(/\([0-9a-f]{32}\)/, "(…)"),
    );
    expect([tag, found]).toEqual([tag, expect.arrayContaining([expect.stringContaining(finding)])]);
  }
  const damaged = new Set(damagedPushes.map(([tag]) => `push ${pushTagged(tag).id}`));
  const others = findings.filter((line) => !damaged.has(line.replace(/ \(.*$/, "")));
  expect(others).toEqual([]);
});

test.each([
  [
    "is gone",
    "DELETE FROM users WHERE id = $user",
    carol,
    "Its account is not here any more: it was deleted, or is lost.",
  ],
  [
    "was changed",
    "UPDATE users SET admin = 1 WHERE id = $user",
    carol,
    "Its account was changed in the database of this server, so nobody can sign in to it.",
  ],
  [
    "lost its password",
    "UPDATE users SET password_sealed = NULL WHERE id = $user",
    carol,
    "Its password does not open here.",
  ],
  [
    "lost its second factor",
    "DELETE FROM totp_factors WHERE user_id = $user",
    alice,
    "One of its second steps is lost here.",
  ],
  [
    "has another sealed second factor",
    "UPDATE totp_factors SET secret_sealed = (SELECT password_sealed FROM users WHERE id = $user) WHERE user_id = $user",
    alice,
    "Its authenticator app does not open here.",
  ],
  ["lost its API token", "DELETE FROM api_tokens WHERE user_id = $user", alice, "Its API token is not here."],
  [
    "has an API token that was changed",
    "UPDATE api_tokens SET scopes = 'read' WHERE user_id = $user",
    alice,
    "Its API token was changed in the database of this server.",
  ],
])("an account here that %s is found", async (_what, statement, id, finding) => {
  const { target, installation } = await imported();
  await damage(target, statement, id);
  const { exitCode, findings } = await verified(target, installation);
  expect([exitCode, findings]).toEqual([3, [`user ${id} (failed): ${finding}`]]);
});
