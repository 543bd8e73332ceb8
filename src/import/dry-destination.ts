import { readStyleSheet } from "../branding/style-sheet.ts";
import type { AccessKeys } from "../crypto/access-keys.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { ReadConnection } from "../database/database.ts";
import { findUrlTokens } from "../pushes/vault.ts";
import type { Destination, IncomingPush, PartsOutcome, PushOutcome, StyleOutcome, UserOutcome } from "./destination.ts";
import { isSameStyleSheet, styleSheetRefusal } from "./import-style-sheet.ts";
import type { Part } from "./missing-parts.ts";
import { type Conflicts, createConflicts, createImportedRows, type ImportedRow } from "./store/imported-rows.ts";

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
  const urlTokens = await findUrlTokens(read, keyring);
  const findTokenHolder = (apiToken: string) => conflicts.findTokenHolder(access.digest("api_token", apiToken));
  return {
    importedUsers: () => rows.readUsers(),
    pushFinder: () => rows.pushFinder(),
    importUser: createImportUser({ ...conflicts, findTokenHolder }),
    async importPush(incoming) {
      if (urlTokens !== undefined && (await conflicts.isLinkTaken(urlTokens.addressOf(incoming.push.urlToken)))) {
        return { outcome: "link_taken" };
      }
      return await readFiles(incoming);
    },
    async addMissingUserParts(imported, incoming) {
      const { apiToken } = incoming.user;
      const holder = apiToken === null ? undefined : await findTokenHolder(apiToken);
      return partsOutcome(imported, incoming, holder !== undefined && holder !== imported.id);
    },
    addMissingPushParts: async (imported, incoming) => partsOutcome(imported, incoming),
    importStyleSheet: async (css) =>
      (await rows.count("style")) > 0
        ? { outcome: "imported_before" }
        : await tryStyleSheet(css, await conflicts.findStyleSheet()),
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
    addMissingUserParts: async (imported, incoming) => partsOutcome(imported, incoming),
    addMissingPushParts: async (imported, incoming) => partsOutcome(imported, incoming),
    importStyleSheet: (css) => tryStyleSheet(css, undefined),
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

/** Assumes that no part was set here since the row was imported. */
function partsOutcome(
  imported: ImportedRow,
  incoming: { readonly missingParts: readonly Part[] },
  isTokenTaken = false,
): PartsOutcome {
  const tokenTaken = isTokenTaken && imported.missingParts.includes("api_token");
  const isMissing = (part: Part) =>
    part === "files" || incoming.missingParts.includes(part) || (tokenTaken && part === "api_token");
  return {
    outcome: "updated",
    added: imported.missingParts.filter((part) => !isMissing(part)),
    superseded: [],
    stillMissing: imported.missingParts.filter(isMissing),
    tokenTaken,
    related: imported.related,
  };
}

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
