import type { BlobStore } from "../blobs/blob-store.ts";
import type { AccessKeys } from "../crypto/access-keys.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { UrlTokens } from "../crypto/url-token.ts";
import type { ReadConnection } from "../database/database.ts";
import type { Vault } from "../pushes/vault.ts";

/** This server's database and its keys. They offer no way to write. */
export interface StoredData {
  readonly read: ReadConnection;
  readonly keyring: Keyring;
  readonly access: AccessKeys;
  /** 32 bytes. */
  readonly indexSecret: Buffer;
}

/** What a verification reads of this server. */
export interface StoredImport extends Pick<StoredData, "read" | "keyring" | "access"> {
  readonly urlTokens: UrlTokens;
  /** See `ownerChecks`. */
  readonly ownerCheckOf: Vault["ownerCheckOf"];
  readonly blobs: Pick<BlobStore, "read">;
  readonly argon2: Pick<Argon2Queue, "deriveKey">;
  /** How long ended pushes of users are kept; undefined: for ever. */
  readonly purgeAfterMs: number | undefined;
}
