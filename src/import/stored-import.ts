import type { BlobStore } from "../blobs/blob-store.ts";
import type { AccessKeys } from "../crypto/access-keys.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { UrlTokens } from "../crypto/url-token.ts";
import type { ReadConnection } from "../database/database.ts";
import type { Vault } from "../pushes/vault.ts";

/** This server's data, for a verification. It offers no way to write. */
export interface StoredImport {
  readonly read: ReadConnection;
  readonly keyring: Keyring;
  readonly access: AccessKeys;
  readonly urlTokens: UrlTokens;
  /** See `ownerChecks`. */
  readonly ownerCheckOf: Vault["ownerCheckOf"];
  readonly blobs: Pick<BlobStore, "read">;
  readonly argon2: Pick<Argon2Queue, "deriveKey">;
  /** How long ended pushes of users are kept; undefined: for ever. */
  readonly purgeAfterMs: number | undefined;
}
