import { AccessKeys } from "../crypto/access-keys.ts";
import { deriveKey } from "../crypto/sodium.ts";
import { createUrlTokens } from "../crypto/url-token.ts";
import { type Destination, type IncomingPush, identitiesKeyLabel, missingOf, type PushOutcome } from "./destination.ts";
import { noRelated } from "./source-values.ts";
import { type Conflicts, createConflicts, ImportedRows } from "./store/imported-rows.ts";
import type { StoredData } from "./stored-import.ts";

/** A dry run assigns no ids. */
const noId = 0;
const noKey = Buffer.alloc(32);

/** A server without data. Nothing conflicts. */
export const nothingStored: Omit<StoredData, "keyring"> = {
  read: { one: async () => undefined, all: async () => [] },
  access: new AccessKeys(noKey, () => undefined),
  indexSecret: noKey,
};

/** Does everything that a run does, except writing: it reads files to their end and looks for conflicts. */
export function createDryDestination({ read, access, indexSecret }: typeof nothingStored, source: string): Destination {
  const rows = new ImportedRows(read, access, source);
  const conflicts = createConflicts(read, access);
  const urlTokens = createUrlTokens(indexSecret);
  return {
    run: undefined,
    rows,
    identitiesKey: deriveKey(indexSecret, identitiesKeyLabel),
    importUser: createImportUser(conflicts),
    async importPush(incoming) {
      const isTaken = await conflicts.isLinkTaken(urlTokens.addressOf(incoming.push.urlToken));
      return isTaken ? { outcome: "link_taken" } : await readFiles(incoming);
    },
    findStyleSheet: conflicts.findStyleSheet,
    importStyleSheet: async () => true,
  };
}

/** Users conflict with existing accounts, and with users that a run would have imported before them. */
function createImportUser({ findUserId, findTokenHolder }: Conflicts): Destination["importUser"] {
  const emails = new Set<string>();
  const tokenHolders = new Map<string, string>();
  async function isTokenTaken(apiToken: string, email: string, id: number | undefined): Promise<boolean> {
    const holder = await findTokenHolder(apiToken);
    if (holder !== undefined) return holder !== id;
    const newHolder = tokenHolders.get(apiToken) ?? email;
    tokenHolders.set(apiToken, newHolder);
    return newHolder !== email;
  }
  return async (incoming, merge) => {
    const { email, apiToken } = incoming.user;
    const id = await findUserId(email);
    const merged = id !== undefined || emails.has(email);
    if (merged && !merge) return { outcome: "email_taken" };
    emails.add(email);
    const tokenTaken = apiToken !== null && (await isTokenTaken(apiToken, email, id));
    const missingParts = missingOf(incoming, { merged, tokenTaken });
    const record = { sourceId: incoming.sourceId, id: noId, run: "", missingParts, related: noRelated };
    return { outcome: "imported", imported: { ...record, accountExists: true } };
  };
}

async function readFiles({ push }: IncomingPush): Promise<PushOutcome> {
  let fileBytes = 0;
  for (const file of push.open?.files ?? []) {
    for await (const chunk of file.content) fileBytes += chunk.length;
  }
  return { outcome: "imported", fileBytes };
}
