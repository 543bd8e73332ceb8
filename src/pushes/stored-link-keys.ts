import type { Random } from "../base/random.ts";
import { RecentEntries } from "../base/recent-entries.ts";
import type { Keyring } from "../crypto/keyring.ts";
import { keyBytes } from "../crypto/sodium.ts";
import { createStoredLinkKey, type StoredLinkKey } from "../crypto/stored-link-key.ts";
import type { Database, ReadConnection } from "../database/database.ts";
import { destroyLinkSecret, findLinkSecret, insertLinkSecret } from "./store/link-secrets.ts";
import { linkSecrets } from "./store/tables.ts";

/** The key of the stored links of an account, with what proves in a statement that it has not been replaced. */
export interface AccountStoredLinkKey extends StoredLinkKey {
  readonly userId: number;
  readonly secretId: number;
}

const rowOf = (userId: number) => ({ id: userId, ownerId: userId });

/** @returns undefined: the account has never stored a link. @throws Error when its secret does not open. */
export async function findStoredLinkKey(
  connection: ReadConnection,
  keyring: Keyring,
  userId: number,
): Promise<AccountStoredLinkKey | undefined> {
  const found = await findLinkSecret(connection, userId);
  if (found === undefined) return undefined;
  const secret = keyring.open(linkSecrets.seals.linkSecret, rowOf(userId), found.sealed);
  if (secret === undefined) throw new Error(`The link secret of user ${userId} does not open.`);
  return { ...createStoredLinkKey(secret), userId, secretId: found.id };
}

const rememberedMax = 10_000;
/** How often a secret may be replaced while something is sealed under it. */
const attemptsMax = 5;

export type StoredLinkKeys = ReturnType<typeof createStoredLinkKeys>;

/**
 * The keys of stored links. An account's link secret is drawn when it first stores a link, and overwritten when the account may
 * have come into other hands: stored links and queued emails with links are then lost, links that were handed out still open.
 */
export function createStoredLinkKeys({ db, keyring, random }: { db: Database; keyring: Keyring; random: Random }) {
  /** Only for sealing: the statement that writes what was sealed finds out whether the key was replaced. */
  const remembered = new RecentEntries<number, AccountStoredLinkKey>({
    max: rememberedMax,
    periodMs: Number.POSITIVE_INFINITY,
  });

  /** Under way, by user: concurrent first links of an account write one secret, instead of conflicting with each other. */
  const draws = new Map<number, Promise<void>>();

  const find = (userId: number) => findStoredLinkKey(db.read, keyring, userId);

  async function draw(userId: number): Promise<void> {
    const sealed = keyring.seal(linkSecrets.seals.linkSecret, rowOf(userId), random.bytes(keyBytes));
    await db.write((tx) => insertLinkSecret(tx, userId, sealed));
  }

  async function findOrDraw(userId: number): Promise<AccountStoredLinkKey> {
    const found = await find(userId);
    if (found !== undefined) return found;
    const drawing = draws.get(userId) ?? draw(userId).finally(() => draws.delete(userId));
    draws.set(userId, drawing);
    await drawing;
    const drawn = await find(userId);
    if (drawn === undefined) throw new Error(`The link secret of user ${userId} was not written.`);
    return drawn;
  }

  return {
    /** For opening stored links: always reads the current secret. @returns undefined: the account has never stored a link. */
    find,
    /** For sealing without a check at the write. Draws the account's secret if it has none. */
    findOrDraw,
    /**
     * Seals under the account's key and writes the result. The key is remembered, so that this costs no read.
     * @param write its statement contains `isCurrentSecret`. Called again, with the new key, after "link_secret_replaced".
     */
    async sealing<Outcome>(
      userId: number,
      write: (key: AccountStoredLinkKey) => Promise<Outcome>,
    ): Promise<Exclude<Outcome, "link_secret_replaced">> {
      for (let attempts = 0; attempts < attemptsMax; attempts += 1) {
        const key = remembered.get(userId) ?? (await findOrDraw(userId));
        const outcome: Outcome | "link_secret_replaced" = await write(key);
        if (outcome === "link_secret_replaced") {
          remembered.delete(userId);
          continue;
        }
        remembered.put(userId, key, 0);
        return outcome as Exclude<Outcome, "link_secret_replaced">;
      }
      throw new Error(`The link secret of user ${userId} was replaced ${attemptsMax} times during one request.`);
    },
    /** For the transaction that may give the account into other hands. Its next stored link draws another secret. */
    destroy: destroyLinkSecret,
  };
}
