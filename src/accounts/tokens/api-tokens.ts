import { dayMs, minuteMs } from "../../base/clock.ts";
import { type FieldProblems, invalidFields } from "../../base/errors.ts";
import { assertNoProblems, type Problems } from "../../base/field-problems.ts";
import { isWithin, networkText, parseAddress, parseNetwork, parseNetworks } from "../../base/networks.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { InTransaction, Transaction } from "../../database/database.ts";
import type { AccountChange } from "../../mail/email.ts";
import { type ApiToken, allScopes, type ClientOrigin, noOrigin, type Scope, type User } from "../account.ts";
import { accountNotification } from "../account-emails.ts";
import type { AccountsDeps } from "../deps.ts";
import type { ChangeRefusal, ProtectedChange, ProtectedChanges } from "../factors/protected-changes.ts";
import { createLastUse } from "../last-use.ts";
import type { FoundToken, NewToken, TokenStore } from "../store/tokens.ts";
import { isName } from "../text.ts";

/** Lets people and secret scanners recognise a token. */
const prefix = "sp_";
/** Wider than this server's own tokens, because imported tokens look different. Other texts are not looked up. */
const tokenShape = /^[A-Za-z0-9_-]{1,64}$/;

export function isApiToken(text: string): boolean {
  return tokenShape.test(text);
}

export const tokenLimits = { nameCharactersMax: 255, daysMax: 3_650, networksMax: 50, inUseMax: 1_000 } as const;
const endedKeptMax = 200;
const perPage = 50;

/** The scopes, lifetime and networks of a new token. */
export interface TokenLimits {
  /** At least one; default: all. */
  readonly scopes?: readonly Scope[];
  /** 1 to 3650; null, the default: it does not expire. */
  readonly expiresInDays?: number | null;
  /** Addresses and CIDR networks, at most 50; empty, the default: any address. */
  readonly networks?: readonly string[];
}

export interface MadeToken {
  /** The server does not store it. */
  readonly token: string;
  readonly apiToken: ApiToken;
}

export interface TokenHolder {
  readonly user: User;
  readonly scopes: readonly Scope[];
}

interface WantedToken {
  readonly userId: number;
  readonly name: string;
  readonly limits: TokenLimits;
  readonly origin: ClientOrigin;
}

/** For transactions of other parts that make a token. */
export interface NewTokens {
  /** Requires the accounts lock. @throws AppError invalid_fields: see `prepare`. */
  readonly make: (tx: Transaction, wanted: WantedToken) => Promise<MadeToken>;
}

type MakingDeps = Pick<AccountsDeps, "clock" | "random" | "access" | "outbox"> & { readonly store: TokenStore };

/** How a token is made. Creating or revoking one notifies its user by email. */
function tokenMaking({ clock, random, access, outbox, store }: MakingDeps) {
  const notify =
    (change: AccountChange, origin: ClientOrigin, now: number) =>
    (tx: Transaction, user: Pick<User, "email" | "language">, tokenName: string) =>
      outbox.put(tx, accountNotification(user, change, { client: origin, at: now, subject: tokenName }), now);

  /**
   * @throws AppError invalid_fields on `name` (1 to 255 characters), `scopes`, `expiresInDays`, `networks`, or on
   * `tokens` (too many are in use).
   */
  function prepare({ userId, name, limits, origin }: WantedToken) {
    const wanted = { name: name.trim(), scopes: allScopes, expiresInDays: null, networks: [], ...limits };
    assertNoProblems(problemsOf(wanted));
    const token = makeOpaqueToken(random, prefix);
    const now = clock.now();
    const row: NewToken = {
      userId,
      name: wanted.name,
      digest: access.digest("api_token", token),
      scopes: allScopes.filter((scope) => wanted.scopes.includes(scope)),
      networks: [...new Set(parseNetworks(wanted.networks).map(networkText))],
      expiresAt: wanted.expiresInDays === null ? null : now + wanted.expiresInDays * dayMs,
      now,
      inUseMax: tokenLimits.inUseMax,
      endedKeptMax,
      onMade: notify("token_made", origin, now),
    };
    return { token, row };
  }

  const tokens: NewTokens = {
    async make(tx, wanted) {
      const { token, row } = prepare(wanted);
      return { token, apiToken: inserted(await store.insert(tx, row)) };
    },
  };
  return { notify, prepare, tokens };
}

export function createApiTokens({
  onUseNotRecorded,
  settings,
  change,
  ...deps
}: Pick<AccountsDeps, "settings" | "onUseNotRecorded"> &
  MakingDeps & {
    readonly change: ProtectedChanges["change"];
  }) {
  const { store, clock, access } = deps;
  const { notify, prepare, tokens } = tokenMaking(deps);
  const lastUse = createLastUse<number, [address: string]>({
    intervalMs: minuteMs,
    record: (tokenId, now, address) => store.recordTokenUse(tokenId, now, address),
    onFailure: (error) => onUseNotRecorded("api_token", error),
  });

  return {
    tokens,

    /** For operators. @throws AppError invalid_fields: see `prepare`. */
    async createToken(userId: number, name: string, limits: TokenLimits = {}): Promise<MadeToken> {
      const { token, row } = prepare({ userId, name, limits, origin: noOrigin });
      return { token, apiToken: inserted(await store.insertToken(row)) };
    },

    /** For the user of a session, who has to prove it: a token gives access for good. @throws AppError as `createToken`. */
    async createOwnToken(
      asked: ProtectedChange,
      name: string,
      limits: TokenLimits,
    ): Promise<({ readonly outcome: "made" } & MadeToken) | ChangeRefusal> {
      const { token, row } = prepare({ userId: asked.session.user.id, name, limits, origin: asked.client });
      return change(asked, async (tx) => {
        return { outcome: "made", token, apiToken: inserted(await store.insert(tx, row)) } as const;
      });
    },

    /** Newest first, including the newest 200 revoked and expired ones. */
    listTokens: (userId: number): Promise<readonly ApiToken[]> => store.listTokens(userId),

    countTokensInUse: (userId: number): Promise<number> => store.countInUse(userId, clock.now()),

    /** 50 tokens, those in use first. @param page from 1. */
    async listTokenPage(userId: number, page: number): Promise<{ tokens: readonly ApiToken[]; hasMore: boolean }> {
      const skipped = (page - 1) * perPage;
      const found = await store.listTokensFrom({ userId, now: clock.now(), skipped, tokensMax: perPage + 1 });
      return { tokens: found.slice(0, perPage), hasMore: found.length > perPage };
    },

    /**
     * @param origin default: an operator's shell. @param together written in the same transaction, with the name of the token.
     * @returns false: the user has no such token, or it was revoked before.
     */
    async revokeToken(
      userId: number,
      tokenId: number,
      origin: ClientOrigin = noOrigin,
      together?: (tokenName: string) => InTransaction,
    ): Promise<boolean> {
      if (!Number.isSafeInteger(tokenId)) return false;
      const now = clock.now();
      return store.revokeToken({ userId, tokenId, now, onRevoked: notify("token_revoked", origin, now), together });
    },

    /** @returns undefined: unknown, revoked, expired, resting, of a disabled user, or not allowed from this address. */
    async authenticateToken({ token, address }: { token: string; address: string }): Promise<TokenHolder | undefined> {
      if (!isApiToken(token)) return undefined;
      const now = clock.now();
      const found = await store.findToken(access.digest("api_token", token));
      if (found === undefined || !mayBeUsed(found, now, address) || rests(found, now, settings)) return undefined;
      lastUse.note(found.tokenId, found.lastUsedAt, now, address);
      return { user: found.user, scopes: found.scopes };
    },
  };
}

/** @throws AppError invalid_fields on `tokens`. */
function inserted(apiToken: ApiToken | undefined): ApiToken {
  if (apiToken !== undefined) return apiToken;
  throw invalidFields({ tokens: [`${tokenLimits.inUseMax} tokens are in use: revoke one first.`] });
}

function problemsOf(wanted: Required<TokenLimits> & { readonly name: string }): FieldProblems {
  const { name, scopes, expiresInDays, networks } = wanted;
  const { nameCharactersMax, daysMax, networksMax } = tokenLimits;
  const problems: Problems = {};
  if (!isName(name, nameCharactersMax)) {
    problems.name = [`A name has 1 to ${nameCharactersMax} characters, none of them hidden.`];
  }
  if (scopes.length === 0 || !scopes.every((scope) => allScopes.includes(scope))) {
    problems.scopes = [`A token has at least one of the scopes ${allScopes.join(", ")}.`];
  }
  if (expiresInDays !== null && !(Number.isInteger(expiresInDays) && expiresInDays >= 1 && expiresInDays <= daysMax)) {
    problems.expiresInDays = [`A token expires after 1 to ${daysMax} days, or never.`];
  }
  if (networks.length > networksMax || !networks.every((text) => parseNetwork(text) !== undefined)) {
    problems.networks = [`At most ${networksMax} addresses (192.0.2.1) and networks (10.0.0.0/8, 2001:db8::/32).`];
  }
  return problems;
}

/** The owner may have left without anybody's notice. Their next sign-on ends the rest. */
function rests(
  { lastSignedOnAt, user: { createdAt, serviceGroupId } }: FoundToken,
  now: number,
  { tokensRestAfterMs }: Pick<AccountsDeps["settings"], "tokensRestAfterMs">,
): boolean {
  // A service account has no person who could leave.
  if (serviceGroupId !== undefined) return false;
  return tokensRestAfterMs !== null && now - (lastSignedOnAt ?? createdAt) > tokensRestAfterMs;
}

function mayBeUsed({ expiresAt, networks }: FoundToken, now: number, from: string): boolean {
  if (expiresAt !== null && now >= expiresAt) return false;
  if (networks.length === 0) return true;
  const address = parseAddress(from);
  return address !== undefined && isWithin(address, parseNetworks(networks));
}
