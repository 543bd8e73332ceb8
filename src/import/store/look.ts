import type { ReadConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

/** What stands in the way of an import, for a run that writes nothing. */
export interface Present {
  findUserId(email: string): Promise<number | undefined>;
  findTokenHolder(digest: Buffer): Promise<number | undefined>;
  isLinkTaken(tokenDigest: Buffer): Promise<boolean>;
  findStyle(): Promise<Buffer | undefined>;
}

const userByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const holderOfToken = sql<[digest: Buffer], { userId: number }>(
  "SELECT user_id AS userId FROM api_tokens WHERE digest = ?",
);
const pushByDigest = sql<[tokenDigest: Buffer], { id: number }>("SELECT id FROM pushes WHERE token_digest = ?");
const style = sql<[], { content: Buffer }>("SELECT content FROM theme_parts WHERE name = 'style'");

export function createPresent(reading: ReadConnection): Present {
  return {
    findUserId: async (email) => (await reading.one(userByEmail, email))?.id,
    findTokenHolder: async (digest) => (await reading.one(holderOfToken, digest))?.userId,
    isLinkTaken: async (tokenDigest) => (await reading.one(pushByDigest, tokenDigest)) !== undefined,
    findStyle: async () => (await reading.one(style))?.content,
  };
}
