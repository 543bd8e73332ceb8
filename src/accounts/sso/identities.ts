import { hourMs } from "../../base/clock.ts";
import { digest, equalDigests } from "../../crypto/digests.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { Transaction } from "../../database/database.ts";
import { tooManyAttempts } from "../../limits/limits.ts";
import type { AccountChange } from "../../mail/email.ts";
import type { ClientContext, Session, User } from "../account.ts";
import { accountNotification } from "../account-emails.ts";
import type { AccountsDeps } from "../deps.ts";
import type { Guard, SessionStarts } from "../sessions/sessions.ts";
import type { PasswordCheck } from "../sign-in/password-check.ts";
import type { Identity, IdentityStore } from "../store/identities.ts";
import type { PasswordStore } from "../store/passwords.ts";
import { findCompleteSession } from "../store/sessions.ts";
import { joinClaimedGroups } from "./claimed-groups.ts";
import type { SignOnSteps, StepToConfirm } from "./sign-on-steps.ts";
import { openProvider } from "./single-sign-on.ts";

/** A user who is recreated at the provider gets a new subject, so an account may need a few identities. */
const perUserMax = 10;
const linksPerHour = { name: "mails to link a sign-on", windowMs: hourMs, max: 10, rememberedMax: 40_000 };

/** The question to a user before an identity is linked to their account. */
export interface LinkToConfirm {
  readonly accountEmail: string;
  readonly providerEmail: string;
  /**
   * The required proof that the user owns the account: its `password`; a `sign_in`, if it has none; or only their `consent`,
   * if they have signed in since the provider answered, or have opened the `mailed` link.
   */
  readonly by: "password" | "sign_in" | "consent" | "mailed";
  /** The account's address can be sent a link instead. */
  readonly mails: boolean;
}

export type LinkOutcome =
  /** `sessionToken` null: the current session continues. */
  | { readonly is: "linked"; readonly sessionToken: string | null; readonly next: string | null }
  /** The password was right. The user has to consent after the second factor. */
  | { readonly is: "waits_for_factor"; readonly sessionToken: string }
  | { readonly is: "wrong_password" }
  | { readonly is: "linked_elsewhere" }
  | { readonly is: "invalid" };

interface Deps
  extends Pick<
    AccountsDeps,
    | "db"
    | "clock"
    | "settings"
    | "claimedGroups"
    | "outbox"
    | "requestedOutbox"
    | "random"
    | "limits"
    | "provider"
    | "access"
  > {
  readonly steps: SignOnSteps;
  readonly identities: IdentityStore;
  readonly passwords: Pick<PasswordStore, "findPassword" | "isCurrent">;
  readonly check: PasswordCheck;
  readonly startSession: SessionStarts["start"];
}

export function createIdentities(deps: Deps) {
  return { ...linkConfirmation(deps), ...ownIdentities(deps) };
}

function linkConfirmation(deps: Deps) {
  const { db, clock, check } = deps;
  const links = deps.limits.sliding(linksPerHour);
  return {
    /** @param mailed the token of the mailed link; "": none. @returns undefined: nothing waits for a confirmation in this browser. @throws AppError not_found: single sign-on is off. */
    async findLinkToConfirm(
      stepToken: string | undefined,
      mailed: string,
      session: Session | null,
    ): Promise<LinkToConfirm | undefined> {
      const waiting = await findWaiting(stepToken, deps);
      if (waiting === undefined) return undefined;
      const { step, user } = waiting;
      const by = proofNeeded(step, { user, session, mailed });
      return { accountEmail: user.email, providerEmail: step.email, by, mails: mailsLinks(deps) };
    },

    /**
     * Mails a link to the account's address. It proves whose account it is only in the browser that began the sign-on, so that nobody
     * can get another person to press it for them.
     * @returns false: nothing waits for a confirmation in this browser, or no links are mailed. @throws AppError too_many_requests.
     */
    async mailLinkToConfirm(stepToken: string | undefined): Promise<boolean> {
      const waiting = await findWaiting(stepToken, deps);
      if (waiting === undefined || stepToken === undefined || !mailsLinks(deps)) return false;
      const { step, user } = waiting;
      const now = clock.now();
      const charge = await links.charge(String(user.id), now);
      if (charge.outcome === "refused") throw tooManyAttempts(charge);
      const token = makeOpaqueToken(deps.random);
      return db.writeSerialized("accounts", async (tx) => {
        if ((await deps.steps.find(stepToken, now, tx)) === undefined) return false;
        await deps.steps.replace(tx, stepToken, { ...step, mailedDigest: mailedDigestOf(token, user).toString("hex") });
        const content = { kind: "link_sign_on", token } as const;
        await deps.requestedOutbox.put(tx, { to: user.email, language: user.language, content }, now);
        return true;
      });
    },

    /** The only way to link an identity to an existing account. @throws AppError too_many_requests, unavailable, not_found. */
    async confirmLink(confirmation: {
      stepToken: string | undefined;
      password: string;
      /** The token of the mailed link; "": none. */
      mailed: string;
      session: Session | null;
      client: ClientContext;
    }): Promise<LinkOutcome> {
      const { stepToken, password, mailed, session, client } = confirmation;
      const waiting = await findWaiting(stepToken, deps);
      if (waiting === undefined || stepToken === undefined) return { is: "invalid" };
      const { step, user, account } = waiting;
      const by = proofNeeded(step, { user, session, mailed });
      if (by === "sign_in") return { is: "invalid" };
      const given = { email: user.email, account, password, client };
      if (by === "password" && !(await check(given, clock.now()))) return { is: "wrong_password" };
      const request = { stepToken, step, user, client, proven: proofInWrite(by, waiting, session, deps) };
      return session?.user.id === user.id ? linkInSession(request, deps) : signInAndLink(request, deps);
    },
  };
}

function ownIdentities(deps: Deps) {
  const { db, clock, identities, passwords, check } = deps;
  return {
    /** Includes identities of former providers. Newest first. */
    listIdentities: (userId: number): Promise<readonly Identity[]> => identities.listIdentities(userId),

    /** Removes all identities, also of former providers. @throws AppError too_many_requests, unavailable, not_found. */
    async unlinkIdentities(unlinking: {
      userId: number;
      password: string;
      client: ClientContext;
    }): Promise<"unlinked" | "wrong_password" | "only_way_in"> {
      const { userId, password, client } = unlinking;
      openProvider(deps);
      const account = await passwords.findPassword(userId);
      if (account === undefined || !account.user.hasPassword) return "only_way_in";
      const given = { email: account.user.email, account, password, client };
      if (!(await check(given, clock.now()))) return "wrong_password";
      const now = clock.now();
      await db.writeSerialized("accounts", async (tx) => {
        if (!(await identities.deleteIdentities(tx, userId))) return;
        await notifyOwner(tx, deps, { change: "single_sign_on_unlinked", user: account.user, client, now });
      });
      return "unlinked";
    },
  };
}

/** @returns the step and its account; undefined also if the account may not sign in. */
async function findWaiting(token: string | undefined, deps: Deps) {
  openProvider(deps);
  const step = await deps.steps.find(token, deps.clock.now());
  if (step?.is !== "to_confirm") return undefined;
  const account = await deps.passwords.findPassword(step.userId);
  if (account === undefined || account.user.disabledAt !== null) return undefined;
  const unconfirmed = deps.settings.requiresConfirmation && account.user.confirmedAt === null;
  return unconfirmed ? undefined : { step, account, user: account.user };
}

/** A session older than the provider's answer may be an unattended one: it needs the password again. */
function proofNeeded(
  step: StepToConfirm,
  { user, session, mailed }: { readonly user: User; readonly session: Session | null; readonly mailed: string },
): LinkToConfirm["by"] {
  const isProved = session !== null && session.provedAt !== null && session.provedAt > step.createdAt;
  if (isProved && session.user.id === user.id) return "consent";
  const { mailedDigest } = step;
  const isMailed =
    mailedDigest !== null && equalDigests(mailedDigestOf(mailed, user), Buffer.from(mailedDigest, "hex"));
  if (isMailed) return "mailed";
  return user.hasPassword ? "password" : "sign_in";
}

/** A link that was mailed to a former address of the account proves nothing. */
const mailedDigestOf = (token: string, { email }: User) => digest(`${token} ${email}`);

type Waiting = NonNullable<Awaited<ReturnType<typeof findWaiting>>>;

/** The proof is checked again inside the write: a password that was changed, or a session that has ended meanwhile is none. */
function proofInWrite(
  by: LinkToConfirm["by"],
  { step, user, account }: Waiting,
  session: Session | null,
  { passwords, access }: Deps,
): Guard {
  return async (tx) => {
    if (by === "password") return passwords.isCurrent(tx, user.id, account.passwordHash);
    // The address may have changed after `proofNeeded`.
    if (by === "mailed") return (await passwords.findPassword(user.id, tx))?.user.email === user.email;
    const current = session && (await findCompleteSession(tx, access, session.id, user.id));
    return (current?.provedAt ?? 0) > step.createdAt;
  };
}

/** Where passwords of this server are in use, an account without one can also be signed in to as usual. */
function mailsLinks({ settings, requestedOutbox }: Deps): boolean {
  return settings.signOnOnly && requestedOutbox.open;
}

interface LinkRequest {
  readonly stepToken: string;
  readonly step: StepToConfirm;
  readonly user: User;
  readonly client: ClientContext;
  readonly proven: Guard;
}

async function linkInSession(request: LinkRequest, deps: Deps): Promise<LinkOutcome> {
  const result = await deps.db.writeSerialized("accounts", linkInTransaction({ ...request, factorShown: true }, deps));
  if (result === "linked") return { is: "linked", sessionToken: null, next: request.step.next };
  return { is: result === "taken" ? "linked_elsewhere" : "invalid" };
}

async function signInAndLink(request: LinkRequest, deps: Deps): Promise<LinkOutcome> {
  const { user, client, proven, step } = request;
  const { persistent } = step;
  const now = deps.clock.now();
  const { signOnOnly } = deps.settings;
  if (user.hasSecondFactor && !signOnOnly) {
    const sessionToken = await deps.startSession(user, client, now, { provided: proven, persistent });
    return sessionToken === undefined ? { is: "invalid" } : { is: "waits_for_factor", sessionToken };
  }
  const link = linkInTransaction({ ...request, factorShown: signOnOnly }, deps);
  const done: { result: LinkResult } = { result: "refused" };
  const provided: Guard = async (tx) => {
    done.result = await link(tx);
    return done.result === "linked";
  };
  const sessionToken = await deps.startSession(user, client, now, {
    way: "sign_on",
    provided,
    persistent,
    providerSession: step.providerSession,
  });
  if (sessionToken !== undefined) return { is: "linked", sessionToken, next: step.next };
  return { is: done.result === "taken" ? "linked_elsewhere" : "invalid" };
}

type LinkResult = "linked" | "taken" | "refused";

/** @returns a function that consumes the step, links the identity and notifies the owner. Requires the accounts lock. */
function linkInTransaction(
  request: LinkRequest & { readonly factorShown: boolean },
  deps: Deps,
): (tx: Transaction) => Promise<LinkResult> {
  const { stepToken, step, user, client, proven, factorShown } = request;
  const { clock, steps, identities, claimedGroups } = deps;
  const { issuer, subject } = step;
  return async (tx) => {
    const now = clock.now();
    if (!(await proven(tx)) || !(await steps.take(tx, stepToken, now))) return "refused";
    const link = { issuer, subject, userId: user.id, now, factorShown, perUserMax };
    const result = await identities.linkIdentity(tx, link);
    if (step.groups !== null && (result === "linked" || result === "linked_before")) {
      const by = { userId: user.id, email: user.email, address: client.address };
      await joinClaimedGroups(tx, { by, values: step.groups, now }, claimedGroups);
    }
    if (result === "linked_before") return "linked";
    if (result === "linked") await notifyOwner(tx, deps, { change: "single_sign_on_linked", user, client, now });
    return result;
  };
}

function notifyOwner(
  tx: Transaction,
  { outbox, provider }: Deps,
  about: { readonly change: AccountChange; readonly user: User; readonly client: ClientContext; readonly now: number },
): Promise<void> {
  const { change, user, client, now } = about;
  return outbox.put(tx, accountNotification(user, change, { client, at: now, subject: provider?.name ?? "" }), now);
}
