import type { Unit } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";
import { allScopes } from "../account.ts";
import type { AdoptedUser } from "../adopt-user.ts";
import { nextId } from "./counted-ids.ts";

/** All of it in a unit of the accounts' turn. */
export interface AdoptingStore {
  findId(unit: Unit, email: string): Promise<number | undefined>;
  nextUserId(unit: Unit): Promise<number>;
  insertUser(unit: Unit, userId: number, user: AdoptedUser): Promise<void>;
  insertTotp(unit: Unit, userId: number, secretSealed: Buffer, lastStep: number, now: number): Promise<void>;
  insertCodes(unit: Unit, userId: number, keySealed: Buffer, digests: readonly Buffer[]): Promise<void>;
  /** @returns false when somebody else has a token of this digest. */
  insertToken(unit: Unit, userId: number, digest: Buffer, now: number): Promise<boolean>;
}

const idByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const insertRow = sql<
  [
    id: number,
    email: string,
    passwordHash: string,
    admin: number,
    createdAt: number,
    updatedAt: number,
    confirmedAt: number | null,
    language: string | null,
    lastSignedInAt: number | null,
  ]
>(
  `INSERT INTO users (id, email, password_hash, admin, created_at, updated_at, confirmed_at, language, last_signed_in_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const insertTotpSecret = sql<[userId: number, secretSealed: Buffer, lastStep: number, confirmedAt: number]>(
  "INSERT INTO totp_factors (user_id, secret_sealed, last_step, confirmed_at) VALUES (?, ?, ?, ?)",
);
const insertCodeKey = sql<[userId: number, keySealed: Buffer]>(
  "INSERT INTO imported_code_keys (user_id, key_sealed) VALUES (?, ?)",
);
const insertCode = sql<[userId: number, digest: Buffer]>(
  "INSERT INTO backup_codes (user_id, digest) VALUES (?, ?) ON CONFLICT (user_id, digest) DO NOTHING",
);
const insertApiToken = sql<
  [id: number, userId: number, name: string, digest: Buffer, scopes: string, createdAt: number]
>(
  `INSERT INTO api_tokens (id, user_id, name, digest, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)
   ON CONFLICT (digest) DO NOTHING`,
);

const holderOf = sql<[digest: Buffer], { userId: number }>("SELECT user_id AS userId FROM api_tokens WHERE digest = ?");

export function createAdoptingStore(tokenName: string): AdoptingStore {
  return {
    findId: async (unit, email) => (await unit.one(idByEmail, email))?.id,
    nextUserId: (unit) => nextId(unit, "users"),
    async insertUser(unit, userId, user) {
      const { email, passwordHash, admin, createdAt, updatedAt, confirmedAt, language, lastSignedInAt } = user;
      const flag = admin ? 1 : 0;
      await unit.run(
        insertRow,
        ...([userId, email, passwordHash, flag, createdAt, updatedAt, confirmedAt, language, lastSignedInAt] as const),
      );
    },
    async insertTotp(unit, userId, secretSealed, lastStep, now) {
      await unit.run(insertTotpSecret, userId, secretSealed, lastStep, now);
    },
    async insertCodes(unit, userId, keySealed, digests) {
      await unit.run(insertCodeKey, userId, keySealed);
      for (const digest of digests) await unit.run(insertCode, userId, digest);
    },
    async insertToken(unit, userId, digest, now) {
      const id = await nextId(unit, "api_tokens");
      await unit.run(insertApiToken, id, userId, tokenName, digest, allScopes.join(" "), now);
      return (await unit.one(holderOf, digest))?.userId === userId;
    },
  };
}
