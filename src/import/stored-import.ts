import type { Config } from "../config/config.ts";
import type { AccessKeys } from "../crypto/access-keys.ts";
import type { Keyring } from "../crypto/keyring.ts";
import { argon2LimitsForImports, createArgon2Queue } from "../crypto/passphrase.ts";
import { createUrlTokens } from "../crypto/url-token.ts";
import type { ReadConnection } from "../database/database.ts";
import { type Effects, openBlobs } from "../domain.ts";
import { ownerChecks } from "../pushes/vault.ts";

/** This server's database and its keys. They offer no way to write. */
export interface StoredData {
  readonly read: ReadConnection;
  readonly keyring: Keyring;
  readonly access: AccessKeys;
  /** 32 bytes. */
  readonly indexSecret: Buffer;
}

export type StoredImport = Awaited<ReturnType<typeof openStoredImport>>;

/** What a verification reads of this server. */
export async function openStoredImport(
  config: Config,
  effects: Omit<Effects, "correctClock">,
  { indexSecret, ...data }: StoredData,
) {
  return {
    ...data,
    urlTokens: createUrlTokens(indexSecret),
    ownerCheckOf: ownerChecks(indexSecret),
    blobs: await openBlobs(config, { ...effects, isExpected: async () => true }),
    argon2: createArgon2Queue(argon2LimitsForImports),
    /** How long ended pushes of users are kept; undefined: for ever. */
    purgeAfterMs: config.purgeAfterMs,
  };
}

/** The result of comparing one row of the source with what was imported from it. */
export class Verdict {
  /** What is missing, does not open, or allows more than at the source. One sentence each, without secrets or names. */
  readonly failures: string[] = [];
  /** What people changed here, or at the source, since the import. */
  readonly changes: string[] = [];
  state: "open" | "ended" | "notNeeded" = "open";
  files = 0;
  fileBytes = 0;

  /** The row is not worth importing, or is kept no longer. */
  static notNeeded(): Verdict {
    const verdict = new Verdict();
    verdict.state = "notNeeded";
    return verdict;
  }

  fail(reason: string): this {
    this.failures.push(reason);
    return this;
  }

  change(reason: string): this {
    this.changes.push(reason);
    return this;
  }
}
