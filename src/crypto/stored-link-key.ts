import type { Random } from "../base/random.ts";
import { columnData, type SealedRow } from "./keyring.ts";
import type { LinkColumn } from "./sealed-column.ts";
import { aeadOverheadBytes, deriveKey, encodeParts, keyedHash, openAead, type Part, sealAead } from "./sodium.ts";

/** A value under the key of stored links: version 0x02 | key id 8 | nonce 24 | ciphertext | tag 16. The first two are part of the associated data. */
const version = 2;
const keyIdBytes = 8;
const headerBytes = 1 + keyIdBytes;
/** A key id is the start of a hash of this length. */
const idHashBytes = 16;

export type StoredLinkKey = ReturnType<typeof createStoredLinkKey>;

/** An object, so that no text is taken for "other_key". */
export interface OpenedLink {
  readonly link: string;
}

/** @param secret 32 bytes: the link secret of an account. Once it is overwritten, nothing that it sealed can be opened. */
export function createStoredLinkKey(secret: Buffer) {
  const key = deriveKey(secret, "stored links");
  const header = Buffer.concat([
    Uint8Array.of(version),
    keyedHash(secret, idHashBytes, "stored link key id").subarray(0, keyIdBytes),
  ]);
  const messageData = (context: readonly Part[]) => encodeParts("message", ...context);

  const sealValue = (data: Buffer, link: string, random: Random) =>
    Buffer.concat([header, sealAead(key, Buffer.concat([header, data]), Buffer.from(link, "utf8"), random)]);

  function openValue(data: Buffer, envelope: Uint8Array): OpenedLink | "other_key" | undefined {
    if (envelope.length < headerBytes + aeadOverheadBytes) return undefined;
    if (!header.equals(envelope.subarray(0, headerBytes))) return envelope[0] === version ? "other_key" : undefined;
    const opened = openAead(key, Buffer.concat([header, data]), envelope.subarray(headerBytes));
    return opened && { link: opened.toString("utf8") };
  }

  return {
    seal: (column: LinkColumn, row: SealedRow, link: string, random: Random) =>
      sealValue(columnData(column, row), link, random),
    /** "other_key": sealed under an earlier secret of the account. @returns undefined: it was changed, or belongs to another row. */
    open: (column: LinkColumn, row: SealedRow, envelope: Uint8Array) => openValue(columnData(column, row), envelope),
    /** The same for a link that is not stored in a column of its own. @param context must be the same to open. */
    sealMessage: (context: readonly Part[], link: string, random: Random) =>
      sealValue(messageData(context), link, random),
    openMessage: (context: readonly Part[], envelope: Uint8Array) => openValue(messageData(context), envelope),
  };
}
