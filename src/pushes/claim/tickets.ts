import { AppError } from "../../base/errors.ts";
import { BlobStoreError } from "../../blobs/blob-store.ts";
import { keyedHash } from "../../crypto/sodium.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import { type PushDeps, storeWaitMsMax, ticketTtlMs } from "../deps.ts";
import type { Download } from "../push.ts";
import { openFileDetails } from "../seals.ts";
import { type PushRow, rowSecrets } from "../store/tables.ts";
import { fileRefusal, readStoredFile, StoredFileError } from "./stored-files.ts";

const ticketBytes = 32;
const digestBytes = 32;
const ticketShape = /^[A-Za-z0-9_-]{43}$/;

/** Finds the row of a ticket. A ticket is 32 random bytes, so nobody can guess it from its digest. */
function digestOf({ vault }: PushDeps, ticket: string): Buffer {
  return keyedHash(vault.indexKey("download tickets"), digestBytes, "digest", ticket);
}

/**
 * A ticket for one file. It contains no key: the file's key is stored for it, sealed under the ticket and a master key
 * together. So a ticket opens nothing once its row is gone.
 */
export async function makeTicket(
  deps: PushDeps,
  push: Pick<PushRow, "id" | "ownerId">,
  file: { readonly id: number; readonly key: Buffer },
  now: number,
) {
  const ticket = deps.random.bytes(ticketBytes).toString("base64url");
  const expiresAt = now + ticketTtlMs(deps.config);
  const row = { id: file.id, ownerId: push.ownerId };
  const stored = {
    digest: digestOf(deps, ticket),
    fileId: file.id,
    keySealed: deps.vault.keyring.sealJointly(rowSecrets.seals.downloadTicket, row, [ticket, push.id], file.key),
    keyId: await deps.ids.next(),
    expiresAt,
    latestExpiry: expiresAt + storeWaitMsMax,
  };
  return { ticket, stored };
}

export function ticketOperations(deps: PushDeps) {
  return {
    /**
     * Undefined: the ticket is forged or expired, or a person has deleted the push. After an end by a limit tickets are valid
     * until they expire. Each read is audited as a download before its first byte.
     */
    async openTicket(ticket: string, actor: Actor): Promise<Download | undefined> {
      if (!ticketShape.test(ticket)) return undefined;
      const digest = digestOf(deps, ticket);
      const found = await deps.store.downloadTickets.find(digest, deps.clock.now());
      if (found === undefined) return undefined;
      const { pushId, fileId, keySealed } = found;
      const row = await deps.store.findById(pushId);
      const file = (await deps.store.files(pushId)).find((candidate) => candidate.id === fileId);
      if (row === undefined || file === undefined) return undefined;
      const { keyring } = deps.vault;
      const { ownerId } = row;
      const key = keyring.openJointly(
        rowSecrets.seals.downloadTicket,
        { id: fileId, ownerId },
        [ticket, pushId],
        keySealed,
      );
      const details = key && openFileDetails(keyring, { ...file, ownerId, key });
      if (key === undefined || details === undefined) return undefined;
      const begin = () => deps.store.record(pushId, auditRecord("download", actor, deps.clock.now()));
      const { sizeBytes } = file;
      const stored = { pushId, row: file, key };
      return {
        ...details,
        pushId,
        fileId,
        sizeBytes,
        read: (range) => download(deps, digest, readStoredFile(deps.blobs, stored, range), begin),
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
  { store }: PushDeps,
  digest: Buffer,
  content: AsyncIterable<Buffer>,
  begin: () => Promise<void>,
): AsyncGenerator<Buffer, void, undefined> {
  let started = false;
  try {
    for await (const chunk of content) {
      if (!started) await begin();
      started = true;
      yield chunk;
    }
    // An empty file.
    if (!started) await begin();
  } catch (error) {
    if (error instanceof BlobStoreError && !started) await store.downloadTickets.wait(digest);
    if (error instanceof StoredFileError && error.problem === "missing") {
      throw new AppError("not_found", "not-found", { cause: error });
    }
    throw fileRefusal(error);
  }
}
