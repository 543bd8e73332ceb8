import type { Part, RelatedCounts } from "@sealpush/import-password-pusher";
import { type AdoptedUser, type AdoptionDetails, adoptUser } from "../accounts/admin/adopt-user.ts";
import { diskSpaceOf } from "../blobs/disk.ts";
import { argon2LimitsForImports, createArgon2Queue } from "../crypto/passphrase.ts";
import { nothingElse } from "../database/database.ts";
import { createIds } from "../database/ids.ts";
import type { Domain, Effects } from "../domain.ts";
import { adoptPush, type ImportedPush, type PushImportDeps } from "../pushes/create/adopt-push.ts";
import { SpentBytes } from "../pushes/create/byte-budgets.ts";
import { createCapacity } from "../pushes/create/capacity.ts";
import { noRelated } from "./source-values.ts";
import { createImportedRows, type ImportedKind, type ImportedRow, styleSheetId } from "./store/imported-rows.ts";

const runIdBytes = 8;

type ImportEffects = Pick<Effects, "clock" | "random" | "monotonicMs">;

interface IncomingUser {
  readonly sourceId: number;
  readonly user: AdoptedUser;
  readonly missingParts: readonly Part[];
}

export interface IncomingPush {
  readonly sourceId: number;
  readonly push: ImportedPush;
  readonly missingParts: readonly Part[];
  readonly related: RelatedCounts;
}

/** The destination of rows: the domain, or nothing in a dry run. */
export interface Destination extends Omit<ReturnType<typeof createDomainDestination>, "run"> {
  /** undefined: a dry run, which records nothing. */
  readonly run: string | undefined;
}

export const identitiesKeyLabel = "imported rows";

/** What is recorded as missing. An existing account gets only the API token. */
export function missingOf({ missingParts }: IncomingUser, { merged, tokenTaken }: AdoptionDetails): readonly Part[] {
  const own = merged ? missingParts.filter((part) => part === "api_token") : missingParts;
  return tokenTaken ? [...own, "api_token"] : own;
}

/** Imports into an open domain. @param source as `ImportSource.fingerprint`. */
export function createDomainDestination(domain: Domain, effects: ImportEffects, source: string) {
  const { db, keyring, vault, branding } = domain;
  const { access } = vault;
  const rows = createImportedRows(db.read, access, source);
  const adopting = { db, access, ...effects, keyring: () => keyring };
  const deps = pushDeps(domain, effects);
  const run = effects.random.bytes(runIdBytes).toString("hex");

  async function getImported(kind: ImportedKind, sourceId: number): Promise<ImportedRow> {
    const imported = await rows.find(kind, sourceId);
    if (imported === undefined) throw new Error(`An imported ${kind} is not recorded.`);
    return imported;
  }
  /** The first of them has recorded the snapshot. */
  const onImported = () => rows.setSnapshot(undefined);

  return {
    run,
    rows,
    /** For the digest of the source's identities. The access secret, unlike the index secret, can be replaced. */
    identitiesKey: vault.indexKey(identitiesKeyLabel),
    /**
     * @param merge whether an existing account with the same email is the same person.
     * @returns `imported_before`: by another run of the same source.
     */
    async importUser(incoming: IncomingUser, merge: boolean) {
      const { user, sourceId } = incoming;
      const outcome = await db.untilKnown(() =>
        adoptUser(adopting, user, merge, async (tx, id, details) => {
          const record = { sourceId, id, run, missingParts: missingOf(incoming, details), related: noRelated };
          return (await rows.record(tx, "user", record)) === "recorded";
        }),
      );
      // The account with the same email may be this user, imported by a concurrent run or by an earlier attempt of this write.
      if (outcome === "email_taken" && (await rows.find("user", sourceId)) === undefined) return { outcome } as const;
      const imported = await getImported("user", sourceId);
      if (imported.run !== run) return { outcome: "imported_before", imported } as const;
      onImported();
      return { outcome: "imported", imported } as const;
    },
    /** @throws the error of reading a file. */
    async importPush({ push, ...record }: IncomingPush) {
      const adoption = await adoptPush(deps, push, (tx, id) => rows.record(tx, "push", { ...record, id, run }));
      if (adoption.outcome === "imported") onImported();
      if (adoption.outcome !== "known") return adoption;
      return { outcome: "imported_before", imported: await getImported("push", record.sourceId) } as const;
    },
    findStyleSheet: async () => branding.theme().style?.content,
    /** @param css as `readStyleSheet` accepts it. @returns false: another run has imported it meanwhile. */
    async importStyleSheet(css: string) {
      await branding.setStyle(css, nothingElse);
      const record = { sourceId: styleSheetId, id: styleSheetId, run, missingParts: [], related: noRelated };
      return (await db.write((tx) => rows.record(tx, "style", record))) === "recorded";
    },
  };
}

/** Limits apply to new pushes: the other installation has accepted these. */
function pushDeps(domain: Domain, effects: ImportEffects): PushImportDeps {
  const { db } = domain;
  const config = {
    ...domain.config,
    files: { ...domain.config.files, maxFileUploads: Number.MAX_SAFE_INTEGER, pushBytesMax: Number.MAX_SAFE_INTEGER },
    anonymousBytesMax: Number.POSITIVE_INFINITY,
    anonymousReserveBytes: 0,
  };
  return {
    ...domain,
    ...effects,
    config,
    ids: createIds(db, "pushes"),
    linkDeliveryIds: createIds(db, "link_deliveries"),
    argon2: createArgon2Queue(argon2LimitsForImports),
    capacity: createCapacity({
      config,
      monotonicMs: effects.monotonicMs,
      diskSpace: diskSpaceOf(config.dataDir),
      anonymousBytes: async () => 0,
    }),
    byteBudgets: { begin: () => new SpentBytes(undefined) },
  };
}
