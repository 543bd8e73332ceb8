import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { type ApiToken, allScopes, type Scope, type User } from "../account.ts";
import { allBeyond, nextId, toUser, type UserRow, userColumns } from "./users.ts";

/** Runs inside the transaction that made or revoked the token. */
type Notify = (tx: Transaction, user: Pick<User, "email" | "language">, tokenName: string) => Promise<void>;

export interface NewToken {
  readonly userId: number;
  readonly name: string;
  readonly digest: Buffer;
  readonly scopes: readonly Scope[];
  /** Empty: anywhere. */
  readonly networks: readonly string[];
  readonly expiresAt: number | null;
  readonly now: number;
  readonly inUseMax: number;
  readonly endedKeptMax: number;
  readonly onMade: Notify;
}

export interface FoundToken {
  readonly tokenId: number;
  readonly scopes: readonly Scope[];
  /** null: anywhere. */
  readonly networks: readonly string[] | null;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly user: User;
}

interface TokenRow {
  id: number;
  name: string;
  scopes: string | null;
  networks: string | null;
  expires_at: number | null;
  created_at: number;
  last_used_at: number | null;
  last_used_address: string | null;
  revoked_at: number | null;
}

type FoundRow = UserRow & {
  token_id: number;
  scopes: string | null;
  networks: string | null;
  expires_at: number | null;
  last_used_at: number | null;
};

const columns = "id, name, scopes, networks, expires_at, created_at, last_used_at, last_used_address, revoked_at";

/** null is what tokens from before there were scopes have: all. */
function scopesOf(messages: string | null): readonly Scope[] {
  const given = messages?.split(" ");
  return given === undefined ? allScopes : allScopes.filter((scope) => given.includes(scope));
}

function networksOf(text: string | null): readonly string[] | null {
  return text === null ? null : text.split(",");
}

function toToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    scopes: scopesOf(row.scopes),
    expiresAt: row.expires_at,
    networks: networksOf(row.networks) ?? [],
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    lastUsedAddress: row.last_used_address,
    revokedAt: row.revoked_at,
  };
}

const countInUse = sql<[userId: number, now: number], { count: number }>(
  `SELECT count(*) AS count FROM api_tokens
   WHERE user_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
);
const forgetEnded = sql<[userId: number, now: number, keptMax: number]>(
  `DELETE FROM api_tokens WHERE id IN
     (SELECT id FROM api_tokens WHERE user_id = ? AND (revoked_at IS NOT NULL OR expires_at <= ?)
      ORDER BY id DESC ${allBeyond})`,
);
const insertRow = sql<
  [
    id: number,
    userId: number,
    name: string,
    digest: Buffer,
    scopes: string,
    networks: string | null,
    expiresAt: number | null,
    now: number,
  ],
  TokenRow
>(
  `INSERT INTO api_tokens (id, user_id, name, digest, scopes, networks, expires_at, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${columns}`,
);
const tokensOf = sql<[userId: number], TokenRow>(
  `SELECT ${columns} FROM api_tokens WHERE user_id = ? ORDER BY id DESC`,
);
const tokensFrom = sql<[userId: number, now: number, tokensMax: number, skipped: number], TokenRow>(
  `SELECT ${columns} FROM api_tokens WHERE user_id = ?
   ORDER BY CASE WHEN revoked_at IS NOT NULL OR expires_at <= ? THEN 1 ELSE 0 END, id DESC LIMIT ? OFFSET ?`,
);
const revoke = sql<[now: number, tokenId: number, userId: number], { name: string }>(
  "UPDATE api_tokens SET revoked_at = ? WHERE id = ? AND user_id = ? AND revoked_at IS NULL RETURNING name",
);
const readerOf = sql<[userId: number], Pick<User, "email" | "language">>(
  "SELECT email, language FROM users WHERE id = ?",
);
const byDigest = sql<[digest: Buffer], FoundRow>(
  `SELECT ${userColumns}, api_tokens.id AS token_id, scopes, networks, expires_at, last_used_at
   FROM api_tokens JOIN users ON users.id = user_id WHERE digest = ? AND revoked_at IS NULL AND disabled_at IS NULL`,
);
const recordUse = sql<[now: number, address: string, tokenId: number]>(
  "UPDATE api_tokens SET last_used_at = ?, last_used_address = ? WHERE id = ?",
);

async function tell(tx: Transaction, userId: number, tokenName: string, notify: Notify): Promise<void> {
  const user = await tx.one(readerOf, userId);
  if (user !== undefined) await notify(tx, user, tokenName);
}

/** In a transaction of the accounts' turn. */
async function insert(tx: Transaction, token: NewToken): Promise<ApiToken | undefined> {
  const { userId, name, digest, scopes, networks, expiresAt, now, inUseMax, endedKeptMax, onMade } = token;
  if (((await tx.one(countInUse, userId, now))?.count ?? 0) >= inUseMax) return undefined;
  await tx.run(forgetEnded, userId, now, endedKeptMax);
  const within = networks.length === 0 ? null : networks.join(",");
  const id = await nextId(tx, "api_tokens");
  const row = await tx.one(insertRow, id, userId, name, digest, scopes.join(" "), within, expiresAt, now);
  if (row === undefined) throw new Error("The API token was not stored.");
  await tell(tx, userId, name, onMade);
  return toToken(row);
}

export type TokenStore = ReturnType<typeof createTokenStore>;

export function createTokenStore(db: Database) {
  return {
    /** undefined: `inUseMax` are in use. Revoked and expired ones beyond the newest `endedKeptMax` are forgotten. */
    insertToken: (token: NewToken): Promise<ApiToken | undefined> =>
      db.writeSerialized("accounts", (tx) => insert(tx, token)),
    listTokens: async (userId: number): Promise<ApiToken[]> => (await db.read.all(tokensOf, userId)).map(toToken),
    /** Those in use at `now` first. */
    listTokensFrom: async ({
      userId,
      now,
      skipped,
      tokensMax,
    }: {
      userId: number;
      now: number;
      skipped: number;
      tokensMax: number;
    }): Promise<ApiToken[]> => (await db.read.all(tokensFrom, userId, now, tokensMax, skipped)).map(toToken),
    revokeToken: ({
      userId,
      tokenId,
      now,
      onRevoked,
    }: {
      userId: number;
      tokenId: number;
      now: number;
      onRevoked: Notify;
    }): Promise<boolean> =>
      db.write(async (tx) => {
        const revoked = await tx.one(revoke, now, tokenId, userId);
        if (revoked === undefined) return false;
        await tell(tx, userId, revoked.name, onRevoked);
        return true;
      }),
    /** Never a revoked one, nor one of a disabled user. Whether it has expired is for the caller to see. */
    async findToken(digest: Buffer): Promise<FoundToken | undefined> {
      const row = await db.read.one(byDigest, digest);
      if (row === undefined) return undefined;
      return {
        tokenId: row.token_id,
        scopes: scopesOf(row.scopes),
        networks: networksOf(row.networks),
        expiresAt: row.expires_at,
        lastUsedAt: row.last_used_at,
        user: toUser(row),
      };
    },
    async recordTokenUse(tokenId: number, now: number, address: string): Promise<void> {
      await db.autocommit({ retry: "whenNotExecuted" }).run(recordUse, now, address, tokenId);
    },
  };
}
