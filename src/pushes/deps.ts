import { type Clock, dayMs, hourMs, secondMs } from "../base/clock.ts";
import type { ClockTrust } from "../base/clock-trust.ts";
import type { Random } from "../base/random.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { Config } from "../config/config.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { Ids } from "../database/ids.ts";
import type { HashAttempts } from "../limits/hash-attempts.ts";
import type { Counter } from "../limits/limits.ts";
import type { Policies } from "../policies/policies.ts";
import type { Attempts } from "./claim/attempts.ts";
import type { FileOpener } from "./claim/stored-files.ts";
import type { ByteBudgets } from "./create/byte-budgets.ts";
import type { Capacity } from "./create/capacity.ts";
import type { LargePayloads } from "./create/large-payloads.ts";
import type { PushEmails } from "./notifications/push-emails.ts";
import type { Presets } from "./presets/presets.ts";
import type { PushStore } from "./store/push-store.ts";
import type { StoredLinkKeys } from "./stored-link-keys.ts";
import type { Vault } from "./vault.ts";

/** Dependencies of the operations on pushes. */
export interface PushDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly clockTrust: Pick<ClockTrust, "check">;
  readonly random: Random;
  readonly vault: Vault;
  readonly storedLinkKeys: StoredLinkKeys;
  readonly store: PushStore;
  readonly ids: Ids;
  readonly blobs: BlobStore;
  readonly openFiles: FileOpener;
  readonly argon2: Argon2Queue;
  readonly hashAttempts: HashAttempts;
  readonly attempts: Attempts;
  readonly capacity: Capacity;
  readonly byteBudgets: ByteBudgets;
  readonly largePayloads: LargePayloads;
  readonly policies: Pick<Policies, "of">;
  readonly presets: Pick<Presets, "of">;
  readonly emails: PushEmails;
  readonly linkDeliveryIds: Ids;
  /** Rate limit of the owners' requests to mail a link. */
  readonly linkDeliveryCounter: Counter;
}

export function ticketTtlMs(config: Config): number {
  return config.files.ticketTtlSeconds * secondMs;
}

/** A ticket that waits for the store expires at the latest this long after its own expiry, in ms. */
export const storeWaitMsMax = 7 * dayMs;

/** How long a download that began with a valid ticket may take. */
const finishDownloadMs = hourMs;

/** How long the blobs of a push outlive its limit: until its tickets expire and started downloads can finish. */
export function blobsGraceMs(config: Config): number {
  return ticketTtlMs(config) + finishDownloadMs;
}
