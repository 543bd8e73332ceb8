import type { Reading } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";

/** What stands in the way of an import, for a run that writes nothing. */
export interface Present {
  isEmailTaken(email: string): Promise<boolean>;
  isLinkTaken(tokenDigest: Buffer): Promise<boolean>;
  findStyle(): Promise<Buffer | undefined>;
}

const userByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const pushByDigest = sql<[tokenDigest: Buffer], { id: number }>("SELECT id FROM pushes WHERE token_digest = ?");
const style = sql<[], { content: Buffer }>("SELECT content FROM branding WHERE name = 'style'");

export function createPresent(reading: Reading): Present {
  return {
    isEmailTaken: async (email) => (await reading.one(userByEmail, email)) !== undefined,
    isLinkTaken: async (tokenDigest) => (await reading.one(pushByDigest, tokenDigest)) !== undefined,
    findStyle: async () => (await reading.one(style))?.content,
  };
}
