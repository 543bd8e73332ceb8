import { AccessKeys } from "../crypto/access-keys.ts";
import { deriveKey } from "../crypto/sodium.ts";
import { createUrlTokens } from "../crypto/url-token.ts";
import type { ReadConnection } from "../database/database.ts";
import { isLinkTaken } from "../pushes/store/find-link.ts";
import { type Destination, identitiesKeyLabel, missingOf } from "./domain-destination.ts";
import { noRelated } from "./source-values.ts";
import { conflicts, createImportedRows } from "./store/imported-rows.ts";
import type { StoredData } from "./stored-import.ts";

const noKey = Buffer.alloc(32);

/** A server without data. Nothing conflicts. */
export const nothingStored: Omit<StoredData, "keyring"> = {
  read: { one: async () => undefined, all: async () => [] },
  access: new AccessKeys(noKey, () => undefined),
  indexSecret: noKey,
};

/** Does everything that a run does, except writing: it reads files to their end and looks for conflicts. */
export function createDryDestination({ read, access, indexSecret }: typeof nothingStored, source: string): Destination {
  const urlTokens = createUrlTokens(indexSecret);
  return {
    run: undefined,
    rows: createImportedRows(read, access, source),
    identitiesKey: deriveKey(indexSecret, identitiesKeyLabel),
    importUser: createImportUser(read, access),
    async importPush({ push }) {
      if (await isLinkTaken(read, urlTokens.addressOf(push.urlToken))) return { outcome: "link_taken" };
      let fileBytes = 0;
      for (const file of push.open?.files ?? []) {
        for await (const chunk of file.content) fileBytes += chunk.length;
      }
      return { outcome: "imported", fileBytes };
    },
    findStyleSheet: () => conflicts.findStyleSheet(read),
    importStyleSheet: async () => true,
  };
}

/** Users conflict with existing accounts, and with users that a run would have imported before them. */
function createImportUser(read: ReadConnection, access: AccessKeys): Destination["importUser"] {
  const emails = new Set<string>();
  const tokenHolders = new Map<string, string>();
  async function isTokenTaken(apiToken: string, email: string, id: number | undefined): Promise<boolean> {
    const holder = await conflicts.findTokenHolder(read, access.digest("api_token", apiToken));
    if (holder !== undefined) return holder !== id;
    const newHolder = tokenHolders.get(apiToken) ?? email;
    tokenHolders.set(apiToken, newHolder);
    return newHolder !== email;
  }
  return async (incoming, merge) => {
    const { email, apiToken } = incoming.user;
    const id = await conflicts.findUserId(read, email);
    const merged = id !== undefined || emails.has(email);
    if (merged && !merge) return { outcome: "email_taken" };
    emails.add(email);
    const tokenTaken = apiToken !== null && (await isTokenTaken(apiToken, email, id));
    const missingParts = missingOf(incoming, { merged, tokenTaken });
    // A dry run assigns no ids.
    const ids = { sourceId: incoming.sourceId, id: 0, run: "" };
    return { outcome: "imported", imported: { ...ids, missingParts, related: noRelated, accountExists: true } };
  };
}
