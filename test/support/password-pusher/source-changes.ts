import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import SqliteDriver from "better-sqlite3";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { expected } from "./expected.ts";
import type { Installation } from "./installations.ts";
import { keysOfFixture } from "./installations.ts";
import { sealedByLockbox } from "./seal.ts";

type Value = string | number | null;
/** Runs a statement with `?` parameters on the source. */
type Run = (statement: string, ...parameters: readonly Value[]) => Promise<void>;

/** Changes the rows of a source, as the application does it. @param writerUrl of a source on MySQL. */
export async function changeSource(
  { database, databasePath, storageFolder }: Installation,
  change: (run: Run, storageFolder: string) => Promise<void>,
  writerUrl?: string,
): Promise<void> {
  if (writerUrl !== undefined) {
    const connection = await createConnection({ uri: writerUrl, charset: "utf8mb4" });
    const run: Run = async (statement, ...parameters) => {
      await connection.query(statement, [...parameters]);
    };
    return await change(run, storageFolder).finally(() => connection.end());
  }
  if (database.startsWith("postgres")) {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    const run: Run = async (statement, ...parameters) => {
      await client.query(
        statement
          .replaceAll("`", '"')
          .split("?")
          .reduce((before, after, number) => `${before}$${number}${after}`),
        [...parameters],
      );
    };
    return await change(run, storageFolder).finally(() => client.end());
  }
  const connection = new SqliteDriver(databasePath);
  connection.pragma("foreign_keys = OFF");
  const run: Run = async (statement, ...parameters) => {
    connection.prepare(statement).run(...parameters);
  };
  await change(run, storageFolder).finally(() => connection.close());
}

interface SourceChange {
  readonly name: string;
  readonly change: (run: Run, storageFolder: string) => Promise<void>;
}

let changedAt = Date.UTC(2026, 10, 20, 11, 30);
/** Each change has a time of its own. */
function at(): string {
  changedAt += 1_000;
  return new Date(changedAt).toISOString().slice(0, 19).replace("T", " ");
}
/** bcrypt of "another password 2026". */
const newPasswordHash = "$2a$10$gAUINurcRm2WCLTlYg8xweAsmkNxAsCraHIzZxVIJvH8aLP8Ev1bm";
const newPassphrase = "a passphrase of the source";
const newToken = "Zz9zYy8yXx7xWw6wVv5v";
const newSecret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";

const seal = (column: "payload_ciphertext" | "note_ciphertext" | "passphrase_ciphertext", text: string) =>
  sealedByLockbox(keysOfFixture.PWPUSH_MASTER_KEY, { table: "pushes", column }, text);

let lastId = 900_000;
const nextId = () => {
  lastId += 1;
  return lastId;
};

async function audit(run: Run, pushId: number, kind: number, userId: number | null = null): Promise<number> {
  const id = nextId();
  await run(
    "INSERT INTO audit_logs (id, created_at, updated_at, ip, kind, push_id, referrer, user_agent, user_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ...[id, at(), at(), "192.0.2.77", kind, pushId, "", "test", userId],
  );
  return id;
}

export const addView = (run: Run, pushId: number) => audit(run, pushId, 1);

const end = (run: Run, id: number) =>
  run(
    "UPDATE pushes SET expired = TRUE, expired_on = ?, updated_at = ?, payload_ciphertext = NULL, passphrase_ciphertext = NULL WHERE id = ?",
    at(),
    at(),
    id,
  );

const set = (run: Run, id: number, column: string, value: Value) =>
  run(`UPDATE pushes SET ${column} = ?, updated_at = ? WHERE id = ?`, value, at(), id);

const setUser = (run: Run, id: number, column: string, value: Value) =>
  run(`UPDATE users SET ${column} = ?, updated_at = ? WHERE id = ?`, value, at(), id);

async function insertPush(run: Run, id: number, urlToken: string, userId: number | null): Promise<void> {
  await run(
    `INSERT INTO pushes (id, created_at, updated_at, deletable_by_viewer, expire_after_days, expire_after_views, expired,
       kind, name, payload_ciphertext, retrieval_step, url_token, user_id)
     VALUES (?, ?, ?, TRUE, 7, 5, FALSE, 0, '', ?, FALSE, ?, ?)`,
    ...[id, at(), at(), seal("payload_ciphertext", `payload of ${urlToken}`), urlToken, userId],
  );
  await audit(run, id, 0, userId);
}

async function insertUser(run: Run, id: number, email: string): Promise<void> {
  await run(
    `INSERT INTO users (id, admin, created_at, updated_at, confirmed_at, email, encrypted_password, email_sent_count)
     VALUES (?, FALSE, ?, ?, ?, ?, ?, 0)`,
    ...[id, at(), at(), at(), email, newPasswordHash],
  );
}

const leaver = { id: 40, email: "leaver@example.com", pushes: [401, 402] } as const;
export const newcomer = { id: 50, email: "newcomer@example.com", push: 501 } as const;
/** Links of pushes that are not in the fixture, by id. */
const addedLinks: Readonly<Record<number, string>> = {
  401: "leaver-push-one",
  402: "leaver-push-two",
  500: "a-new-push-there",
  501: "push-of-newcomer",
};

/** A user who is deleted later. Added before the first run. */
export async function addLeaver(run: Run): Promise<void> {
  await insertUser(run, leaver.id, leaver.email);
  for (const id of leaver.pushes) await insertPush(run, id, addedLinks[id] ?? "", leaver.id);
}

/** What happens at a source between two runs, each to rows of its own. */
export const sourceChanges: readonly SourceChange[] = [
  { name: "a view", change: async (run) => void (await audit(run, 11, 1)) },
  { name: "the last view, not flagged yet", change: async (run) => void (await audit(run, 25, 1)) },
  { name: "a failed view", change: async (run) => void (await audit(run, 24, 2)) },
  {
    name: "spent and flagged",
    async change(run) {
      for (let views = 0; views < 4; views += 1) await audit(run, 28, 1);
      await end(run, 28);
    },
  },
  {
    name: "deleted by a viewer",
    async change(run) {
      await audit(run, 30, 3);
      await end(run, 30);
    },
  },
  {
    name: "deleted by its owner",
    async change(run) {
      await audit(run, 18, 3, 3);
      await end(run, 18);
    },
  },
  {
    name: "another payload",
    async change(run) {
      await audit(run, 21, 7, 4);
      await set(run, 21, "payload_ciphertext", seal("payload_ciphertext", "the new payload"));
    },
  },
  { name: "another name", change: (run) => set(run, 38, "name", "Renamed there") },
  {
    name: "another note",
    change: (run) => set(run, 49, "note_ciphertext", seal("note_ciphertext", "noted there")),
  },
  { name: "more days", change: (run) => set(run, 52, "expire_after_days", 20) },
  { name: "fewer views", change: (run) => set(run, 40, "expire_after_views", 12) },
  {
    name: "other options",
    change: (run) =>
      run("UPDATE pushes SET deletable_by_viewer = FALSE, retrieval_step = TRUE, updated_at = ? WHERE id = 113", at()),
  },
  {
    name: "an added file",
    async change(run, storageFolder) {
      const key = "abcdefghijklmnopqrstuvwxyz01";
      const content = "a file added there";
      mkdirSync(join(storageFolder, "ab/cd"), { recursive: true });
      writeFileSync(join(storageFolder, "ab/cd", key), content);
      const checksum = createHash("md5").update(content).digest("base64");
      const [blob, attachment] = [nextId(), nextId()];
      await run(
        "INSERT INTO active_storage_blobs (id, byte_size, checksum, content_type, created_at, filename, `key`, metadata, service_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ...[blob, content.length, checksum, "text/plain", at(), "added.txt", key, null, "local"],
      );
      await run(
        "INSERT INTO active_storage_attachments (id, blob_id, created_at, name, record_id, record_type) VALUES (?, ?, ?, ?, ?, ?)",
        ...[attachment, blob, at(), "files", 56, "Push"],
      );
    },
  },
  {
    name: "a removed file",
    change: (run) =>
      run("DELETE FROM active_storage_attachments WHERE record_type = 'Push' AND record_id = 57 AND id = 4"),
  },
  {
    name: "an added passphrase",
    change: (run) => set(run, 119, "passphrase_ciphertext", seal("passphrase_ciphertext", newPassphrase)),
  },
  {
    name: "another passphrase",
    change: (run) => set(run, 43, "passphrase_ciphertext", seal("passphrase_ciphertext", newPassphrase)),
  },
  { name: "a removed passphrase", change: (run) => set(run, 118, "passphrase_ciphertext", null) },
  { name: "a new push", change: (run) => insertPush(run, 500, addedLinks[500] ?? "", 3) },
  { name: "a view of the owner", change: async (run) => void (await audit(run, 115, 6, 3)) },
  { name: "a wrong passphrase", change: async (run) => void (await audit(run, 14, 4)) },
  {
    name: "an email with the link",
    async change(run) {
      const auditId = await audit(run, 99, 8, 4);
      const place = { table: "notify_by_emails", column: "recipients_ciphertext" } as const;
      await run(
        `INSERT INTO notify_by_emails (id, audit_log_id, created_at, updated_at, recipients_ciphertext, recipients_count, status)
         VALUES (?, ?, ?, ?, ?, 1, 2)`,
        ...[nextId(), auditId, at(), at(), sealedByLockbox(keysOfFixture.PWPUSH_MASTER_KEY, place, "x@example.com")],
      );
    },
  },
  { name: "the flag of a push whose days are over", change: (run) => end(run, 84) },
  {
    name: "a deleted push without an owner",
    async change(run) {
      await run("DELETE FROM audit_logs WHERE push_id = 36");
      await run("DELETE FROM pushes WHERE id = 36");
    },
  },
  {
    name: "another password",
    change: (run) => setUser(run, 1, "encrypted_password", newPasswordHash),
  },
  {
    name: "another API token",
    change: (run) => setUser(run, 1, "authentication_token", newToken),
  },
  {
    name: "another language",
    change: (run) => setUser(run, 1, "preferred_language", "de"),
  },
  {
    name: "a second factor",
    async change(run) {
      const place = { table: "users", column: "otp_secret_ciphertext" } as const;
      const sealed = sealedByLockbox(keysOfFixture.PWPUSH_MASTER_KEY, place, newSecret);
      await setUser(run, 4, "otp_secret_ciphertext", sealed);
      await run("UPDATE users SET otp_required_for_login = TRUE WHERE id = 4");
    },
  },
  {
    name: "no second factor any more",
    change: (run) => run("UPDATE users SET otp_required_for_login = FALSE, updated_at = ? WHERE id = 3", at()),
  },
  {
    name: "a used backup code",
    change: (run) => setUser(run, 3, "otp_backup_code_digests", "[]"),
  },
  {
    name: "administrator rights",
    change: (run) => run("UPDATE users SET admin = TRUE, updated_at = ? WHERE id = 4", at()),
  },
  { name: "a confirmed address", change: (run) => setUser(run, 4, "confirmed_at", at()) },
  {
    name: "a new user with a push",
    async change(run) {
      await insertUser(run, newcomer.id, newcomer.email);
      await insertPush(run, newcomer.push, addedLinks[newcomer.push] ?? "", newcomer.id);
    },
  },
  {
    name: "a deleted account with its pushes",
    async change(run) {
      for (const id of leaver.pushes) {
        await run("DELETE FROM audit_logs WHERE push_id = ?", id);
        await run("DELETE FROM pushes WHERE id = ?", id);
      }
      await run("DELETE FROM users WHERE id = ?", leaver.id);
    },
  },
];

export const linkOf = (id: number): string =>
  addedLinks[id] ?? expected.production.pushes.find((push) => push.id === id)?.url_token ?? "";
