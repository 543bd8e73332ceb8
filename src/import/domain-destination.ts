import { adoptUser } from "../accounts/admin/adopt-user.ts";
import { diskSpaceOf } from "../blobs/disk.ts";
import { argon2LimitsForImports, createArgon2Queue } from "../crypto/passphrase.ts";
import { nothingElse } from "../database/database.ts";
import { createIds } from "../database/ids.ts";
import type { Domain, Effects } from "../domain.ts";
import { createInMemoryLimits } from "../limits/in-memory-limits.ts";
import { adoptPush, type PushImportDeps } from "../pushes/create/adopt-push.ts";
import { createByteBudgets } from "../pushes/create/byte-budgets.ts";
import { createCapacity } from "../pushes/create/capacity.ts";
import { type Destination, identitiesKeyLabel, missingOf } from "./destination.ts";
import { noRelated } from "./source-values.ts";
import { type ImportedKind, type ImportedRow, ImportedRows, styleSheetId } from "./store/imported-rows.ts";

const runIdBytes = 8;

type ImportEffects = Pick<Effects, "clock" | "random" | "monotonicMs">;

/** Imports into an open domain. @param source as `ImportSource.fingerprint`. */
export function createDomainDestination(domain: Domain, effects: ImportEffects, source: string): Destination {
  const { db, keyring, vault, branding } = domain;
  const { access } = vault;
  const rows = new ImportedRows(db.read, access, source);
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
    identitiesKey: vault.indexKey(identitiesKeyLabel),
    async importUser(incoming, merge) {
      const { user, sourceId } = incoming;
      const outcome = await db.untilKnown(() =>
        adoptUser(adopting, user, merge, async (tx, id, details) => {
          const record = { sourceId, id, run, missingParts: missingOf(incoming, details), related: noRelated };
          return (await rows.record(tx, "user", record)) === "recorded";
        }),
      );
      // The account with the same email may be this user, imported by a concurrent run or by an earlier attempt of this write.
      if (outcome === "email_taken" && (await rows.find("user", sourceId)) === undefined) return { outcome };
      const imported = await getImported("user", sourceId);
      if (imported.run !== run) return { outcome: "imported_before", imported };
      onImported();
      return { outcome: "imported", imported };
    },
    async importPush({ push, ...record }) {
      const adoption = await adoptPush(deps, push, (tx, id) => rows.record(tx, "push", { ...record, id, run }));
      if (adoption.outcome === "imported") onImported();
      if (adoption.outcome !== "known") return adoption;
      return { outcome: "imported_before", imported: await getImported("push", record.sourceId) };
    },
    findStyleSheet: async () => branding.theme().style?.content,
    async importStyleSheet(css) {
      await branding.setStyle(css, nothingElse);
      const record = { sourceId: styleSheetId, id: styleSheetId, run, missingParts: [], related: noRelated };
      return (await db.write((tx) => rows.record(tx, "style", record))) === "recorded";
    },
  };
}

/** Limits apply to new pushes: the other installation has accepted these. */
function pushDeps(domain: Domain, effects: ImportEffects): PushImportDeps {
  const { db } = domain;
  const unbounded = { maxFileUploads: Number.MAX_SAFE_INTEGER, pushBytesMax: Number.MAX_SAFE_INTEGER };
  const config = {
    ...domain.config,
    files: { ...domain.config.files, ...unbounded },
    anonymousBytesMax: Number.POSITIVE_INFINITY,
    anonymousReserveBytes: 0,
    bytesPerDay: { client: 0, account: 0 },
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
    byteBudgets: createByteBudgets({ limits: createInMemoryLimits(), config }),
  };
}
