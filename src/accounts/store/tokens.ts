import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, InTransaction, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { ApiToken, Scope, User } from "../account.ts";
import { apiTokens } from "./tables.ts";
import {
  allBeyond,
  findUserIn,
  lastSignOnIn,
  markUsed,
  nextId,
  openTokenUser,
  type UserRow,
  userColumns,
} from "./users.ts";

/** Runs in the transaction that creates or revokes the token. */
type Notify = (tx: Transaction, user: Pick<User, "email" | "language">, tokenName: string) => Promise<void>;

export interface NewToken {
  readonly userId: number;
  readonly name: string;
  readonly digest: Buffer;
  readonly scopes: readonly Scope[];
  /** Empty: any address. */
  readonly networks: readonly string[];
  readonly expiresAt: number | null;
  readonly now: number;
  readonly inUseMax: number;
  readonly endedKeptMax: number;
  readonly onMade: Notify;
}

/** Includes revoked tokens, which have no MAC any more. */
const listedTokens = apiTokens.unverified(
  "id",
  "name",
  "scopes",
  "networks",
  "createdAt",
  "expiresAt",
  "revokedAt",
  "lastUsedAt",
  "lastUsedAddress",
);

/** Read together with the token's user. */
const reading = apiTokens.reading("lastUsedAt");

export interface FoundToken extends Pick<ApiToken, "scopes" | "networks" | "expiresAt" | "lastUsedAt"> {
  readonly tokenId: number;
  readonly user: User;
  /** The user's last single sign-on; null: never. */
  readonly lastSignedOnAt: number | null;
}

const countInUse = sql<[userId: number, now: number], { count: number }>(
  `SELECT count(*) AS count FROM api_tokens
   WHERE user_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
);
const removeEnded = sql<[userId: number, now: number, keptMax: number]>(
  `DELETE FROM api_tokens WHERE id IN
     (SELECT id FROM api_tokens WHERE user_id = ? AND (revoked_at IS NOT NULL OR expires_at <= ?)
      ORDER BY id DESC ${allBeyond})`,
);
const insertToken = apiTokens.insertion();
const tokensOf = listedTokens.select<[userId: number]>("WHERE user_id = ? ORDER BY id DESC");
const tokenPage = listedTokens.select<[userId: number, now: number, tokensMax: number, skipped: number]>(
  `WHERE user_id = ?
   ORDER BY CASE WHEN revoked_at IS NOT NULL OR expires_at <= ? THEN 1 ELSE 0 END, id DESC LIMIT ? OFFSET ?`,
);
const revoke = sql<[now: number, tokenId: number, userId: number], { name: string }>(
  "UPDATE api_tokens SET revoked_at = ?, mac = NULL WHERE id = ? AND user_id = ? AND revoked_at IS NULL RETURNING name",
);
const byDigest = sql<[digest: Buffer], UserRow & UnopenedRow<typeof reading>>(
  `SELECT ${userColumns}, ${reading.selectList}
   FROM api_tokens JOIN users ON users.id = user_id WHERE digest = ? AND revoked_at IS NULL AND disabled_at IS NULL`,
);
const recordUse = sql<[now: number, address: string, tokenId: number]>(
  "UPDATE api_tokens SET last_used_at = ?, last_used_address = ? WHERE id = ?",
);

async function notifyOwner(
  tx: Transaction,
  access: AccessKeys,
  { userId, tokenName, notify }: { readonly userId: number; readonly tokenName: string; readonly notify: Notify },
): Promise<void> {
  const user = await findUserIn(tx, access, userId);
  if (user !== undefined) await notify(tx, user, tokenName);
}

/** Requires the accounts lock. */
async function insert(tx: Transaction, access: AccessKeys, token: NewToken): Promise<ApiToken | undefined> {
  const { userId, name, digest, scopes, networks, expiresAt, now, inUseMax, endedKeptMax, onMade } = token;
  if (((await tx.one(countInUse, userId, now))?.count ?? 0) >= inUseMax) return undefined;
  await tx.run(removeEnded, userId, now, endedKeptMax);
  const id = await nextId(tx, "api_tokens");
  await insertToken(tx, access, { id, userId, name, digest, scopes, networks, createdAt: now, expiresAt });
  await markUsed(tx, access, userId);
  await notifyOwner(tx, access, { userId, tokenName: name, notify: onMade });
  const unused = { lastUsedAt: null, lastUsedAddress: null, revokedAt: null };
  return { id, name, scopes, networks, createdAt: now, expiresAt, ...unused };
}

export type TokenStore = ReturnType<typeof createTokenStore>;

export function createTokenStore(db: Database, access: AccessKeys) {
  const autocommit = db.autocommit({ retry: "whenNotExecuted" });
  return {
    /**
     * Also removes revoked and expired tokens beyond the newest `endedKeptMax`.
     * @returns undefined: `inUseMax` tokens are in use.
     */
    insertToken: (token: NewToken): Promise<ApiToken | undefined> =>
      db.writeSerialized("accounts", (tx) => insert(tx, access, token)),

    /** As `insertToken`, in a transaction with the accounts lock. */
    insert: (tx: Transaction, token: NewToken) => insert(tx, access, token),

    countInUse: async (userId: number, now: number): Promise<number> =>
      (await db.read.one(countInUse, userId, now))?.count ?? 0,

    listTokens: async (userId: number): Promise<ApiToken[]> =>
      (await db.read.all(tokensOf, userId)).map((row) => listedTokens.decode(row)),

    /** Tokens in use at `now` come first. */
    listTokensFrom: async (asked: {
      userId: number;
      now: number;
      skipped: number;
      tokensMax: number;
    }): Promise<ApiToken[]> => {
      const rows = await db.read.all(tokenPage, asked.userId, asked.now, asked.tokensMax, asked.skipped);
      return rows.map((row) => listedTokens.decode(row));
    },

    /** @returns false: the user has no such token, or it was revoked before. */
    revokeToken: (asked: {
      userId: number;
      tokenId: number;
      now: number;
      onRevoked: Notify;
      together: ((tokenName: string) => InTransaction) | undefined;
    }): Promise<boolean> =>
      db.write(async (tx) => {
        const { userId, tokenId, now, onRevoked, together } = asked;
        const revoked = await tx.one(revoke, now, tokenId, userId);
        if (revoked === undefined) return false;
        await notifyOwner(tx, access, { userId, tokenName: revoked.name, notify: onRevoked });
        await together?.(revoked.name)(tx);
        return true;
      }),

    /** The caller checks the expiry. @returns undefined also for a revoked token and one of a disabled user. */
    async findToken(digest: Buffer): Promise<FoundToken | undefined> {
      const row = await db.read.one(byDigest, digest);
      const token = reading.open(access, row);
      const user = openTokenUser(access, row);
      // The MAC of the row names the user, and the join could name another one.
      if (token === undefined || user?.id !== token.userId || user.disabledAt !== null) return undefined;
      const { id, scopes, networks, expiresAt, lastUsedAt } = token;
      const lastSignedOnAt = lastSignOnIn(access, row);
      return { tokenId: id, scopes, networks, expiresAt, lastUsedAt, user, lastSignedOnAt };
    },

    async recordTokenUse(tokenId: number, now: number, address: string): Promise<void> {
      await autocommit.run(recordUse, now, address, tokenId);
    },
  };
}
