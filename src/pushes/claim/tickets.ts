import { AppError } from "../../base/errors.ts";
import { BlobStoreError } from "../../blobs/blob-store.ts";
import { digest } from "../../crypto/digests.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import { type PushDeps, storeWaitMsMax, ticketTtlMs } from "../deps.ts";
import { toPush } from "../present-push.ts";
import type { Actor, Download } from "../push.ts";
import { openFileDetails } from "../seals.ts";
import { fileRefusal, readStoredFile, type StoredFile, StoredFileError } from "./stored-files.ts";

/** What a retrieval issues for one file: it opens only that file, and only for a limited time. */
interface Ticket {
  readonly pushId: number;
  readonly fileId: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly fileKey: Buffer;
  /** Identifies the ticket in the database. It is computed from the decoded bytes, because one value has several base64url texts. */
  readonly digest: Buffer;
}

const numberBytes = 8;
const keyBytes = 32;
const ticketBytes = 3 * numberBytes + keyBytes;
const ticketShape = /^[A-Za-z0-9_-]{32,256}$/;

export function makeTicket(keyring: Keyring, ticket: Omit<Ticket, "digest">): string {
  const plain = Buffer.allocUnsafe(ticketBytes);
  plain.writeDoubleBE(ticket.pushId, 0);
  plain.writeDoubleBE(ticket.fileId, numberBytes);
  plain.writeDoubleBE(ticket.expiresAt, 2 * numberBytes);
  ticket.fileKey.copy(plain, 3 * numberBytes);
  return keyring.sealMessage("download tickets", [], plain).toString("base64url");
}

function readTicket(keyring: Keyring, text: string): Ticket | undefined {
  if (!ticketShape.test(text)) return undefined;
  const sealed = Buffer.from(text, "base64url");
  const plain = keyring.openMessage("download tickets", [], sealed);
  if (plain === undefined || plain.length !== ticketBytes) return undefined;
  return {
    pushId: plain.readDoubleBE(0),
    fileId: plain.readDoubleBE(numberBytes),
    expiresAt: plain.readDoubleBE(2 * numberBytes),
    fileKey: plain.subarray(3 * numberBytes),
    digest: digest(sealed.toString("base64url")),
  };
}

export function ticketOperations(deps: PushDeps) {
  return {
    /**
     * Undefined: the ticket is forged or expired, or the push was deleted. Each request checks the row: a person's deletion voids
     * the tickets of the push, a limit lets them run until they expire. A read is audited as a download before its first byte,
     * unless `start` > 0 and the same address has begun one with this push's tickets. "metadata": no byte is needed.
     */
    async openTicket(ticketText: string, actor: Actor, start: number | "metadata"): Promise<Download | undefined> {
      const now = deps.clock.now();
      const { keyring } = deps.vault;
      const ticket = readTicket(keyring, ticketText);
      if (ticket === undefined) return undefined;
      if (ticket.expiresAt <= now && !(await deps.store.extendedTickets.isValid(ticket.digest, now))) return undefined;
      const row = await deps.store.findById(ticket.pushId);
      if (row === undefined || toPush(row, "", now).deleted) return undefined;
      const file = (await deps.store.files(row.id)).find((candidate) => candidate.id === ticket.fileId);
      if (file === undefined) return undefined;
      const key = Buffer.from(ticket.fileKey);
      const details = openFileDetails(keyring, { ...file, ownerId: row.ownerId, key });
      if (details === undefined) return undefined;
      const since = ticket.expiresAt - ticketTtlMs(deps.config);
      const continues =
        start !== 0 && (start === "metadata" || (await deps.store.hasDownload(row.id, actor.address, since)));
      const begin = async () => {
        if (!continues) await deps.store.record(row.id, auditRecord("download", actor, deps.clock.now()));
      };
      const stored = { pushId: row.id, row: file, key };
      return {
        ...details,
        pushId: row.id,
        fileId: file.id,
        sizeBytes: file.sizeBytes,
        read: (range) => download(deps, ticket, stored, range, begin),
      };
    },
  };
}

/**
 * A ticket does not expire while the store cannot give the first byte of its file: the recipient may have spent
 * the last view for it. An unreachable store is temporary, so a retry may succeed. A file that the store has lost is gone.
 * @param begin called once the first byte is known, before it is returned.
 */
async function* download(
  deps: PushDeps,
  ticket: Ticket,
  file: StoredFile,
  range: { start: number; end: number },
  begin: () => Promise<void>,
): AsyncGenerator<Buffer, void, undefined> {
  let started = false;
  try {
    for await (const chunk of readStoredFile(deps.blobs, file, range)) {
      if (!started) await begin();
      started = true;
      yield chunk;
    }
    // An empty file.
    if (!started) await begin();
  } catch (error) {
    if (error instanceof BlobStoreError && !started) {
      const expiresAt = ticket.expiresAt + storeWaitMsMax;
      await deps.store.extendedTickets.extend(ticket.digest, file.row.blobKey, expiresAt);
    }
    if (error instanceof StoredFileError && error.problem === "missing") {
      throw new AppError("not_found", "not-found", { cause: error });
    }
    throw fileRefusal(error);
  }
}
