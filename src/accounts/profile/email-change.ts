import { type Clock, hourMs } from "../../base/clock.ts";
import { normalizeEmail } from "../../base/email.ts";
import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { InTransaction, Transaction } from "../../database/database.ts";
import { linkLifeMs } from "../../mail/email.ts";
import type { Outbox } from "../../mail/outbox.ts";
import type { ClientContext, Session, User } from "../account.ts";
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

interface Deps {
  readonly store: EmailChangeStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly access: AccessKeys;
  readonly outbox: Outbox;
  readonly settings: AccountsDeps["settings"];
  readonly confirmIdentity: Profile["confirmIdentity"];
}

export function createEmailChange(deps: Deps) {
  const { store, clock, outbox, settings } = deps;
  const linkDigest = (token: string) => deps.access.digest("mailed_link", token);

  const notifyOldAddress = (client: ClientContext, now: number) => (tx: Transaction, before: User) =>
    outbox.put(tx, accountNotification(before, "email_changed", client, now), now);

  return {
    /** "not_confirmed": see `confirmIdentity`. @throws AppError too_many_requests, unavailable. */
    async changeEmail({
      session,
      email: typed,
      password,
      client,
    }: {
      session: Pick<Session, "user" | "createdAt">;
      email: string;
      password: string;
      client: ClientContext;
    }): Promise<EmailChangeOutcome> {
      const { user } = session;
      const email = normalizeEmail(typed);
      if (email === undefined) return "malformed";
      if (email === user.email) return "unchanged";
      if (settings.signupEmailPattern?.test(email) === false) return "not_allowed";
      if (!(await deps.confirmIdentity(session, password, client))) return "not_confirmed";
      const now = clock.now();
      if (outbox.open) return await sendLink(deps, user.id, email, now);
      const change = { userId: user.id, email, now, confirmedAt: null, onChanged: notifyOldAddress(client, now) };
      const outcome = await store.changeEmail(change);
      return outcome === "unknown" ? "not_confirmed" : outcome;
    },

    /**
     * For administrators: the new address counts as confirmed, and the previous one is notified.
     * @param together written in the same transaction.
     */
    async changeEmailAsAdministrator(
      { id: userId, email: before }: Pick<User, "id" | "email">,
      typed: string,
      client: ClientContext,
      together: InTransaction,
    ): Promise<"changed" | "malformed" | "unchanged" | "taken" | "unknown"> {
      const email = normalizeEmail(typed);
      if (email === undefined) return "malformed";
      if (email === before) return "unchanged";
      const now = clock.now();
      const notify = notifyOldAddress(client, now);
      const onChanged = async (tx: Transaction, user: User) => {
        if (outbox.open) await notify(tx, user);
        await together(tx);
      };
      return await store.changeEmail({ userId, email, now, confirmedAt: now, onChanged });
    },

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

/** If the address is taken, only its owner learns that, by email. */
async function sendLink(
  { store, random, access, outbox }: Deps,
  userId: number,
  email: string,
  now: number,
): Promise<EmailChangeOutcome> {
  const token = makeOpaqueToken(random);
  const outcome = await store.insertLink({
    userId,
    email,
    now,
    digest: access.digest("mailed_link", token),
    since: now - hourMs,
    perUserMax: linksPerHourMax,
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
