import { hourMs } from "../../base/clock.ts";
import { normalizeEmail } from "../../base/email.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { InTransaction, Transaction } from "../../database/database.ts";
import { linkLifeMs } from "../../mail/email.ts";
import type { ClientContext, ClientOrigin, Session, User } from "../account.ts";
import { accountNotification } from "../account-emails.ts";
import type { AccountsDeps } from "../deps.ts";
import type { EmailChangeStore } from "../store/email-change.ts";
import type { Profile } from "./profile.ts";

const lifeMs = linkLifeMs.confirm_new_email;
/** Limits the emails that one account can cause to other people's addresses. */
const linksPerHourMax = 5;
const tokenShape = /^[A-Za-z0-9_-]{43}$/;

export type EmailChangeOutcome =
  /** Without account emails: the address is changed and not confirmed. */
  | "changed"
  /** The address changes when the link is followed. The answer is the same for an address that is taken. */
  | "link_sent"
  | "malformed"
  | "not_allowed"
  | "unchanged"
  /** Only without account emails. */
  | "taken"
  | "not_confirmed"
  | "too_many";

/** A change by somebody else than the user. */
export type ForeignEmailChange =
  | "changed"
  | "link_sent"
  | "malformed"
  | "unchanged"
  | "taken"
  | "too_many"
  /** The user is disabled, or does not exist. */
  | "unknown"
  /** This server sends no emails, so nobody can be asked. */
  | "no_mail";

interface Deps
  extends Pick<AccountsDeps, "clock" | "random" | "access" | "outbox" | "destroyStoredLinks" | "settings"> {
  readonly store: EmailChangeStore;
  readonly confirmIdentity: Profile["confirmIdentity"];
}

function changeParts(deps: Deps) {
  const { outbox } = deps;
  const linkDigest = (token: string) => deps.access.digest("mailed_link", token);

  const notifyOldAddress = (client: ClientContext, now: number) => (tx: Transaction, before: User) =>
    outbox.put(tx, accountNotification(before, "email_changed", { client, at: now }), now);

  /**
   * For the transaction of a change that the old address has not confirmed: the account may have come into other hands, so its
   * stored links are lost. Both addresses are notified.
   */
  async function giveAway(
    tx: Transaction,
    changed: { readonly before: User; readonly email: string; readonly client: ClientOrigin; readonly now: number },
  ) {
    const { before, email, client, now } = changed;
    await deps.destroyStoredLinks(tx, before.id);
    if (!outbox.open) return;
    await outbox.put(tx, accountNotification(before, "email_changed", { client, at: now }), now);
    await outbox.put(tx, accountNotification({ ...before, email }, "email_assigned", { client, at: now }), now);
  }

  /** A new link to the address. */
  const makeLink = (userId: number, email: string, now: number) => {
    const token = makeOpaqueToken(deps.random);
    const bounds = { since: now - hourMs, perUserMax: linksPerHourMax };
    return { token, link: { userId, email, now, digest: linkDigest(token), ...bounds } };
  };
  return { ...deps, linkDigest, notifyOldAddress, giveAway, makeLink };
}

type ChangeParts = ReturnType<typeof changeParts>;

function ownChanges(parts: ChangeParts) {
  const { notifyOldAddress, store, clock, outbox, settings, giveAway, confirmIdentity } = parts;
  return {
    giveAway,

    /** This server can ask the old address of a user by email. */
    asksByEmail: outbox.open,

    /** "not_confirmed": see `confirmIdentity`. @throws AppError too_many_requests, unavailable. */
    async changeEmail(given: {
      session: Pick<Session, "user" | "provedAt">;
      email: string;
      password: string;
      client: ClientContext;
    }): Promise<EmailChangeOutcome> {
      const { session, email: typed, password, client } = given;
      const { user } = session;
      const email = normalizeEmail(typed);
      if (email === undefined) return "malformed";
      if (email === user.email) return "unchanged";
      if (settings.signupEmailPattern?.test(email) === false) return "not_allowed";
      if (!(await confirmIdentity(session, password, client))) return "not_confirmed";
      const now = clock.now();
      if (outbox.open) return await sendLink(parts, user.id, email, now);
      const change = { userId: user.id, email, now, confirmedAt: null, onChanged: notifyOldAddress(client, now) };
      const outcome = await store.changeEmail(change);
      return outcome === "unknown" ? "not_confirmed" : outcome;
    },
  };
}

function administratorChanges({ store, clock, outbox, giveAway, makeLink }: ChangeParts) {
  return {
    /**
     * For administrators, without a confirmation from the old address: see `giveAway`. The new address counts as confirmed.
     * @param together written in the same transaction.
     */
    async changeEmailAsAdministrator(
      { id: userId, email: before }: Pick<User, "id" | "email">,
      typed: string,
      client: ClientContext,
      together: InTransaction,
    ): Promise<Exclude<ForeignEmailChange, "link_sent" | "too_many" | "no_mail">> {
      const email = normalizeEmail(typed);
      if (email === undefined) return "malformed";
      if (email === before) return "unchanged";
      const now = clock.now();
      const onChanged = async (tx: Transaction, user: User) => {
        await giveAway(tx, { before: user, email, client, now });
        await together(tx);
      };
      return await store.changeEmail({ userId, email, now, confirmedAt: now, onChanged });
    },

    /**
     * For administrators: asks the old address by email. Once its link is followed, the address changes, and the user keeps the
     * stored links. @param together written in the same transaction.
     */
    async askToChangeEmail(
      { id: userId, email: before }: Pick<User, "id" | "email">,
      typed: string,
      together: InTransaction,
    ): Promise<Exclude<ForeignEmailChange, "changed">> {
      const email = normalizeEmail(typed);
      if (email === undefined) return "malformed";
      if (email === before) return "unchanged";
      if (!outbox.open) return "no_mail";
      const now = clock.now();
      const { token, link } = makeLink(userId, email, now);
      const outcome = await store
        .insertLink({
          ...link,
          async onWritten(tx, user, owner) {
            // The administrator sees all addresses. Undoes the transaction.
            if (owner !== undefined) throw new AddressTakenError();
            const content = { kind: "approve_new_email", token, email } as const;
            await outbox.put(tx, { to: user.email, language: user.language, content }, now);
            await together(tx);
          },
        })
        .catch(orTaken);
      return outcome === "sent" ? "link_sent" : outcome;
    },
  };
}

function linkConfirmation({ linkDigest, notifyOldAddress, store, clock }: ChangeParts) {
  return {
    /** The address that `confirmNewEmail` would set; undefined: the link is unknown, used, invalidated or older than a day. */
    async findNewEmail(token: string): Promise<string | undefined> {
      return tokenShape.test(token) ? store.findLink(linkDigest(token), clock.now() - lifeMs) : undefined;
    },

    /** Consumes the emailed link. The previous address is notified. */
    async confirmNewEmail(token: string, client: ClientContext): Promise<"changed" | "invalid" | "taken"> {
      if (!tokenShape.test(token)) return "invalid";
      const now = clock.now();
      const onChanged = notifyOldAddress(client, now);
      return await store.redeemLink({ digest: linkDigest(token), now, since: now - lifeMs, onChanged });
    },
  };
}

export function createEmailChange(deps: Deps) {
  const shared = changeParts(deps);
  return { ...ownChanges(shared), ...administratorChanges(shared), ...linkConfirmation(shared) };
}

class AddressTakenError extends Error {
  override readonly name = "AddressTakenError";
}

function orTaken(error: unknown): "taken" {
  if (error instanceof AddressTakenError) return "taken";
  throw error;
}

/** If the address is taken, only its owner learns that, by email. */
async function sendLink(
  { store, outbox, makeLink }: ChangeParts,
  userId: number,
  email: string,
  now: number,
): Promise<EmailChangeOutcome> {
  const { token, link } = makeLink(userId, email, now);
  const outcome = await store.insertLink({
    ...link,
    onWritten(tx, user, owner) {
      const content =
        owner === undefined
          ? ({ kind: "confirm_new_email", token } as const)
          : ({ kind: "already_registered" } as const);
      return outbox.put(tx, { to: email, language: (owner ?? user).language, content }, now);
    },
  });
  switch (outcome) {
    case "sent":
      return "link_sent";
    case "too_many":
      return "too_many";
    case "unknown":
      return "not_confirmed";
  }
}
