import type { Random } from "../base/random.ts";
import type {
  JointPurpose,
  JointSeal,
  MessagePurpose,
  RotatedColumn,
  SealedColumn,
  SealPurpose,
} from "./sealed-column.ts";
import {
  aeadOverheadBytes,
  deriveKey,
  encodeParts,
  keyBytes,
  keyedHash,
  openAead,
  type Part,
  sealAead,
} from "./sodium.ts";

/** A sealed value: version 0x01 | key id 4 | nonce 24 | ciphertext | tag 16. The first two are part of the associated data. */
const version = 1;
const keyIdBytes = 4;
const headerBytes = 1 + keyIdBytes;
export const sealOverheadBytes = headerBytes + aeadOverheadBytes;
/** A key id is the start of a hash of this length. */
const idHashBytes = 16;

/** A published default key that everybody knows: it may open old data but never seal new data. */
const publishedKey = Buffer.from("749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f", "hex");

export type Keyring = Readonly<ReturnType<typeof createKeyring>>;

/** What a sealed value is bound to: it opens in no other row, and for no other owner. */
export interface SealedRow {
  readonly id: number | string | Uint8Array;
  /** null: anonymous, or no row of a user. */
  readonly ownerId: number | null;
}

/** For values of a column that are sealed under the key of their push, or of their account's links. @param extra binds the value to more than its row. */
export function columnData(
  { table, column }: SealedColumn,
  { id, ownerId }: SealedRow,
  ...extra: readonly Part[]
): Buffer {
  return encodeParts("column", table, column, id, ownerId, ...extra);
}

type Purpose = SealPurpose | JointPurpose | MessagePurpose;

class MasterKey {
  readonly header: Buffer;
  readonly id: string;
  readonly #master: Buffer;
  readonly #purposeKeys = new Map<Purpose, Buffer>();

  constructor(master: Buffer) {
    this.#master = master;
    this.header = Buffer.concat([
      Uint8Array.of(version),
      keyedHash(master, idHashBytes, "key id").subarray(0, keyIdBytes),
    ]);
    this.id = this.header.toString("hex", 1);
  }

  purposeKey(purpose: Purpose): Buffer {
    const known = this.#purposeKeys.get(purpose);
    if (known !== undefined) return known;
    const key = deriveKey(this.#master, "purpose", purpose);
    this.#purposeKeys.set(purpose, key);
    return key;
  }
}

function sealingKeys(masterKeys: readonly Buffer[], random: Random) {
  const keys = new Map<string, MasterKey>();
  for (const [at, master] of masterKeys.entries()) {
    if (master.length !== keyBytes) throw new Error(`Master key ${at + 1} is not ${keyBytes} bytes long.`);
    if (masterKeys.findIndex((other) => other.equals(master)) !== at) {
      throw new Error(`Master key ${at + 1} is given twice.`);
    }
    const key = new MasterKey(master);
    if (keys.has(key.id)) {
      throw new Error(`Master key ${at + 1} has the key id of another one: generate a new key.`);
    }
    keys.set(key.id, key);
  }
  const [first] = keys.values();
  if (first === undefined) throw new Error("There is no master key.");
  const active = first;
  const { header } = active;

  type KeyOf = (purposeKey: Buffer) => Buffer;
  const itself: KeyOf = (purposeKey) => purposeKey;
  const joinedWith =
    (secrets: readonly Part[]): KeyOf =>
    (purposeKey) =>
      deriveKey(purposeKey, "joint", ...secrets);

  function sealValue(purpose: Purpose, data: Buffer, plaintext: Uint8Array, keyOf = itself): Buffer {
    const sealed = sealAead(keyOf(active.purposeKey(purpose)), Buffer.concat([header, data]), plaintext, random);
    return Buffer.concat([header, sealed]);
  }

  function openValue(purpose: Purpose, data: Buffer, envelope: Uint8Array, keyOf = itself): Buffer | undefined {
    const id = envelopeKeyId(envelope);
    const key = id === undefined ? undefined : keys.get(id);
    if (key === undefined) return undefined;
    return openAead(keyOf(key.purposeKey(purpose)), Buffer.concat([key.header, data]), envelope.subarray(headerBytes));
  }

  const messageData = (context: readonly Part[]) => encodeParts("message", ...context);

  return { keys, active, joinedWith, messageData, sealValue, openValue };
}

type SealingKeys = ReturnType<typeof sealingKeys>;

function valueSeals({ keys, joinedWith, sealValue, openValue }: SealingKeys) {
  return {
    /** 8 hex digits each, the active one first. */
    ids: [...keys.keys()] as readonly string[],
    /** Seals under the active key. @returns the envelope, `sealOverheadBytes` longer than the plaintext. */
    seal: (column: RotatedColumn, row: SealedRow, plaintext: Uint8Array): Buffer =>
      sealValue(column.seal.purpose, columnData(column, row), plaintext),
    /** @returns undefined when the envelope belongs to another row, was changed, or its key is not in the ring. */
    open: (column: RotatedColumn, row: SealedRow, envelope: Uint8Array): Buffer | undefined =>
      openValue(column.seal.purpose, columnData(column, row), envelope),
    /** Seals under the active key and a client's secrets together: neither opens the value alone. */
    sealJointly: (
      column: SealedColumn<JointSeal>,
      row: SealedRow,
      secrets: readonly Part[],
      plaintext: Uint8Array,
    ): Buffer => sealValue(column.seal.purpose, columnData(column, row), plaintext, joinedWith(secrets)),
    openJointly: (
      column: SealedColumn<JointSeal>,
      row: SealedRow,
      secrets: readonly Part[],
      envelope: Uint8Array,
    ): Buffer | undefined => openValue(column.seal.purpose, columnData(column, row), envelope, joinedWith(secrets)),
  };
}

function messageSeals({ keys, active, messageData, sealValue, openValue }: SealingKeys) {
  return {
    /** Seals a value that is given out instead of stored. @param context must be the same to open. */
    sealMessage: (purpose: MessagePurpose, context: readonly Part[], plaintext: Uint8Array): Buffer =>
      sealValue(purpose, messageData(context), plaintext),
    /** @returns undefined for another context, and for any other bytes. */
    openMessage: (purpose: MessagePurpose, context: readonly Part[], envelope: Uint8Array): Buffer | undefined =>
      openValue(purpose, messageData(context), envelope),
    sealedUnderActive: (envelope: Uint8Array) => envelopeKeyId(envelope) === active.id,
    /** @param keyId 8 hex digits. */
    has: (keyId: string) => keys.has(keyId),
  };
}

/**
 * @param masterKeys 32 bytes each, the active one first. They only derive keys: the id, which reveals nothing, and a key for
 * each purpose.
 * @throws Error when there is none, a length is wrong, a key is given twice, or two keys have the same id.
 */
export function createKeyring(masterKeys: readonly Buffer[], random: Random) {
  const shared = sealingKeys(masterKeys, random);
  return { ...valueSeals(shared), ...messageSeals(shared) };
}

/** @returns 8 hex digits, not verified; undefined when the bytes are not an envelope of this version. */
export function envelopeKeyId(envelope: Uint8Array): string | undefined {
  if (envelope.length < sealOverheadBytes || envelope[0] !== version) return undefined;
  return Buffer.from(envelope.subarray(1, headerBytes)).toString("hex");
}

function parseMasterKey(text: string, name: string): Buffer {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new Error(`${name} must be exactly 64 hex digits (32 bytes).`);
  return Buffer.from(text, "hex");
}

/**
 * @param active 64 hex digits in either case, surrounding whitespace is ignored; undefined or blank: not given.
 * @param previous the same, any number, separated by commas.
 * @returns the active key first; empty when none is given.
 * @throws Error that never repeats a value.
 */
export function parseMasterKeys(active: string | undefined, previous: string | undefined): Buffer[] {
  const activeText = active?.trim() ?? "";
  const previousTexts = (previous ?? "")
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  if (activeText === "") {
    if (previousTexts.length === 0) return [];
    throw new Error("Previous master keys are given, but no active master key.");
  }
  const activeKey = parseMasterKey(activeText, "The active master key");
  if (activeKey.equals(publishedKey)) {
    throw new Error(
      "The active master key is a published default that everybody knows. Make a new one and put it first; " +
        "the published one may stay among the previous keys.",
    );
  }
  return [activeKey, ...previousTexts.map((text, at) => parseMasterKey(text, `Previous master key ${at + 1}`))];
}
