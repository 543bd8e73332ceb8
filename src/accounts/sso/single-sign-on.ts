import { hourMs } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { digest, equalDigests } from "../../crypto/digests.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { ClientContext, Session, User } from "../account.ts";
import { accountNotification } from "../account-emails.ts";
import type { AccountsDeps } from "../deps.ts";
import type { Guard, SessionStarts } from "../sessions/sessions.ts";
import { recordAction } from "../store/administration.ts";
import type { IdentityStore, Relinking } from "../store/identities.ts";
import type { ScimStore } from "../store/scim-users.ts";
import type { LogoutToken } from "../store/sessions.ts";
import { joinClaimedGroups } from "./claimed-groups.ts";
import type { FreshSignOn, ProofOutcome } from "./fresh-sign-on.ts";
import type { Provider, ProviderClaims } from "./provider.ts";
import type { ClaimRefusal } from "./provider-claims.ts";
import type { SignOnSteps, StepOnTheWay } from "./sign-on-steps.ts";

/** The page where users see and unlink the identities of their account. */
export const signOnSettingsPath = "/users/single_sign_on";

/** Somebody who leaves the group of administrators keeps their rights no longer than a working day. */
const adminByGroupMs = 12 * hourMs;

export type SignOnOutcome =
  | {
      readonly is: "signed_in";
      readonly sessionToken: string;
      readonly waitsForFactor: boolean;
      readonly next: string | null;
    }
  /** The account's owner has to confirm first. `stepToken` replaces the given one. */
  | { readonly is: "to_confirm"; readonly stepToken: string }
  /** The identity is already linked to this account. */
  | { readonly is: "linked_before" }
  /** The identity is linked to another account. */
  | { readonly is: "linked_elsewhere" }
  | { readonly is: "denied" }
  /** The outcome of a fresh sign-on. */
  | Extract<ProofOutcome, { readonly is: "proved" | "code_sent" }>
  /** The provider does not prove an address, or the operator's rules do not admit the user. */
  | { readonly is: "refused"; readonly refusal: ClaimRefusal }
  /** There is no account and none can be created, or it is disabled. */
  | { readonly is: "no_account" }
  /** Another browser, expired, used before, or an invalid answer of the provider; `error` for the log. */
  | { readonly is: "invalid"; readonly error: unknown };

interface Deps
  extends Pick<
    AccountsDeps,
    "db" | "clock" | "random" | "settings" | "isSignUpClosed" | "provider" | "outbox" | "claimedGroups"
  > {
  readonly steps: SignOnSteps;
  readonly identities: IdentityStore;
  readonly relinking: Relinking;
  readonly scimStore: Pick<ScimStore, "findUnused">;
  readonly findUserByEmail: (email: string) => Promise<User | undefined>;
  readonly startSession: SessionStarts["start"];
  readonly fresh: Pick<FreshSignOn, "proveBySignOn">;
  readonly endProviderSessions: (logout: LogoutToken) => Promise<void>;
}

interface SignOnStart {
  /** A path of this server. */
  readonly next: string | null;
  readonly purpose: "sign_in" | "link" | "prove";
  /** The one whose user links an identity, or proves to be there; null: to sign in. */
  readonly session: Session | null;
  /** The browser keeps the session's cookie when it closes. */
  readonly persistent: boolean;
  readonly client: ClientContext;
}

interface SignOnReturn {
  readonly stepToken: string | undefined;
  /** That the provider sent the browser back with, without `?`. */
  readonly query: string;
  /** The current one, if any. */
  readonly session: Session | null;
  readonly client: ClientContext;
}

export function createSingleSignOn(deps: Deps) {
  const { db, clock, random, steps } = deps;
  const invalid = { is: "invalid", error: undefined } as const;

  return {
    /**
     * @throws AppError not_found: single sign-on is off; unavailable: the provider does not answer.
     */
    async beginSignOn(start: SignOnStart): Promise<{ readonly url: string; readonly stepToken: string }> {
      const { next, purpose, session, persistent, client } = start;
      const provider = openProvider(deps);
      const make = () => makeOpaqueToken(random);
      const secrets = { state: make(), nonce: make(), verifier: make() };
      const hasClaimedGroups = (await deps.claimedGroups.claims()).length > 0;
      const url = await provider.signOnUrl(secrets, { isFresh: purpose === "prove", hasClaimedGroups });
      const linkTo = purpose === "link" ? (session?.user.id ?? null) : null;
      const proves = purpose === "prove" ? (session?.id ?? null) : null;
      const step = { is: "on_the_way", secrets, next, linkTo, proves, persistent } as const;
      return { url, stepToken: await steps.keep(step, client.throttleKey, clock.now()) };
    },

    /**
     * @throws AppError as `beginSignOn`.
     */
    async completeSignOn({ stepToken, query, session, client }: SignOnReturn): Promise<SignOnOutcome> {
      const provider = openProvider(deps);
      const step = await steps.find(stepToken, clock.now());
      // A wrong state does not consume the step, because another site, not the provider, has sent the browser here.
      if (stepToken === undefined || step?.is !== "on_the_way" || !isStateOf(step, query)) return invalid;
      if (!(await steps.take(db.autocommit({ retry: "whenNotExecuted" }), stepToken, clock.now()))) return invalid;
      const claims = await deps.claimedGroups.claims();
      const answer = await provider.readAnswer(query, step.secrets, claims.length > 0);
      if (answer.is === "refused") return refuse(answer.subject, answer.refusal, client, deps);
      if (answer.is !== "claims") return answer;
      const { linkTo, proves } = step;
      if (proves !== null) {
        return session?.id === proves ? deps.fresh.proveBySignOn(answer.claims, step, session, client) : invalid;
      }
      if (linkTo === null) return signInAs(answer.claims, step, client, deps);
      return session?.user.id === linkTo ? askToLink(answer.claims, linkTo, client, deps) : invalid;
    },

    /**
     * Back-channel logout: ends the sessions that began with a session of the provider. @returns false: the token is not valid.
     * @throws AppError as `beginSignOn`.
     */
    async endByLogoutToken(token: string): Promise<boolean> {
      const logout = await openProvider(deps).readLogoutToken(token);
      if (logout !== undefined) await deps.endProviderSessions(logout);
      return logout !== undefined;
    },

    /** For the cleanup job: removes at most `stepsMax` expired steps. @returns how many. */
    removeExpiredSignOnSteps: (stepsMax: number): Promise<number> => steps.removeExpired(clock.now(), stepsMax),
  };
}

function isStateOf({ secrets }: StepOnTheWay, query: string): boolean {
  return equalDigests(digest(new URLSearchParams(query).get("state") ?? ""), digest(secrets.state));
}

async function signInAs(
  claims: ProviderClaims,
  step: StepOnTheWay,
  client: ClientContext,
  deps: Deps,
): Promise<SignOnOutcome> {
  const known = await deps.identities.findUserByIdentity(claims);
  if (known !== undefined) return enter(known, { claims, step, client, deps });
  const moved = await moveIdentity(claims, client, deps);
  if (moved !== undefined) return enter(moved, { claims, step, client, deps });
  const unused = await deps.scimStore.findUnused(deps.db.read, claims);
  if (unused !== undefined) return linkAndEnter({ claims, step, client, deps });
  if (claims.verifiedEmail === undefined) return refuse(claims.subject, claims.emailRefusal, client, deps);
  const { verifiedEmail: email } = claims;
  const now = deps.clock.now();
  const found = await deps.findUserByEmail(email);
  if (found !== undefined) {
    // The provider's word alone does not give access to an existing account: its owner has to confirm the link.
    return found.disabledAt === null
      ? keepToConfirm(claims, { email, userId: found.id, step, client, deps })
      : { is: "no_account" };
  }
  const { signupsDisabled, signupEmailPattern } = deps.settings;
  if (signupsDisabled || signupEmailPattern?.test(email) === false || (await deps.isSignUpClosed())) {
    return { is: "no_account" };
  }
  const { issuer, subject } = claims;
  const made = await deps.identities.insertUserWithIdentity({ issuer, subject, email, now });
  if (made === "no_users_yet") return { is: "no_account" };
  if (typeof made === "string") {
    // Another request created the account at the same time, and the next attempt will find it; or a row that this server did
    // not write has the address or the identity.
    const other = made === "email_taken" ? deps.findUserByEmail(email) : deps.identities.findUserByIdentity(claims);
    return (await other) === undefined ? { is: "no_account" } : { is: "invalid", error: undefined };
  }
  return enter(made, { claims, step, client, deps });
}

/** The client id has changed, and with it the subject. */
async function moveIdentity(
  { issuer, subject, objectId }: ProviderClaims,
  { address }: ClientContext,
  { relinking, clock }: Deps,
): Promise<User | undefined> {
  if (objectId === undefined) return undefined;
  const now = clock.now();
  return relinking.move(
    { issuer, subject, objectId },
    ({ id, email }) =>
      (tx) =>
        recordAction(tx, { by: { userId: id, email, address }, action: "relinked", subject: email, now }),
  );
}

/** Nobody has used the account. */
async function linkAndEnter(entry: Parameters<typeof enter>[1]): Promise<SignOnOutcome> {
  const { claims, client, deps } = entry;
  const { issuer, subject, verifiedEmail } = claims;
  const now = deps.clock.now();
  const about = { client, at: now, subject: deps.provider?.name ?? "" };
  const user = await deps.identities.linkUnused(
    { issuer, subject, email: verifiedEmail, now },
    (tx) => deps.scimStore.findUnused(tx, claims),
    (linked) => (tx) => deps.outbox.put(tx, accountNotification(linked, "single_sign_on_linked", about), now),
  );
  // The next attempt finds what has happened meanwhile.
  return user === undefined ? { is: "invalid", error: undefined } : enter(user, entry);
}

async function enter(
  user: User,
  {
    claims: { issuer, subject, objectId, isAdministrator, groups, session: providerSession },
    step: { next, persistent },
    client,
    deps: { identities, relinking, settings, startSession, clock, claimedGroups },
  }: {
    readonly claims: ProviderClaims;
    readonly step: StepOnTheWay;
    readonly client: ClientContext;
    readonly deps: Deps;
  },
): Promise<SignOnOutcome> {
  if (settings.requiresConfirmation && user.confirmedAt === null) return { is: "no_account" };
  const now = clock.now();
  const still: Guard = async (tx) => {
    if (!(await identities.isIdentityOf(tx, { issuer, subject }, user.id))) return false;
    if (objectId !== undefined) await relinking.noteObjectId(tx, { issuer, subject }, objectId);
    const by = { userId: user.id, email: user.email, address: client.address };
    if (isAdministrator) await recordAction(tx, { by, action: "admin_by_group", subject: user.email, now });
    if (groups !== undefined) await joinClaimedGroups(tx, { by, values: groups, now }, claimedGroups);
    return true;
  };
  const adminUntil = isAdministrator ? now + adminByGroupMs : null;
  const sessionToken = await startSession(user, client, now, {
    way: "sign_on",
    provided: still,
    persistent,
    adminUntil,
    providerSession,
    // The provider may have asked for nothing.
    isProved: false,
  });
  if (sessionToken === undefined) return { is: "no_account" };
  return { is: "signed_in", sessionToken, waitsForFactor: user.hasSecondFactor && !settings.signOnOnly, next };
}

/** The provider's address may differ from the account's. It must be verified anyway, to keep one simple rule. */
async function askToLink(
  claims: ProviderClaims,
  userId: number,
  client: ClientContext,
  deps: Deps,
): Promise<SignOnOutcome> {
  if (claims.verifiedEmail === undefined) return refuse(claims.subject, claims.emailRefusal, client, deps);
  const owner = await deps.identities.findUserByIdentity(claims);
  if (owner !== undefined) return { is: owner.id === userId ? "linked_before" : "linked_elsewhere" };
  return keepToConfirm(claims, {
    email: claims.verifiedEmail,
    userId,
    step: { next: signOnSettingsPath, persistent: false },
    client,
    deps,
  });
}

async function keepToConfirm(
  { issuer, subject, groups: values, session: providerSession }: ProviderClaims,
  {
    email,
    userId,
    step: { next, persistent },
    client,
    deps: { steps, clock, claimedGroups },
  }: {
    readonly email: string;
    readonly userId: number;
    readonly step: Pick<StepOnTheWay, "next" | "persistent">;
    readonly client: ClientContext;
    readonly deps: Deps;
  },
): Promise<SignOnOutcome> {
  const now = clock.now();
  // Only those that matter: the list can be long.
  const claimed = await claimedGroups.claims();
  const groups = values?.filter((value) => claimed.includes(value)) ?? null;
  const identity = { issuer, subject, email, userId, groups, providerSession };
  const step = { is: "to_confirm", ...identity, next, persistent, mailedDigest: null, createdAt: now } as const;
  return { is: "to_confirm", stepToken: await steps.keep(step, client.throttleKey, now) };
}

/** Administrators find the reason in their trail. */
async function refuse(
  subject: string,
  refusal: ClaimRefusal,
  { address }: ClientContext,
  { db, provider, clock }: Deps,
): Promise<SignOnOutcome> {
  const { claim, value } = refusal;
  await db.write((tx) =>
    recordAction(tx, {
      by: { userId: null, email: provider?.name ?? "", address },
      action: "refused_sign_on",
      subject: `${subject} (${claim}: ${value ?? "-"})`,
      now: clock.now(),
    }),
  );
  return { is: "refused", refusal };
}

/** @throws AppError not_found. */
export function openProvider({ provider, settings }: Pick<Deps, "provider" | "settings">): Provider {
  if (provider === undefined || settings.loginsDisabled) throw new AppError("not_found", "not-found");
  return provider;
}
