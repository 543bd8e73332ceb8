import type { Database } from "../../db/sqlite.ts";
import { type ApiToken, allScopes, type Scope, type User } from "../account.ts";
import { countedIds } from "./counted-ids.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

/** Runs inside the unit that made or revoked the token. */
type Notify = (user: Pick<User, "email" | "language">, tokenName: string) => void;

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

export interface TokenStore {
  /** undefined: `inUseMax` are in use. Revoked and expired ones beyond the newest `endedKeptMax` are forgotten. */
  insertToken(token: NewToken): Promise<ApiToken | undefined>;
  listTokens(userId: number): ApiToken[];
  /** Those in use at `now` first. */
  listTokensFrom(asked: { userId: number; now: number; skipped: number; tokensMax: number }): ApiToken[];
  revokeToken(asked: { userId: number; tokenId: number; now: number; onRevoked: Notify }): Promise<boolean>;
  /** Never a revoked one, nor one of a disabled user. Whether it has expired is for the caller to see. */
  findToken(digest: Buffer): FoundToken | undefined;
  recordTokenUse(tokenId: number, now: number, address: string): Promise<void>;
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
function scopesOf(words: string | null): readonly Scope[] {
  const given = words?.split(" ");
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

export function createTokenStore(db: Database): TokenStore {
  const nextId = countedIds(db);
  const inUse = db.writer.prepare<[number, number], { count: number }>(
    `SELECT count(*) AS count FROM api_tokens
     WHERE user_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
  );
  const forget = db.writer.prepare<[number, number, number]>(
    `DELETE FROM api_tokens WHERE id IN
       (SELECT id FROM api_tokens WHERE user_id = ? AND (revoked_at IS NOT NULL OR expires_at <= ?)
        ORDER BY id DESC LIMIT -1 OFFSET ?)`,
  );
  const insert = db.writer.prepare<
    [number, number, string, Buffer, string, string | null, number | null, number],
    TokenRow
  >(
    `INSERT INTO api_tokens (id, user_id, name, digest, scopes, networks, expires_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${columns}`,
  );
  const list = db.reader.prepare<[number], TokenRow>(
    `SELECT ${columns} FROM api_tokens WHERE user_id = ? ORDER BY id DESC`,
  );
  const listFrom = db.reader.prepare<[number, number, number, number], TokenRow>(
    `SELECT ${columns} FROM api_tokens WHERE user_id = ?
     ORDER BY revoked_at IS NOT NULL OR coalesce(expires_at <= ?, 0), id DESC LIMIT ? OFFSET ?`,
  );
  const revoke = db.writer.prepare<[number, number, number], { name: string }>(
    "UPDATE api_tokens SET revoked_at = ? WHERE id = ? AND user_id = ? AND revoked_at IS NULL RETURNING name",
  );
  const reader = db.writer.prepare<[number], Pick<User, "email" | "language">>(
    "SELECT email, language FROM users WHERE id = ?",
  );
  const find = db.reader.prepare<[Buffer], FoundRow>(
    `SELECT ${userColumns}, api_tokens.id AS token_id, scopes, networks, expires_at, last_used_at
     FROM api_tokens JOIN users ON users.id = user_id WHERE digest = ? AND revoked_at IS NULL AND disabled_at IS NULL`,
  );
  const recordUse = db.writer.prepare<[number, string, number]>(
    "UPDATE api_tokens SET last_used_at = ?, last_used_address = ? WHERE id = ?",
  );

  function tell(userId: number, tokenName: string, notify: Notify): void {
    const user = reader.get(userId);
    if (user !== undefined) notify(user, tokenName);
  }

  return {
    insertToken: ({ userId, name, digest, scopes, networks, expiresAt, now, inUseMax, endedKeptMax, onMade }) =>
      db.write(() => {
        if ((inUse.get(userId, now)?.count ?? 0) >= inUseMax) return undefined;
        forget.run(userId, now, endedKeptMax);
        const within = networks.length === 0 ? null : networks.join(",");
        const id = nextId("api_tokens");
        const row = insert.get(id, userId, name, digest, scopes.join(" "), within, expiresAt, now);
        if (row === undefined) throw new Error("The API token was not stored.");
        tell(userId, name, onMade);
        return toToken(row);
      }),
    listTokens: (userId) => list.all(userId).map(toToken),
    listTokensFrom: ({ userId, now, skipped, tokensMax }) => listFrom.all(userId, now, tokensMax, skipped).map(toToken),
    revokeToken: ({ userId, tokenId, now, onRevoked }) =>
      db.write(() => {
        const revoked = revoke.get(now, tokenId, userId);
        if (revoked === undefined) return false;
        tell(userId, revoked.name, onRevoked);
        return true;
      }),
    findToken(digest) {
      const row = find.get(digest);
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
    recordTokenUse: (tokenId, now, address) => db.write(() => void recordUse.run(now, address, tokenId)),
  };
}
