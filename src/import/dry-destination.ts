import { createAdoptedAccounts, userAspects } from "../accounts/admin/adopt-user.ts";
import { readStyleSheet } from "../branding/style-sheet.ts";
import type { AccessKeys } from "../crypto/access-keys.ts";
import type { Keyring } from "../crypto/keyring.ts";
import { deriveKey } from "../crypto/sodium.ts";
import { createUrlTokens } from "../crypto/url-token.ts";
import type { ReadConnection } from "../database/database.ts";
import { planReimport, readState, withdrawal } from "../pushes/create/reimport-push.ts";
import { findIndexSecret } from "../pushes/vault.ts";
import { type Aspect, digestKeyLabel, haveLimitsChanged, RowDigests } from "./aspects.ts";
import type {
  Destination,
  IncomingPush,
  PushOutcome,
  PushUpdateOutcome,
  StyleOutcome,
  UserOutcome,
  UserUpdateOutcome,
} from "./destination.ts";
import { isSameStyleSheet, styleSheetRefusal } from "./import-style-sheet.ts";
import { type Conflicts, createConflicts, createImportedRows, stateAtImport } from "./store/imported-rows.ts";
import { isUntouched } from "./untouched-user.ts";

/** A dry run assigns no ids. */
const noId = 0;

/**
 * Does everything that a run does, except writing: it reads files to their end and looks for conflicts.
 * @param existing undefined: this server has no database yet, so nothing can conflict, or its rows cannot be verified.
 */
export async function createDryDestination(
  existing: { readonly read: ReadConnection; readonly keyring: Keyring; readonly access: AccessKeys } | undefined,
  source: string,
): Promise<Destination> {
  if (existing === undefined) return emptyDestination();
  const { read, keyring, access } = existing;
  const rows = createImportedRows(read, access, source);
  const conflicts = createConflicts(read);
  const accounts = createAdoptedAccounts(existing);
  /** Accounts that are no administrators after the run. */
  const leavingAdmins = new Set<number>();
  let addsAdmin = false;
  const indexSecret = await findIndexSecret(read, keyring);
  if (indexSecret === undefined) return emptyDestination();
  const urlTokens = createUrlTokens(indexSecret);
  const digests = new RowDigests(deriveKey(indexSecret, digestKeyLabel));
  const importUser = createImportUser({
    ...conflicts,
    findTokenHolder: (apiToken) => findTokenHolder(apiToken),
  });
  const findTokenHolder = (apiToken: string) => conflicts.findTokenHolder(access.digest("api_token", apiToken));
  return {
    digests,
    importedUsers: () => rows.readUsers(),
    pushFinder: () => rows.pushFinder(),
    async importUser(incoming, merge) {
      const outcome = await importUser(incoming, merge);
      if (outcome.outcome === "imported" && !outcome.merged && incoming.user.admin) addsAdmin = true;
      return outcome;
    },
    async importPush(incoming) {
      if (await conflicts.isLinkTaken(urlTokens.addressOf(incoming.push.urlToken))) {
        return { outcome: "link_taken" };
      }
      return await readFiles(incoming);
    },
    async updateUser(imported, { user }, changed) {
      if (changed.includes("admin") && user.admin) addsAdmin = true;
      else if (changed.includes("admin")) leavingAdmins.add(imported.id);
      const holder = user.apiToken === null ? undefined : await findTokenHolder(user.apiToken);
      const isTokenTaken = holder !== undefined && holder !== imported.id;
      const emailHolder = await conflicts.findUserId(user.email);
      const isEmailTaken = emailHolder !== undefined && emailHolder !== imported.id;
      return userUpdate(changed, { api_token: isTokenTaken, email: isEmailTaken });
    },
    async updatePush(imported, incoming, isComplete): Promise<PushUpdateOutcome> {
      const before = stateAtImport(imported);
      const here = await readState(read, before);
      const limitsChanged = haveLimitsChanged(imported.aspects, incoming.aspects);
      const { push } = incoming;
      const plan = planReimport(here, { ...before, push, isComplete, haveLimitsChanged: limitsChanged });
      if (plan === "replaced" || plan === "merged") await readFiles(incoming);
      const asksThere = (push.open?.passphrase ?? "") !== "";
      const lacksPassphrase = plan === "restricted" && here?.row.passphraseSalt === null && asksThere;
      return { outcome: "updated", plan, lacksPassphrase };
    },
    records: (kind) => rows.records(kind),
    async withdrawUser(imported) {
      const untouched = await isUntouched({ accounts, rows, digests }, imported, read);
      if (untouched !== true) return untouched === false ? "used" : "gone";
      if (!addsAdmin && (await accounts.isLastAdmin(imported.id, leavingAdmins, read))) return "last_admin";
      leavingAdmins.add(imported.id);
      return "removed";
    },
    withdrawPush: async (imported, isPurged) => withdrawal(await readState(read, stateAtImport(imported)), isPurged),
    async importStyleSheet(css) {
      const imported = await rows.find("style", 0);
      const style = digests.of("style", css ?? "");
      if (imported === undefined ? css === undefined : imported.aspects.style === style)
        return { outcome: "imported_before" };
      const served = await conflicts.findStyleSheet();
      const isImported = served !== undefined && imported?.identity === digests.of("identity", served.toString("utf8"));
      const outcome = await tryStyleSheet(css ?? "", isImported ? undefined : served);
      return imported !== undefined && outcome.outcome === "imported" ? { outcome: "updated" } : outcome;
    },
    deletedAt: () => undefined,
    countStored: async () => undefined,
  };
}

function emptyDestination(): Destination {
  return {
    importedUsers: async () => new Map(),
    pushFinder: () => async () => undefined,
    importUser: createImportUser({ findUserId: async () => undefined, findTokenHolder: async () => undefined }),
    importPush: readFiles,
    digests: { of: () => "", all: () => ({}) },
    // Nothing was imported before.
    updateUser: async (_imported, _incoming, changed) => userUpdate(changed, {}),
    updatePush: async () => ({ outcome: "updated", plan: "kept", lacksPassphrase: false }),
    records: () => noRecords(),
    withdrawUser: async () => "gone",
    withdrawPush: async () => "gone",
    importStyleSheet: async (css) =>
      css === undefined ? { outcome: "imported_before" } : await tryStyleSheet(css, undefined),
    deletedAt: () => undefined,
    countStored: async () => undefined,
  };
}

/** Users conflict with existing accounts, and with users that a run would have imported before them. */
function createImportUser({
  findUserId,
  findTokenHolder,
}: Pick<Conflicts, "findUserId"> & {
  /** The id of the user who has this API token here. */
  readonly findTokenHolder: (apiToken: string) => Promise<number | undefined>;
}): Destination["importUser"] {
  const emails = new Set<string>();
  const tokenHolders = new Map<string, string>();
  return async ({ user: { email, apiToken } }, merge): Promise<UserOutcome> => {
    const id = await findUserId(email);
    const merged = id !== undefined || emails.has(email);
    if (merged && !merge) return { outcome: "email_taken" };
    emails.add(email);
    if (apiToken === null) return { outcome: "imported", userId: noId, merged, tokenTaken: false };
    const [holder, newHolder] = [await findTokenHolder(apiToken), tokenHolders.get(apiToken)];
    const tokenTaken = holder === undefined ? newHolder !== undefined && newHolder !== email : holder !== id;
    if (holder === undefined && newHolder === undefined) tokenHolders.set(apiToken, email);
    return { outcome: "imported", userId: noId, merged, tokenTaken };
  };
}

async function* noRecords(): AsyncGenerator<never> {
  yield* [];
}

/** Assumes that nobody has changed the account here since it was imported. */
function userUpdate(
  changed: readonly Aspect[],
  isTaken: Readonly<Partial<Record<Aspect, boolean>>>,
): UserUpdateOutcome {
  const reported = userAspects.filter((aspect) => changed.includes(aspect) && !unreported.includes(aspect));
  return {
    outcome: "updated",
    updated: reported.filter((aspect) => isTaken[aspect] !== true),
    kept: [],
    refused: reported.filter((aspect) => isTaken[aspect] === true),
  };
}

/** They only ever move forward, so a run does not report them. */
const unreported: readonly Aspect[] = ["last_code", "last_use"];

async function readFiles({ push }: IncomingPush): Promise<PushOutcome> {
  let fileBytes = 0;
  for (const file of push.open?.files ?? []) {
    for await (const chunk of file.content) fileBytes += chunk.length;
  }
  return { outcome: "imported", pushId: noId, fileBytes };
}

async function tryStyleSheet(css: string, present: Buffer | undefined): Promise<StyleOutcome> {
  if (present !== undefined && !(await isSameStyleSheet(css, present))) return { outcome: "other_style" };
  const read = await readStyleSheet(css);
  return read.ok ? { outcome: "imported" } : { outcome: "refused", reason: styleSheetRefusal(read.problem) };
}
