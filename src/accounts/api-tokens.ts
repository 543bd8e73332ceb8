import { type Clock, minuteMs } from "../base/clock.ts";
import { invalidFields } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { digest, equalDigests } from "../crypto/digests.ts";
import { makeOpaqueToken } from "../crypto/tokens.ts";
import type { ApiToken, User } from "./account.ts";
import type { AccountsDeps } from "./accounts.ts";
import { hasCharacters } from "./character-count.ts";
import { normalizeEmail } from "./email.ts";
import { createLastUse } from "./last-use.ts";
import type { TokenStore } from "./sqlite/tokens.ts";

/** Says what it is to people and to scanners that look for secrets in code. */
const prefix = "sp_";
const tokenShape = /^sp_[A-Za-z0-9_-]{43}$/;
const nameCharactersMax = 255;
const inUseMax = 200;
const revokedKeptMax = 200;

interface Deps {
  readonly store: TokenStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly onUseNotRecorded: AccountsDeps["onUseNotRecorded"];
}

export interface ApiTokens {
  /** @throws AppError invalid_fields on `name` (1 to 255 characters, or too many tokens are in use). */
  createToken(userId: number, name: string): Promise<{ token: string; apiToken: ApiToken }>;
  /** Newest first; revoked ones stay listed, the newest 200 of them. */
  listTokens(userId: number): Promise<readonly ApiToken[]>;
  /** false: no such token of that user, or revoked already. */
  revokeToken(userId: number, tokenId: number): Promise<boolean>;
  /** `email`: when given (X-User-Email), the token must be that user's. */
  authenticateToken(token: string, email?: string): Promise<User | undefined>;
}

export function createApiTokens({ store, clock, random, onUseNotRecorded }: Deps): ApiTokens {
  const lastUse = createLastUse<number>({
    intervalMs: minuteMs,
    record: (tokenId, now) => store.recordTokenUse(tokenId, now),
    onFailure: (error) => onUseNotRecorded("api_token", error),
  });

  return {
    async createToken(userId, name) {
      const label = name.trim();
      if (!hasCharacters(label, 1, nameCharactersMax) || /\p{Cc}/u.test(label)) {
        throw invalidFields({
          name: [`A name has 1 to ${nameCharactersMax} characters, none of them a control character.`],
        });
      }
      const token = makeOpaqueToken(random, prefix);
      const apiToken = await store.insertToken({
        userId,
        name: label,
        digest: digest(token),
        now: clock.now(),
        inUseMax,
        revokedKeptMax,
      });
      if (apiToken === undefined) {
        throw invalidFields({ name: [`${inUseMax} tokens are in use: revoke one first.`] });
      }
      return { token, apiToken };
    },

    listTokens: async (userId) => store.listTokens(userId),

    revokeToken: (userId, tokenId) => store.revokeToken(userId, tokenId, clock.now()),

    async authenticateToken(token, email) {
      if (!tokenShape.test(token)) return undefined;
      const found = store.findToken(digest(token));
      if (found === undefined) return undefined;
      if (email !== undefined) {
        const address = normalizeEmail(email);
        if (address === undefined || !equalDigests(digest(address), digest(found.user.email))) return undefined;
      }
      lastUse.note(found.tokenId, found.lastUsedAt, clock.now());
      return found.user;
    },
  };
}
