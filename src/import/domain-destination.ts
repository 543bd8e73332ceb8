import { createUserAdoption, type UserAdoption, type UserCompletion } from "../accounts/admin/adopt-user.ts";
import { diskSpaceOf } from "../blobs/disk.ts";
import { createArgon2Queue } from "../crypto/passphrase.ts";
import { type Database, nothingElse } from "../database/database.ts";
import { createIds } from "../database/ids.ts";
import type { Domain, Effects } from "../domain.ts";
import { createInMemoryLimits } from "../limits/in-memory-limits.ts";
import { createByteBudgets } from "../pushes/create/byte-budgets.ts";
import { createCapacity } from "../pushes/create/capacity.ts";
import {
  completeImportedPush,
  importPush,
  type PushCompletion,
  type PushImportDeps,
} from "../pushes/create/import-push.ts";
import { tombstoneMs } from "../pushes/present-push.ts";
import type {
  ChangedMeanwhile,
  Destination,
  IncomingPush,
  IncomingUser,
  PartsOutcome,
  PushOutcome,
  StyleOutcome,
  UserOutcome,
} from "./destination.ts";
import { isSameStyleSheet, styleSheetRefusal } from "./import-style-sheet.ts";
import { type Part, userPartsOf } from "./missing-parts.ts";
import { noRelated } from "./source.ts";
import {
  createImportedRows,
  type ImportedRow,
  type ImportedRows,
  type ImportedUser,
  RecordChangedError,
} from "./store/imported-rows.ts";

/** Each concurrent task of an import waits for at most one key derivation. */
const argon2Limits = { runningMax: 2, waitingMax: 64, waitingPerClientMax: 64 };
/** The source has one style sheet, without an id. */
const styleSheetId = 0;
const runIdBytes = 8;

/** Imports into an open domain. @param source as `ImportSource.fingerprint`. */
export function createDomainDestination(
  domain: Domain,
  effects: Pick<Effects, "clock" | "random" | "monotonicMs">,
  source: string,
): Destination {
  const rows = createImportedRows(domain.db.read, domain.vault.access, source);
  const users = createUserAdoption({ ...domain, ...effects, access: domain.vault.access });
  const deps = pushDeps(domain, effects);
  const run = effects.random.bytes(runIdBytes).toString("hex");
  return {
    importedUsers: () => rows.readUsers(),
    pushFinder: () => rows.pushFinder(),
    importUser: (incoming, merge) => importUser(domain.db, users, rows, { run, incoming, merge }),
    async importPush({ sourceId, push, missingParts, related }): Promise<PushOutcome> {
      const adoption = await importPush(deps, push, (tx, id) =>
        rows.record(tx, "push", { sourceId, id, run, missingParts, related }),
      );
      if (adoption.outcome === "link_taken") return adoption;
      if (adoption.outcome === "known") return { outcome: "imported_before", imported: await getPush(rows, sourceId) };
      return { outcome: "imported", pushId: adoption.pushId, fileBytes: adoption.fileBytes };
    },
    addMissingUserParts: (imported, incoming) =>
      addMissingUserParts(users, rows, imported, incoming).catch(
        orChangedMeanwhile(() => getUser(rows, imported.sourceId)),
      ),
    addMissingPushParts: (imported, incoming) =>
      addMissingPushParts(deps, rows, imported, incoming).catch(
        orChangedMeanwhile(() => getPush(rows, imported.sourceId)),
      ),
    importStyleSheet: (css) => importStyleSheet(domain, rows, { css, run }),
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

function pushDeps(
  { config, db, vault, store, blobs }: Domain,
  { clock, random, monotonicMs }: Pick<Effects, "clock" | "random" | "monotonicMs">,
): PushImportDeps {
  const diskSpace = diskSpaceOf(config.dataDir);
  return {
    config,
    db,
    vault,
    store,
    blobs,
    clock,
    random,
    ids: createIds(db, "pushes"),
    linkDeliveryIds: createIds(db, "link_deliveries"),
    argon2: createArgon2Queue(argon2Limits),
    // The limits on pushes without an owner apply to new pushes only.
    capacity: createCapacity({
      config: { ...config, anonymousBytesMax: Number.POSITIVE_INFINITY, anonymousReserveBytes: 0 },
      monotonicMs,
      diskSpace,
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
  const { sourceId, user, missingParts } = incoming;
  const value = await db.untilKnown(() =>
    users.adopt(user, merge, async (tx, id, { merged, tokenTaken }) => {
      // An existing account gets only the API token.
      const own = merged ? missingParts.filter((part) => part === "api_token") : missingParts;
      const all = tokenTaken ? [...own, "api_token" as const] : own;
      const record = { sourceId, id, run, missingParts: all, related: noRelated };
      return (await rows.record(tx, "user", record)) === "recorded";
    }),
  );
  if (value.outcome === "adopted") return { ...value, outcome: "imported" };
  const imported = await rows.findUser(sourceId);
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

async function getUser(rows: ImportedRows, sourceId: number): Promise<ImportedUser> {
  const user = await rows.findUser(sourceId);
  if (user === undefined) throw new Error("An imported user is not recorded.");
  return user;
}

async function getPush(rows: ImportedRows, sourceId: number): Promise<ImportedRow> {
  const push = await rows.find("push", sourceId);
  if (push === undefined) throw new Error("An imported push is not recorded.");
  return push;
}

function orChangedMeanwhile<Row>(get: () => Promise<Row>): (error: unknown) => Promise<ChangedMeanwhile<Row>> {
  return async (error) => {
    if (!(error instanceof RecordChangedError)) throw error;
    return { outcome: "changed_meanwhile", now: await get() };
  };
}

/** Adds the parts and updates the record in one transaction. */
async function addMissingUserParts(
  users: UserAdoption,
  rows: ImportedRows,
  imported: ImportedUser,
  { user, missingParts }: IncomingUser,
): Promise<PartsOutcome> {
  const isMissing = (part: Part) => missingParts.some((missing) => missing === part);
  const outcomeOf = ({ filled, superseded, refused }: UserCompletion): PartsOutcome => ({
    outcome: "updated",
    added: filled,
    superseded,
    stillMissing: [
      ...imported.missingParts.filter(isMissing),
      ...refused,
      // Password and backup codes depend on the factor: they were not read while it could not be decrypted.
      ...(filled.includes("factor")
        ? missingParts.filter((part) => part === "password" || part === "backup_codes")
        : []),
    ],
    tokenTaken: refused.length > 0,
    related: noRelated,
  });
  const wanted = userPartsOf(imported.missingParts).filter((part) => !isMissing(part));
  const completion = await users.complete(imported.id, user, wanted, (tx, parts) =>
    rows.updateRecord(tx, "user", imported, { missingParts: outcomeOf(parts).stillMissing, related: noRelated }),
  );
  return outcomeOf(completion);
}

async function addMissingPushParts(
  deps: Pick<PushImportDeps, "db" | "vault" | "linkDeliveryIds">,
  rows: ImportedRows,
  imported: ImportedRow,
  incoming: IncomingPush,
): Promise<PartsOutcome> {
  const missing = addablePartsOf(imported, incoming);
  const outcomeOf = (completion: PushCompletion) => pushPartsOutcome(imported, incoming, completion);
  const completion = await completeImportedPush(
    deps,
    { pushId: imported.id, push: incoming.push, missing, importedEvents: imported.related.auditEntries },
    (tx, parts) => {
      const { stillMissing, related } = outcomeOf(parts);
      return rows.updateRecord(tx, "push", imported, { missingParts: stillMissing, related });
    },
  );
  return outcomeOf(completion);
}

/** These parts are written together. */
const trailParts: readonly Part[] = ["trail", "notifications", "people"];

function addablePartsOf({ missingParts: before, related }: ImportedRow, { missingParts: now, push }: IncomingPush) {
  const isMissingNow = (part: Part) => now.some((missing) => missing === part);
  const missingBefore = trailParts.filter((part) => before.includes(part));
  // A run with other keys must keep emails that an earlier run decrypted, and new damage must not remove entries.
  const addsNoGap = trailParts.every((part) => !isMissingNow(part) || missingBefore.includes(part));
  const hasSameLength = push.trail.length === related.auditEntries;
  const decryptsAll = !isMissingNow("notifications") && (!isMissingNow("trail") || hasSameLength);
  return {
    note: before.includes("note") && !isMissingNow("note"),
    trail: addsNoGap && decryptsAll && missingBefore.some((part) => !isMissingNow(part)),
  };
}

function pushPartsOutcome(
  imported: ImportedRow,
  { missingParts, related }: IncomingPush,
  { note, trail }: PushCompletion,
): PartsOutcome {
  const added: Part[] = [];
  const superseded: Part[] = [];
  const stillMissing: Part[] = [];
  for (const part of imported.missingParts) {
    const isMissing = missingParts.some((missing) => missing === part);
    const result = trailParts.includes(part) ? trail : part === "note" ? note : undefined;
    if (result === "superseded") superseded.push(part);
    else if (result === "filled" && !isMissing) added.push(part);
    else stillMissing.push(part);
  }
  const present = trail === "filled" ? { ...related, files: imported.related.files } : imported.related;
  return { outcome: "updated", added, superseded, stillMissing, tokenTaken: false, related: present };
}

async function importStyleSheet(
  domain: Domain,
  rows: ImportedRows,
  { css, run }: { readonly css: string; readonly run: string },
): Promise<StyleOutcome> {
  if ((await rows.count("style")) > 0) return { outcome: "imported_before" };
  const present = domain.branding.theme().style;
  if (present !== undefined && !(await isSameStyleSheet(css, present.content))) return { outcome: "other_style" };
  const problem = present === undefined ? await domain.branding.setStyle(css, nothingElse) : undefined;
  if (problem !== undefined) return { outcome: "refused", reason: styleSheetRefusal(problem) };
  const record = { sourceId: styleSheetId, id: styleSheetId, run, missingParts: [], related: noRelated };
  const recorded = await domain.db.write((tx) => rows.record(tx, "style", record));
  return { outcome: recorded === "recorded" ? "imported" : "imported_before" };
}
