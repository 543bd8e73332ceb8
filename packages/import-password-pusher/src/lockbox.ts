import { isUtf8 } from "node:buffer";
import { createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { textOf } from "./cells.ts";
import { type Installation, type KeyTrial, type SecretName, SourceArgumentError } from "./source.ts";
import type { SourceQueries } from "./store/queries.ts";
import { unlessDamaged } from "./store/source-rows.ts";

/** The key in the source's documentation. The source uses it if none is set. */
export const publishedDefaultKey = "749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f";

/** An encrypted column. Its name ends in `_ciphertext`. */
export interface LockboxColumn {
  readonly table: "pushes" | "users" | "notify_by_emails";
  readonly column: string;
}

export type Lockbox = ReturnType<typeof createLockbox>;

/**
 * The master keys: 64 hex digits each, the current one first. Empty if none was ever set.
 * @throws SourceArgumentError with one sentence that repeats no key.
 */
export function sourceKeysOf(secret: Installation["secret"]): readonly string[] {
  const current = secret("PWPUSH_MASTER_KEY");
  const previous = (secret("PWPUSH_MASTER_KEY_PREVIOUS") ?? "").split(",").map((key) => key.trim());
  return [
    ...(current === undefined ? [] : [checkedKey(current, "PWPUSH_MASTER_KEY")]),
    ...previous.filter((key) => key !== "").map((key) => checkedKey(key, "PWPUSH_MASTER_KEY_PREVIOUS")),
  ];
}

function checkedKey(key: string, name: SecretName): string {
  if (/^[0-9a-f]{64}$/i.test(key)) return key;
  throw new SourceArgumentError(`${name} is not a key of Password Pusher, which has 64 hex digits.`);
}

const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const infoPrefix = Buffer.alloc(32, 0xb4);

/**
 * Opens values that the Ruby library Lockbox has sealed. Its format: base64 of nonce (12 bytes), AES-256-GCM ciphertext, tag (16). The key is HKDF-SHA384 of the master key,
 * salt: the table's name; info: 32 bytes of 0xB4 and the column's name.
 * @param masterKeys 64 hex digits each, in the order in which they are tried. The published default key is tried last. All are
 * tried for each value, because an edit after a key rotation seals only the values that it changes.
 */
export function createLockbox(masterKeys: readonly string[]) {
  const tried = [...new Set([...masterKeys.map((key) => key.toLowerCase()), publishedDefaultKey])];
  const keysByColumn = new Map<string, readonly KeyObject[]>();

  function keysFor({ table, column }: LockboxColumn): readonly KeyObject[] {
    const name = `${table}.${column}`;
    const known = keysByColumn.get(name);
    if (known !== undefined) return known;
    const keys = tried.map((masterKey) => createSecretKey(deriveColumnKey(masterKey, { table, column })));
    keysByColumn.set(name, keys);
    return keys;
  }

  return {
    /** @param value neither NULL nor empty: these are not sealed. @returns undefined: no key fits, or the plaintext is not UTF-8. */
    open(column: LockboxColumn, value: string) {
      const sealed = Buffer.from(value, "base64");
      if (sealed.length < nonceBytes + tagBytes) return undefined;
      for (const [index, key] of keysFor(column).entries()) {
        const plaintext = decrypt(key, sealed);
        if (plaintext === undefined) continue;
        const underDefaultKey = tried[index] === publishedDefaultKey;
        return isUtf8(plaintext) ? { text: plaintext.toString("utf8"), underDefaultKey } : undefined;
      }
      return undefined;
    },
  };
}

/** @param masterKey 64 hex digits. @returns 32 bytes. */
export function deriveColumnKey(masterKey: string, { table, column }: LockboxColumn): Buffer {
  const info = Buffer.concat([infoPrefix, Buffer.from(column, "utf8")]);
  return Buffer.from(hkdfSync("sha384", Buffer.from(masterKey, "hex"), Buffer.from(table, "utf8"), info, keyBytes));
}

/** @returns undefined when the tag does not match. */
function decrypt(key: KeyObject, sealed: Buffer): Buffer | undefined {
  const tagStart = sealed.length - tagBytes;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, nonceBytes));
  decipher.setAuthTag(sealed.subarray(tagStart));
  const plaintext = decipher.update(sealed.subarray(nonceBytes, tagStart));
  try {
    decipher.final();
  } catch {
    // The only error that final throws is a wrong tag: the expected result of a wrong key.
    return undefined;
  }
  return plaintext;
}

/**
 * The number of newest and of oldest values of each column. If earlier keys are unknown, only the newest may open.
 */
const valuesEach = 4;
const examplesMax = 5;

const columns: readonly LockboxColumn[] = [
  { table: "pushes", column: "payload_ciphertext" },
  { table: "pushes", column: "note_ciphertext" },
  { table: "pushes", column: "passphrase_ciphertext" },
  { table: "users", column: "otp_secret_ciphertext" },
  { table: "notify_by_emails", column: "recipients_ciphertext" },
  { table: "notify_by_emails", column: "locale_ciphertext" },
];

/** Tries at most 48 values. */
export async function tryKeys(queries: SourceQueries, lockbox: Lockbox): Promise<KeyTrial> {
  const unopened = new Set<string>();
  let [tried, opened] = [0, 0];
  for (const column of columns) {
    const read = async () => [
      ...(await queries.sealedValues(column.table, column.column, "DESC", valuesEach)),
      ...(await queries.sealedValues(column.table, column.column, "ASC", valuesEach)),
    ];
    const sample = await unlessDamaged(read(), () => []);
    for (const [id, value] of new Map(sample.map((record) => [textOf(record.id), textOf(record.value)]))) {
      tried += 1;
      if (lockbox.open(column, value ?? "") !== undefined) opened += 1;
      else unopened.add(`${column.table} ${id}`);
    }
  }
  return { tried, opened, examples: [...unopened].slice(0, examplesMax) };
}
