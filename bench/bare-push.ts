import { randomFillSync } from "node:crypto";
import { dayMs } from "../src/base/clock.ts";
import type { LinkAddress } from "../src/crypto/url-token.ts";
import type { NewPush } from "../src/pushes/store/insert-push.ts";
import type { HotPath } from "../src/pushes/store/push-store.ts";
import { pushRow } from "../test/support/push-row.ts";
import type { RowShape } from "./database-job.ts";

/** The rows that the product would write, with random bytes instead of encrypted values of the same length. */

const checkBytes = 16;
/** Nothing is imported. */
const importedDigest = () => Buffer.alloc(32);
const keyCheckBytes = 32;
const claimIdBytes = 6;
const lifetimeMs = 7 * dayMs;
const audit = { userId: null, address: "127.0.0.1", userAgent: "", referrer: "" };

/** @returns the address that identifies the push. */
export async function createBarePush(hotPath: HotPath, id: number, shape: RowShape): Promise<LinkAddress> {
  const push = newPush(id, shape);
  await hotPath.insertPush(push, { ...audit, kind: "creation", at: push.row.createdAt });
  return bareAddress(id, push.row.linkCheck);
}

/** Reads a push and counts a view. */
export async function claimBarePush(hotPath: HotPath, link: LinkAddress): Promise<void> {
  const sealed = await hotPath.findSealed(link, () => undefined);
  if (sealed === undefined) throw new Error("A stored push was not found.");
  const now = Date.now();
  const claimed = await hotPath.writeView({
    claimId: randomBytes(claimIdBytes).readUIntBE(0, claimIdBytes),
    now,
    counted: true,
    notByOwner: true,
    asRead: sealed,
    isImported: false,
    lastViewAt: null,
    audit: { ...audit, kind: "view", at: now },
    blobsDueAt: now + dayMs,
    tickets: [],
    key: undefined,
  });
  if (claimed === undefined) throw new Error("A living push refused a view.");
}

export function bareAddress(pushId: number, check: Buffer): LinkAddress {
  return { pushId, check, importedDigest };
}

function newPush(id: number, shape: RowShape): NewPush {
  const now = Date.now();
  const row = pushRow({
    id,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + lifetimeMs,
    expireAfterViews: 1,
    keyCheck: randomBytes(keyCheckBytes),
    linkCheck: randomBytes(checkBytes),
  });
  return {
    row,
    rowSecretSealed: randomBytes(shape.rowSecretBytes),
    payloadSealed: randomBytes(shape.payloadBytes),
    files: [],
    storedBytes: shape.payloadBytes,
    key: undefined,
  };
}

function randomBytes(bytes: number): Buffer {
  return randomFillSync(Buffer.allocUnsafe(bytes));
}
