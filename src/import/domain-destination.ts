import { createUserAdoption, type UserAdoption } from "../accounts/admin/adopt-user.ts";
import { diskSpaceOf } from "../blobs/disk.ts";
import { argon2LimitsForImports, createArgon2Queue } from "../crypto/passphrase.ts";
import { keyedHash } from "../crypto/sodium.ts";
import { type Database, nothingElse } from "../database/database.ts";
import { createIds } from "../database/ids.ts";
import type { Domain, Effects } from "../domain.ts";
import { createInMemoryLimits } from "../limits/in-memory-limits.ts";
import { adoptPush, type PushImportDeps } from "../pushes/create/adopt-push.ts";
import { createByteBudgets } from "../pushes/create/byte-budgets.ts";
import { createCapacity } from "../pushes/create/capacity.ts";
import { tombstoneMs } from "../pushes/present-push.ts";
import type { Destination, IncomingUser, PushOutcome, StyleOutcome, UserOutcome } from "./destination.ts";
import { isSameStyleSheet, styleSheetRefusal } from "./import-style-sheet.ts";
import { noRelated } from "./source-values.ts";
import { findActivity } from "./store/activity.ts";
import { type ImportedRow, ImportedRows } from "./store/imported-rows.ts";

/** The source has one style sheet, without an id. */
const styleSheetId = 0;
const runIdBytes = 8;
/** The label of the key for digests of identities. The access secret, unlike the index secret, can be replaced. */
export const digestKeyLabel = "imported rows";
const digestBytes = 16;

/** Nothing of the identities can be computed from it without the key. @param key which never changes. */
export function identitiesDigest(key: Buffer, identities: string): string {
  return keyedHash(key, digestBytes, "identities", identities).toString("base64url");
}

/** Imports into an open domain. @param source as `ImportSource.fingerprint`. */
export function createDomainDestination(
  domain: Domain,
  effects: Pick<Effects, "clock" | "random" | "monotonicMs">,
  source: string,
): Destination {
  const rows = new ImportedRows(domain.db.read, domain.vault.access, source);
  const { access } = domain.vault;
  const users = createUserAdoption({ ...domain, ...effects, access });
  const deps = pushDeps(domain, effects);
  const run = effects.random.bytes(runIdBytes).toString("hex");
  /** The first of them has recorded the snapshot. */
  const onImported = () => rows.setSnapshot(undefined);
  return {
    recordedSnapshot: () => rows.readSnapshot(),
    identitiesDigest: (identities) => identitiesDigest(domain.vault.indexKey(digestKeyLabel), identities),
    setSnapshot: (snapshot) => rows.setSnapshot(snapshot),
    activitySince: (time) => findActivity(domain.db.read, time),
    importedRows: (kind) => rows.all(kind),
    async importUser(incoming, merge) {
      const outcome = await importUser(domain.db, users, rows, { run, incoming, merge });
      if (outcome.outcome === "imported") onImported();
      return outcome;
    },
    async importPush({ push, ...record }): Promise<PushOutcome> {
      const { sourceId } = record;
      const adoption = await adoptPush(deps, push, (tx, id) => rows.record(tx, "push", { ...record, id, run }));
      if (adoption.outcome === "link_taken") return adoption;
      if (adoption.outcome === "known") return { outcome: "imported_before", imported: await getPush(rows, sourceId) };
      onImported();
      return { outcome: "imported", pushId: adoption.pushId, fileBytes: adoption.fileBytes };
    },
    importStyleSheet: (css) => importStyleSheet(domain, rows, css, run),
    deletedAt({ ownerId, endedAt }) {
      const keptMs = ownerId === null ? tombstoneMs : domain.config.purgeAfterMs;
      return keptMs === undefined ? undefined : endedAt + keptMs;
    },
    async countStored() {
      const [recorded, recordedByThisRun] = await Promise.all([rows.counts(), rows.counts(run)]);
      return { recorded, recordedByThisRun, present: await rows.countPresent(run) };
    },
  };
}

function pushDeps(domain: Domain, effects: Pick<Effects, "clock" | "random" | "monotonicMs">): PushImportDeps {
  const { config, db } = domain;
  return {
    ...domain,
    ...effects,
    ids: createIds(db, "pushes"),
    linkDeliveryIds: createIds(db, "link_deliveries"),
    argon2: createArgon2Queue(argon2LimitsForImports),
    // The limits on pushes without an owner apply to new pushes only.
    capacity: createCapacity({
      config: { ...config, anonymousBytesMax: Number.POSITIVE_INFINITY, anonymousReserveBytes: 0 },
      monotonicMs: effects.monotonicMs,
      diskSpace: diskSpaceOf(config.dataDir),
      anonymousBytes: async () => 0,
    }),
    byteBudgets: createByteBudgets({
      limits: createInMemoryLimits(),
      config: { bytesPerDay: { client: 0, account: 0 } },
    }),
  };
}

async function importUser(
  db: Pick<Database, "untilKnown">,
  users: UserAdoption,
  rows: ImportedRows,
  { run, incoming, merge }: { readonly run: string; readonly incoming: IncomingUser; readonly merge: boolean },
): Promise<UserOutcome> {
  const { user, ...record } = incoming;
  const { sourceId, missingParts } = record;
  const value = await db.untilKnown(() =>
    users.adopt(user, merge, async (tx, id, { merged, tokenTaken }) => {
      // An existing account gets only the API token.
      const own = merged ? missingParts.filter((part) => part === "api_token") : missingParts;
      const all = tokenTaken ? [...own, "api_token" as const] : own;
      const recorded = { ...record, id, run, missingParts: all, related: noRelated };
      return (await rows.record(tx, "user", recorded)) === "recorded";
    }),
  );
  if (value.outcome === "adopted") return { ...value, outcome: "imported" };
  const imported = await rows.find("user", sourceId);
  // The account with the same email may be this user, imported by a concurrent run or by an earlier attempt of this write.
  if (imported === undefined && value.outcome === "email_taken") return value;
  if (imported === undefined) throw new Error("An imported user is not recorded.");
  if (imported.run !== run) return { outcome: "imported_before", imported };
  return {
    outcome: "imported",
    userId: imported.id,
    merged: missingParts.some((part) => !imported.missingParts.includes(part)),
    tokenTaken: imported.missingParts.includes("api_token") && !missingParts.includes("api_token"),
  };
}

async function getPush(rows: ImportedRows, sourceId: number): Promise<ImportedRow> {
  const push = await rows.find("push", sourceId);
  if (push === undefined) throw new Error("An imported push is not recorded.");
  return push;
}

/** A style sheet of this server's own stays. */
async function importStyleSheet(
  { branding, db }: Pick<Domain, "branding" | "db">,
  rows: ImportedRows,
  css: string,
  run: string,
): Promise<StyleOutcome> {
  if ((await rows.find("style", styleSheetId)) !== undefined) return { outcome: "imported_before" };
  const served = branding.theme().style?.content;
  if (served !== undefined && !(await isSameStyleSheet(css, served))) return { outcome: "other_style" };
  const problem = await branding.setStyle(css, nothingElse);
  if (problem !== undefined) return { outcome: "refused", reason: styleSheetRefusal(problem) };
  const record = { sourceId: styleSheetId, id: styleSheetId, run, missingParts: [], related: noRelated };
  const recorded = await db.write((tx) => rows.record(tx, "style", record));
  return { outcome: recorded === "recorded" ? "imported" : "imported_before" };
}
