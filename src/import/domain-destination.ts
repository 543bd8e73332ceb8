import type { Change } from "../accounts/accounts.ts";
import { createAdoptedAccounts, createUserAdoption, type UserAdoption } from "../accounts/admin/adopt-user.ts";
import { diskSpaceOf } from "../blobs/disk.ts";
import { argon2LimitsForImports, createArgon2Queue } from "../crypto/passphrase.ts";
import { type Database, nothingElse } from "../database/database.ts";
import { createIds } from "../database/ids.ts";
import type { Domain, Effects } from "../domain.ts";
import { createInMemoryLimits } from "../limits/in-memory-limits.ts";
import { createByteBudgets } from "../pushes/create/byte-budgets.ts";
import { createCapacity } from "../pushes/create/capacity.ts";
import { countedViews, expiryOf, importPush, type PushImportDeps } from "../pushes/create/import-push.ts";
import { reimportPush, withdrawPush } from "../pushes/create/reimport-push.ts";
import { tombstoneMs } from "../pushes/present-push.ts";
import { type Aspect, type AspectDigests, digestKeyLabel, haveLimitsChanged, RowDigests } from "./aspects.ts";
import type {
  ChangedMeanwhile,
  Destination,
  IncomingPush,
  IncomingUser,
  PushOutcome,
  PushUpdateOutcome,
  StyleOutcome,
  UserOutcome,
  UserUpdateOutcome,
} from "./destination.ts";
import { isSameStyleSheet, styleSheetRefusal } from "./import-style-sheet.ts";
import { noRelated } from "./source-values.ts";
import {
  createImportedRows,
  type ImportedRow,
  type ImportedRows,
  type ImportedUser,
  RecordChangedError,
  stateAtImport,
} from "./store/imported-rows.ts";
import { adoptedBefore, isUntouched, type UntouchedDeps } from "./untouched-user.ts";

/** The source has one style sheet, without an id. */
const styleSheetId = 0;
const runIdBytes = 8;
/** What the notifications and the administrators' log say about who has changed an address. */
const nobody = { address: "", userAgent: "" };
const importer = { userId: null, email: "import", address: "" };

/** Imports into an open domain. @param source as `ImportSource.fingerprint`. */
export function createDomainDestination(
  domain: Domain,
  effects: Pick<Effects, "clock" | "random" | "monotonicMs">,
  source: string,
): Destination {
  const rows = createImportedRows(domain.db.read, domain.vault.access, source);
  const { access } = domain.vault;
  const { clock } = effects;
  const users = createUserAdoption({
    ...domain,
    ...effects,
    access,
    async onEmailChanged(tx, before, email) {
      await domain.accounts.giveAway(tx, { before, email, client: nobody, now: clock.now() });
      await domain.accounts.adminEntry("changed_email", `${before.email} -> ${email}`, importer)(tx);
    },
  });
  const accounts = createAdoptedAccounts({ ...domain, access });
  const deps = pushDeps(domain, effects);
  const run = effects.random.bytes(runIdBytes).toString("hex");
  const digests = new RowDigests(domain.vault.indexKey(digestKeyLabel));
  return {
    digests,
    importedUsers: () => rows.readUsers(),
    pushFinder: () => rows.pushFinder(),
    importUser: (incoming, merge) => importUser(domain.db, users, rows, { run, incoming, merge }),
    async importPush({ push, ...record }): Promise<PushOutcome> {
      const { sourceId } = record;
      const adoption = await importPush(deps, push, (tx, id) =>
        rows.record(tx, "push", { ...record, id, run, views: countedViews(push), expiresAt: expiryOf(push) }),
      );
      if (adoption.outcome === "link_taken") return adoption;
      if (adoption.outcome === "known") return { outcome: "imported_before", imported: await getPush(rows, sourceId) };
      return { outcome: "imported", pushId: adoption.pushId, fileBytes: adoption.fileBytes };
    },
    updateUser: (imported, incoming, changed) =>
      updateUser({ users, rows, digests }, imported, incoming, changed).catch(
        orChangedMeanwhile(() => getUser(rows, imported.sourceId)),
      ),
    updatePush: (imported, incoming, isComplete) =>
      updatePush(deps, rows, { imported, incoming, isComplete }).catch(
        orChangedMeanwhile(() => getPush(rows, imported.sourceId)),
      ),
    records: (kind) => rows.records(kind),
    withdrawUser: (imported) => withdrawUser(domain, { accounts, rows, digests }, imported).catch(orGone),
    withdrawPush: (imported, isPurged) =>
      withdrawPush(deps, { ...stateAtImport(imported), isPurged }, (tx) =>
        rows.deleteRecord(tx, "push", imported),
      ).catch(orGone),
    importStyleSheet: (css) => importStyleSheet(domain, { rows, digests }, { css, run }),
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
  { config, db, vault, storedLinkKeys, store, blobs }: Domain,
  { clock, random, monotonicMs }: Pick<Effects, "clock" | "random" | "monotonicMs">,
): PushImportDeps {
  const diskSpace = diskSpaceOf(config.dataDir);
  return {
    config,
    db,
    vault,
    storedLinkKeys,
    store,
    blobs,
    clock,
    random,
    ids: createIds(db, "pushes"),
    linkDeliveryIds: createIds(db, "link_deliveries"),
    argon2: createArgon2Queue(argon2LimitsForImports),
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
  const { user, ...record } = incoming;
  const { sourceId, missingParts } = record;
  const value = await db.untilKnown(() =>
    users.adopt(user, merge, async (tx, id, { merged, tokenTaken }) => {
      // An existing account gets only the API token.
      const own = merged ? missingParts.filter((part) => part === "api_token") : missingParts;
      const all = tokenTaken ? [...own, "api_token" as const] : own;
      const { api_token: token, ...others } = record.aspects;
      const aspects = { ...(!merged && others), ...(!tokenTaken && token !== undefined && { api_token: token }) };
      const recorded = {
        ...record,
        id,
        run,
        missingParts: all,
        aspects,
        views: 0,
        expiresAt: null,
        related: noRelated,
      };
      return (await rows.record(tx, "user", recorded)) === "recorded";
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

/** A concurrent import has withdrawn the row. */
function orGone(error: unknown): "gone" {
  if (error instanceof RecordChangedError) return "gone";
  throw error;
}

/** Updates the account and the record in one transaction. */
async function updateUser(
  { users, rows, digests }: Omit<UntouchedDeps, "accounts"> & { readonly users: UserAdoption },
  imported: ImportedUser,
  { user, missingParts, identity, aspects }: IncomingUser,
  changed: readonly Aspect[],
): Promise<UserUpdateOutcome> {
  const update = await users.update(
    imported.id,
    user,
    adoptedBefore(digests, imported, changed),
    async (tx, { refused }) => {
      const stillMissing = imported.missingParts.filter((part) => missingParts.some((missing) => missing === part));
      const isTokenRefused = refused.includes("api_token");
      const { api_token: token, ...others } = updatedAspects(
        imported.aspects,
        aspects,
        changed.filter((aspect) => !refused.some((one) => one === aspect)),
      );
      await rows.updateRecord(tx, "user", imported, {
        missingParts: [...stillMissing, ...(isTokenRefused ? (["api_token"] as const) : [])],
        identity: identity === "" ? imported.identity : identity,
        // The token of before is gone, so each later run tries again, as after a first import without it.
        aspects: isTokenRefused || token === undefined ? others : { ...others, api_token: token },
        related: noRelated,
      });
    },
  );
  return { outcome: "updated", ...update };
}

/** The digests of these aspects are those of the source now. */
function updatedAspects(before: AspectDigests, now: AspectDigests, updated: readonly Aspect[]): AspectDigests {
  return { ...before, ...Object.fromEntries(updated.map((aspect) => [aspect, now[aspect]])) };
}

async function updatePush(
  deps: PushImportDeps,
  rows: ImportedRows,
  {
    imported,
    incoming,
    isComplete,
  }: { readonly imported: ImportedRow; readonly incoming: IncomingPush; readonly isComplete: boolean },
): Promise<PushUpdateOutcome | ChangedMeanwhile<ImportedRow>> {
  const { push, missingParts, aspects, related } = incoming;
  const request = {
    push,
    isComplete,
    ...stateAtImport(imported),
    haveLimitsChanged: haveLimitsChanged(imported.aspects, aspects),
  };
  const expiresAt = expiryOf(push);
  // A copy from before the last import lacks views that are counted here already.
  const views = Math.max(countedViews(push), imported.views);
  const result = await reimportPush(deps, request, async (tx, { outcome, plan, pushId, lacksPassphrase }) => {
    if (outcome === "imported") {
      return await rows.updateRecord(tx, "push", imported, {
        id: pushId,
        missingParts,
        aspects,
        views,
        expiresAt,
        related,
      });
    }
    const known = { ...imported.aspects, ...aspects };
    const { passphrase: _, ...withoutPassphrase } = known;
    await rows.updateRecord(tx, "push", imported, {
      missingParts: plan === "restricted" ? imported.missingParts : [],
      // What could not be compared or done is tried again by the next run.
      aspects: isComplete ? (lacksPassphrase ? withoutPassphrase : known) : imported.aspects,
      views,
      expiresAt,
      related: imported.related,
    });
  });
  if (result.outcome === "changed_meanwhile") {
    return { outcome: "changed_meanwhile", now: await getPush(rows, imported.sourceId) };
  }
  return { outcome: "updated", plan: result.plan, lacksPassphrase: result.lacksPassphrase };
}

/** Somebody has used the account since it was read. Undoes its deletion. */
class AccountUsedError extends Error {
  override readonly name = "AccountUsedError";
}

async function deleteUntouched(
  domain: Domain,
  deps: UntouchedDeps,
  imported: ImportedUser,
): Promise<Change["outcome"] | "used"> {
  try {
    const deletion = await domain.deleteAccount(imported.id, null, async (tx) => {
      if ((await isUntouched(deps, imported, tx)) !== true) throw new AccountUsedError("The account was used.");
    });
    return deletion.outcome;
  } catch (error) {
    if (error instanceof AccountUsedError) return "used";
    throw error;
  }
}

async function withdrawUser(
  domain: Domain,
  deps: UntouchedDeps,
  imported: ImportedUser,
): Promise<"removed" | "used" | "last_admin" | "gone"> {
  const forget = () => domain.db.write((tx) => deps.rows.deleteRecord(tx, "user", imported));
  const untouched = await isUntouched(deps, imported, domain.db.read);
  if (untouched === false) return "used";
  if (untouched === true) {
    const outcome = await deleteUntouched(domain, deps, imported);
    if (outcome === "used" || outcome === "last_admin") return outcome;
  }
  await forget();
  return untouched === true ? "removed" : "gone";
}

/** The source's style sheet replaces the one that an earlier run imported, unless that was changed here. */
async function importStyleSheet(
  domain: Domain,
  { rows, digests }: Pick<UntouchedDeps, "rows" | "digests">,
  { css, run }: { readonly css: string | undefined; readonly run: string },
): Promise<StyleOutcome> {
  const { branding, db } = domain;
  const imported = await rows.find("style", styleSheetId);
  if (css === undefined && imported === undefined) return { outcome: "imported_before" };
  const aspects = digests.all({ style: css ?? "" });
  if (imported !== undefined && imported.aspects.style === aspects.style) return { outcome: "imported_before" };
  const served = branding.theme().style?.content;
  const identity = imported === undefined ? "" : imported.identity;
  const isOurs = served !== undefined && digests.of("identity", served.toString("utf8")) !== identity;
  if (isOurs && !(css !== undefined && (await isSameStyleSheet(css, served)))) return { outcome: "other_style" };
  const problem = await branding.setStyle(css ?? "", nothingElse);
  if (problem !== undefined) return { outcome: "refused", reason: styleSheetRefusal(problem) };
  const now = branding.theme().style?.content.toString("utf8") ?? "";
  const change = { aspects, identity: digests.of("identity", now), missingParts: [], related: noRelated };
  if (imported !== undefined) {
    await db.write((tx) => rows.updateRecord(tx, "style", imported, change));
    return { outcome: "updated" };
  }
  const record = { ...change, sourceId: styleSheetId, id: styleSheetId, run, views: 0, expiresAt: null };
  const recorded = await db.write((tx) => rows.record(tx, "style", record));
  return { outcome: recorded === "recorded" ? "imported" : "imported_before" };
}
