import { readStyleSheet } from "../branding/style-sheet.ts";
import { digest, keyedDigest } from "../crypto/digests.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { ReadConnection } from "../database/database.ts";
import { findSealedIndexKey, indexKeyContext } from "../pushes/vault.ts";
import type { Completion, Destination, IncomingPush, PushOutcome, StyleOutcome, UserOutcome } from "./destination.ts";
import { createKnownPushes, readKnownUsers } from "./known-pushes.ts";
import type { Part } from "./lacks.ts";
import { createImportedRows, type ImportedRow } from "./store/imported-rows.ts";
import { createPresent, type Present } from "./store/look.ts";
import { isSameStyle, refusalOfStyle } from "./style.ts";

/** Nobody's id: in a run that writes nothing none is given out. */
const noId = 0;

/**
 * Does all that a run does but write: files are read to their end, conflicts are looked for.
 * @param here undefined: there is no database here yet, so nothing can be in the way.
 */
export async function createDryDestination(
  here: { readonly read: ReadConnection; readonly keyring: Keyring | undefined } | undefined,
  source: string,
): Promise<Destination> {
  if (here === undefined) return emptyDestination();
  const rows = createImportedRows(here.read, source);
  const present = createPresent(here.read);
  const linkDigest = await findLinkDigest(here.read, here.keyring);
  return {
    knownUsers: () => readKnownUsers(rows),
    knownPushes: () => createKnownPushes(rows),
    bringUser: createBringUser(present),
    async bringPush(incoming) {
      if (linkDigest !== undefined && (await present.isLinkTaken(linkDigest(incoming.push.urlToken)))) {
        return { outcome: "link_taken" };
      }
      return await readFiles(incoming);
    },
    async completeUser(known, incoming) {
      const { apiToken } = incoming.user;
      const holder = apiToken === null ? undefined : await present.findTokenHolder(digest(apiToken));
      return completionOf(known, incoming, holder !== undefined && holder !== known.id);
    },
    completePush: async (known, incoming) => completionOf(known, incoming),
    bringStyle: async (css) =>
      (await rows.count("style")) > 0 ? { outcome: "known" } : await tryStyle(css, await present.findStyle()),
    forgetsAt: () => undefined,
    countHere: async () => undefined,
  };
}

function emptyDestination(): Destination {
  return {
    knownUsers: async () => new Map(),
    knownPushes: () => ({ find: async () => undefined }),
    bringUser: createBringUser({ findUserId: async () => undefined, findTokenHolder: async () => undefined }),
    bringPush: readFiles,
    completeUser: async (known, incoming) => completionOf(known, incoming),
    completePush: async (known, incoming) => completionOf(known, incoming),
    bringStyle: (css) => tryStyle(css, undefined),
    forgetsAt: () => undefined,
    countHere: async () => undefined,
  };
}

/** Users clash with those who are here, and with those who would have come before them. */
function createBringUser({
  findUserId,
  findTokenHolder,
}: Pick<Present, "findUserId" | "findTokenHolder">): Destination["bringUser"] {
  const emails = new Set<string>();
  const tokenHolders = new Map<string, string>();
  return async ({ user: { email, apiToken } }, merge): Promise<UserOutcome> => {
    const id = await findUserId(email);
    const merged = id !== undefined || emails.has(email);
    if (merged && !merge) return { outcome: "email_taken" };
    emails.add(email);
    if (apiToken === null) return { outcome: "brought", userId: noId, merged, tokenTaken: false };
    const token = digest(apiToken);
    const [holder, newHolder] = [await findTokenHolder(token), tokenHolders.get(token.toString("hex"))];
    const tokenTaken = holder === undefined ? newHolder !== undefined && newHolder !== email : holder !== id;
    if (holder === undefined && newHolder === undefined) tokenHolders.set(token.toString("hex"), email);
    return { outcome: "brought", userId: noId, merged, tokenTaken };
  };
}

/** What would come if nothing had taken its place here. */
function completionOf(
  known: ImportedRow,
  incoming: { readonly lacks: readonly Part[] },
  isTokenTaken = false,
): Completion {
  const tokenTaken = isTokenTaken && known.lacks.includes("api_token");
  const isKept = (part: Part) =>
    part === "files" || incoming.lacks.includes(part) || (tokenTaken && part === "api_token");
  return {
    outcome: "completed",
    ...{ filled: known.lacks.filter((part) => !isKept(part)), superseded: [], lacks: known.lacks.filter(isKept) },
    ...{ tokenTaken, holdings: known.holdings },
  };
}

/** @returns undefined when the master key is not at hand: then links are not compared. */
async function findLinkDigest(
  reading: ReadConnection,
  keyring: Keyring | undefined,
): Promise<((urlToken: string) => Buffer) | undefined> {
  const sealed = keyring === undefined ? undefined : await findSealedIndexKey(reading);
  const indexKey = sealed === undefined ? undefined : keyring?.open(indexKeyContext, sealed);
  return indexKey === undefined ? undefined : (urlToken) => keyedDigest(indexKey, urlToken);
}

async function readFiles({ push }: IncomingPush): Promise<PushOutcome> {
  let fileBytes = 0;
  for (const file of push.open?.files ?? []) {
    for await (const chunk of file.content) fileBytes += chunk.length;
  }
  return { outcome: "brought", pushId: noId, fileBytes };
}

async function tryStyle(css: string, present: Buffer | undefined): Promise<StyleOutcome> {
  if (present !== undefined && !(await isSameStyle(css, present))) return { outcome: "other_style" };
  const read = await readStyleSheet(css);
  return read.ok ? { outcome: "brought" } : { outcome: "refused", reason: refusalOfStyle(read.problem) };
}
