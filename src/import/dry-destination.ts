import { readStyleSheet } from "../branding/style-sheet.ts";
import { deriveKey } from "../crypto/sodium.ts";
import { createUrlTokens } from "../crypto/url-token.ts";
import type { Destination, IncomingPush, PushOutcome, StyleOutcome, UserOutcome } from "./destination.ts";
import { digestKeyLabel, identitiesDigest } from "./domain-destination.ts";
import { isSameStyleSheet, styleSheetRefusal } from "./import-style-sheet.ts";
import { findActivity } from "./store/activity.ts";
import { type Conflicts, createConflicts, ImportedRows } from "./store/imported-rows.ts";
import type { StoredData } from "./stored-import.ts";

/** A dry run assigns no ids. */
const noId = 0;

/**
 * Does everything that a run does, except writing: it reads files to their end and looks for conflicts.
 * @param existing undefined: this server has no database yet, so nothing can conflict, or its rows cannot be verified.
 */
export function createDryDestination(existing: StoredData | undefined, source: string): Destination {
  if (existing === undefined) return emptyDestination();
  const { read, access, indexSecret } = existing;
  const rows = new ImportedRows(read, access, source);
  const conflicts = createConflicts(read);
  const urlTokens = createUrlTokens(indexSecret);
  return {
    ...emptyDestination(),
    recordedSnapshot: () => rows.readSnapshot(),
    identitiesDigest: (identities) => identitiesDigest(deriveKey(indexSecret, digestKeyLabel), identities),
    activitySince: (time) => findActivity(read, time),
    importedRows: (kind) => rows.all(kind),
    importUser: createImportUser({
      ...conflicts,
      findTokenHolder: (apiToken) => conflicts.findTokenHolder(access.digest("api_token", apiToken)),
    }),
    async importPush(incoming) {
      const isTaken = await conflicts.isLinkTaken(urlTokens.addressOf(incoming.push.urlToken));
      return isTaken ? { outcome: "link_taken" } : await readFiles(incoming);
    },
    async importStyleSheet(css) {
      if ((await rows.find("style", 0)) !== undefined) return { outcome: "imported_before" };
      return await tryStyleSheet(css, await conflicts.findStyleSheet());
    },
  };
}

function emptyDestination(): Destination {
  return {
    recordedSnapshot: async () => undefined,
    identitiesDigest: () => "",
    setSnapshot: () => undefined,
    activitySince: async () => ({ views: 0, edits: 0, signIns: 0, newRows: 0 }),
    async *importedRows() {
      yield* [];
      return undefined;
    },
    importUser: createImportUser({ findUserId: async () => undefined, findTokenHolder: async () => undefined }),
    importPush: readFiles,
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
