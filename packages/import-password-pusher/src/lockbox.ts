import { createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { textOf } from "./cells.ts";
import type { SourceRecord } from "./store/source-rows.ts";

/** The key in the source's documentation. The source uses it if none is set. */
export const publishedDefaultKey = "749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f";

/** An encrypted column. Its name ends in `_ciphertext`. */
export interface LockboxColumn {
  readonly table: "pushes" | "users" | "notify_by_emails";
  readonly column: string;
}

export type Lockbox = ReturnType<typeof createLockbox>;

const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const infoPrefix = Buffer.alloc(32, 0xb4);
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
        const text = decoded(plaintext);
        return text === undefined ? undefined : { text, underDefaultKey: tried[index] === publishedDefaultKey };
      }
      return undefined;
    },
  };
}

/** Opens the encrypted cells of one row. */
export class SealedRow {
  /** Whether the published default key has opened one of them. */
  underDefaultKey = false;
  readonly #lockbox: Lockbox;
  readonly #table: LockboxColumn["table"];
  readonly #record: SourceRecord;

  constructor(lockbox: Lockbox, table: LockboxColumn["table"], record: SourceRecord) {
    this.#lockbox = lockbox;
    this.#table = table;
    this.#record = record;
  }

  /** NULL and "" are not encrypted. undefined: no key opens the value. */
  open(column: string): string | null | undefined {
    const sealed = textOf(this.#record[column]);
    if (sealed === null || sealed === "") return sealed;
    const opened = this.#lockbox.open({ table: this.#table, column }, sealed);
    if (opened?.underDefaultKey === true) this.underDefaultKey = true;
    return opened?.text;
  }
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

/** Keeps a byte order mark. @returns undefined if the bytes are not UTF-8. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
