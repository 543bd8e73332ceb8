import { type Clock, dayMs, minuteMs } from "../../base/clock.ts";
import { normalizeEmail } from "../../base/email.ts";
import { type FieldProblems, invalidFields } from "../../base/errors.ts";
import { isWithin, networkText, parseAddress, parseNetwork, parseNetworks } from "../../base/networks.ts";
import type { Random } from "../../base/random.ts";
import { digest, equalDigests } from "../../crypto/digests.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { Transaction } from "../../database/database.ts";
import type { NoticeName } from "../../mail/email.ts";
import type { Outbox } from "../../mail/outbox.ts";
import { type ApiToken, allScopes, type ClientContext, type Scope, type User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import { createLastUse } from "../last-use.ts";
import type { FoundToken, TokenStore } from "../store/tokens.ts";
import { hasCharacters } from "../text.ts";

/** Says what it is to people and to scanners that look for secrets in code. */
const prefix = "sp_";
/** Imported tokens have another shape than ours. What cannot be either is not looked up. */
const tokenShape = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether a text can be an API token at all. */
export function isApiToken(text: string): boolean {
  return tokenShape.test(text);
}

export const tokenLimits = { nameCharactersMax: 255, daysMax: 3_650, networksMax: 50, inUseMax: 1_000 } as const;
const endedKeptMax = 200;
const perPage = 50;

/** Whose commands are not asked for over the network. */
const nowhere: Pick<ClientContext, "address" | "userAgent"> = { address: "", userAgent: "" };

interface Deps {
  readonly store: TokenStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly outbox: Outbox;
  readonly onUseNotRecorded: AccountsDeps["onUseNotRecorded"];
}

/** What a new token may do, how long and from where. */
export interface TokenLimits {
  /** At least one; not given: all. */
  readonly scopes?: readonly Scope[];
  /** 1 to 3650; null or not given: it has no end. */
  readonly expiresInDays?: number | null;
  /** Addresses and CIDR networks, at most 50; empty or not given: anywhere. */
  readonly networks?: readonly string[];
}

/** Who asks by a token, and what for. */
export interface TokenHolder {
  readonly user: User;
  readonly scopes: readonly Scope[];
}

export function createApiTokens({ store, clock, random, outbox, onUseNotRecorded }: Deps) {
  const lastUse = createLastUse<number, [address: string]>({
    intervalMs: minuteMs,
    record: (tokenId, now, address) => store.recordTokenUse(tokenId, now, address),
    onFailure: (error) => onUseNotRecorded("api_token", error),
  });

  function notify(notice: NoticeName, at: number, client: Pick<ClientContext, "address" | "userAgent">) {
    const { address, userAgent } = client;
    return (tx: Transaction, user: Pick<User, "email" | "language">, subject: string) =>
      outbox.put(
        tx,
        {
          to: user.email,
          language: user.language,
          content: { kind: "notice", notice, subject, at, address, userAgent },
        },
        at,
      );
  }

  return {
    /**
     * Its user is told by mail. @param place where the user asks from; not given: an operator does.
     * @throws AppError invalid_fields on `name` (1 to 255 characters), `scopes`, `expiresInDays`, `networks`, or on
     * `tokens` (too many are in use).
     */
    async createToken(
      userId: number,
      name: string,
      limits: TokenLimits = {},
      client: Pick<ClientContext, "address" | "userAgent"> = nowhere,
    ): Promise<{ token: string; apiToken: ApiToken }> {
      const wanted = { name: name.trim(), scopes: allScopes, expiresInDays: null, networks: [], ...limits };
      const problems = problemsOf(wanted);
      if (Object.keys(problems).length > 0) throw invalidFields(problems);
      const token = makeOpaqueToken(random, prefix);
      const now = clock.now();
      const apiToken = await store.insertToken({
        userId,
        name: wanted.name,
        digest: digest(token),
        scopes: allScopes.filter((scope) => wanted.scopes.includes(scope)),
        networks: [...new Set(parseNetworks(wanted.networks).map(networkText))],
        expiresAt: wanted.expiresInDays === null ? null : now + wanted.expiresInDays * dayMs,
        now,
        inUseMax: tokenLimits.inUseMax,
        endedKeptMax,
        onMade: notify("token_made", now, client),
      });
      if (apiToken === undefined) {
        throw invalidFields({ tokens: [`${tokenLimits.inUseMax} tokens are in use: revoke one first.`] });
      }
      return { token, apiToken };
    },

    /** Newest first; revoked and expired ones stay listed, the newest 200 of them. */
    listTokens: (userId: number): Promise<readonly ApiToken[]> => store.listTokens(userId),

    /** 50 of them, those in use first. @param page from 1. */
    async listTokenPage(userId: number, page: number): Promise<{ tokens: readonly ApiToken[]; hasMore: boolean }> {
      const skipped = (page - 1) * perPage;
      const found = await store.listTokensFrom({ userId, now: clock.now(), skipped, tokensMax: perPage + 1 });
      return { tokens: found.slice(0, perPage), hasMore: found.length > perPage };
    },

    /** Its user is told by mail. false: no such token of that user, or revoked already. @param place as in `createToken`. */
    async revokeToken(
      userId: number,
      tokenId: number,
      client: Pick<ClientContext, "address" | "userAgent"> = nowhere,
    ): Promise<boolean> {
      if (!Number.isSafeInteger(tokenId)) return false;
      const now = clock.now();
      return store.revokeToken({ userId, tokenId, now, onRevoked: notify("token_revoked", now, client) });
    },

    /**
     * undefined: unknown, revoked, expired, of a disabled user, or not to be used from this address.
     * @param email when given (X-User-Email), the token must be that user's.
     */
    async authenticateToken({
      token,
      email,
      address,
    }: {
      token: string;
      email?: string;
      address: string;
    }): Promise<TokenHolder | undefined> {
      if (!isApiToken(token)) return undefined;
      const now = clock.now();
      const found = await store.findToken(digest(token));
      if (found === undefined || !mayBeUsed(found, now, address)) return undefined;
      if (email !== undefined && !isEmailOf(found.user, email)) return undefined;
      lastUse.note(found.tokenId, found.lastUsedAt, now, address);
      return { user: found.user, scopes: found.scopes };
    },
  };
}

function problemsOf(wanted: Required<TokenLimits> & { readonly name: string }): FieldProblems {
  const { name, scopes, expiresInDays, networks } = wanted;
  const { nameCharactersMax, daysMax, networksMax } = tokenLimits;
  const named = hasCharacters(name, 1, nameCharactersMax) && !/\p{Cc}/u.test(name);
  const scoped = scopes.length > 0 && scopes.every((scope) => allScopes.includes(scope));
  const inRange = Number.isInteger(expiresInDays) && Number(expiresInDays) >= 1 && Number(expiresInDays) <= daysMax;
  const located = networks.length <= networksMax && networks.every((text) => parseNetwork(text) !== undefined);
  return {
    ...(!named && { name: [`A name has 1 to ${nameCharactersMax} characters, none of them a control character.`] }),
    ...(!scoped && { scopes: [`A token has at least one of the scopes ${allScopes.join(", ")}.`] }),
    ...(expiresInDays !== null &&
      !inRange && { expiresInDays: [`A token expires after 1 to ${daysMax} days, or never.`] }),
    ...(!located && {
      networks: [`At most ${networksMax} addresses (192.0.2.1) and networks (10.0.0.0/8, 2001:db8::/32).`],
    }),
  };
}

function mayBeUsed({ expiresAt, networks }: FoundToken, now: number, from: string): boolean {
  if (expiresAt !== null && now >= expiresAt) return false;
  if (networks === null) return true;
  const address = parseAddress(from);
  return address !== undefined && isWithin(address, parseNetworks(networks));
}

function isEmailOf(user: User, email: string): boolean {
  const address = normalizeEmail(email);
  return address !== undefined && equalDigests(digest(address), digest(user.email));
}
