import type { ReadConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

const userByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const holderOfToken = sql<[digest: Buffer], { userId: number }>(
  "SELECT user_id AS userId FROM api_tokens WHERE digest = ?",
);
const pushByDigest = sql<[tokenDigest: Buffer], { id: number }>("SELECT id FROM pushes WHERE token_digest = ?");
const style = sql<[], { content: Buffer }>("SELECT content FROM theme_parts WHERE name = 'style'");

export type Conflicts = ReturnType<typeof createConflicts>;

/** Finds what is here already and conflicts with a row of the source, for a dry run. */
export function createConflicts(connection: ReadConnection) {
  return {
    findUserId: async (email: string) => (await connection.one(userByEmail, email))?.id,
    findTokenHolder: async (digest: Buffer) => (await connection.one(holderOfToken, digest))?.userId,
    isLinkTaken: async (tokenDigest: Buffer) => (await connection.one(pushByDigest, tokenDigest)) !== undefined,
    findStyleSheet: async () => (await connection.one(style))?.content,
  };
}
