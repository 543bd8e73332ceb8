import type { Database } from "../../db/sqlite.ts";
import type { ApiToken, User } from "../account.ts";
import { countedIds } from "./counted-ids.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

export interface TokenStore {
  /** undefined: `inUseMax` are in use. Revoked ones beyond the newest `revokedKeptMax` are forgotten. */
  insertToken(token: {
    userId: number;
    name: string;
    digest: Buffer;
    now: number;
    inUseMax: number;
    revokedKeptMax: number;
  }): Promise<ApiToken | undefined>;
  listTokens(userId: number): ApiToken[];
  revokeToken(userId: number, tokenId: number, now: number): Promise<boolean>;
  /** Never a revoked one, nor one of a disabled user. */
  findToken(digest: Buffer): { tokenId: number; lastUsedAt: number | null; user: User } | undefined;
  recordTokenUse(tokenId: number, now: number): Promise<void>;
}

interface TokenRow {
  id: number;
  name: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

function toToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

export function createTokenStore(db: Database): TokenStore {
  const nextId = countedIds(db);
  const inUse = db.writer.prepare<[number], { count: number }>(
    "SELECT count(*) AS count FROM api_tokens WHERE user_id = ? AND revoked_at IS NULL",
  );
  const forget = db.writer.prepare<[number, number]>(
    `DELETE FROM api_tokens WHERE id IN
       (SELECT id FROM api_tokens WHERE user_id = ? AND revoked_at IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?)`,
  );
  const insert = db.writer.prepare<[number, number, string, Buffer, number], TokenRow>(
    `INSERT INTO api_tokens (id, user_id, name, digest, created_at) VALUES (?, ?, ?, ?, ?)
     RETURNING id, name, created_at, last_used_at, revoked_at`,
  );
  const list = db.reader.prepare<[number], TokenRow>(
    "SELECT id, name, created_at, last_used_at, revoked_at FROM api_tokens WHERE user_id = ? ORDER BY id DESC",
  );
  const revoke = db.writer.prepare<[number, number, number]>(
    "UPDATE api_tokens SET revoked_at = ? WHERE id = ? AND user_id = ? AND revoked_at IS NULL",
  );
  const find = db.reader.prepare<[Buffer], UserRow & { token_id: number; last_used_at: number | null }>(
    `SELECT ${userColumns}, api_tokens.id AS token_id, last_used_at
     FROM api_tokens JOIN users ON users.id = user_id WHERE digest = ? AND revoked_at IS NULL AND disabled_at IS NULL`,
  );
  const recordUse = db.writer.prepare<[number, number]>("UPDATE api_tokens SET last_used_at = ? WHERE id = ?");
  return {
    insertToken: ({ userId, name, digest, now, inUseMax, revokedKeptMax }) =>
      db.write(() => {
        if ((inUse.get(userId)?.count ?? 0) >= inUseMax) return undefined;
        forget.run(userId, revokedKeptMax);
        const row = insert.get(nextId("api_tokens"), userId, name, digest, now);
        if (row === undefined) throw new Error("The API token was not stored.");
        return toToken(row);
      }),
    listTokens: (userId) => list.all(userId).map(toToken),
    revokeToken: (userId, tokenId, now) => db.write(() => revoke.run(now, tokenId, userId).changes === 1),
    findToken(digest) {
      const row = find.get(digest);
      return row === undefined ? undefined : { tokenId: row.token_id, lastUsedAt: row.last_used_at, user: toUser(row) };
    },
    recordTokenUse: (tokenId, now) => db.write(() => void recordUse.run(now, tokenId)),
  };
}
