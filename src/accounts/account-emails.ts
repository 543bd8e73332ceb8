import { hourMs } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { AccessKeys } from "../crypto/access-keys.ts";
import { makeOpaqueToken } from "../crypto/tokens.ts";
import type { Transaction } from "../database/database.ts";
import { type Limits, tooManyAttempts } from "../limits/limits.ts";
import { createNetworkCounter } from "../limits/network-counter.ts";
import type { AccountChange, Email } from "../mail/email.ts";
import type { Outbox } from "../mail/outbox.ts";
import type { ClientContext, ClientOrigin, User } from "./account.ts";
import type { LinkPurpose, MailedLinkStore } from "./store/mailed-links.ts";

/** The email that notifies an account's owner of a change. @param subject the name of the changed object; "": it has none. */
export function accountNotification(
  user: Pick<User, "email" | "language">,
  change: AccountChange,
  about: { readonly client: ClientOrigin; readonly at: number; readonly subject?: string },
): Email {
  const { client, at, subject = "" } = about;
  const { address, userAgent } = client;
  return {
    to: user.email,
    language: user.language,
    content: { kind: "account_notification", change, subject, at, address, userAgent },
  };
}

/** Asked for by somebody who has not proved to own the address. */
export interface MailedLinkRequest {
  readonly email: string;
  readonly language: string;
  readonly client: ClientContext;
}

const rememberedMax = 40_000;

/** Limits emails that strangers can cause. @param sizes.name the kind of email: each kind is counted separately. */
export function createMailThrottle(
  sizes: { readonly name: string; readonly perClientMax: number; readonly perAddressMax: number },
  limits: Limits,
) {
  const make = (of: string, max: number) =>
    limits.inWindows({ name: `${sizes.name} ${of}`, windowMs: hourMs, max, rememberedMax });
  const clients = createNetworkCounter((shares) => make("client", Math.floor(sizes.perClientMax * shares)));
  const addresses = make("address", sizes.perAddressMax);
  return {
    /**
     * Charges the client that causes an email.
     * @returns whether an email may be sent to this address now. The client must not learn the result; links in earlier
     * emails keep working.
     * @throws AppError too_many_requests.
     */
    async charge(throttleKey: string, email: string, now: number): Promise<boolean> {
      const charge = await clients.charge(throttleKey, now);
      if (charge.outcome === "refused") throw tooManyAttempts(charge);
      return (await addresses.charge(email, now)).outcome === "charged";
    },
  };
}

/** Creates a link for the account, and queues the email with it. Requires the accounts lock. */
export async function putMailedLink(
  deps: {
    readonly links: MailedLinkStore;
    readonly random: Random;
    readonly access: AccessKeys;
    readonly outbox: Outbox;
  },
  tx: Transaction,
  user: User,
  link: {
    readonly purpose: Exclude<LinkPurpose, "break_glass">;
    /** For a user without a chosen language; null: the server's default. */
    readonly language: string | null;
    /** The password of the sign-up; it becomes the account's on confirmation. Absent: the password is unchanged. */
    readonly passwordHash?: string;
    readonly now: number;
  },
): Promise<void> {
  const { purpose, language, passwordHash = null, now } = link;
  const token = makeOpaqueToken(deps.random);
  const digest = deps.access.digest("mailed_link", token);
  await deps.links.insert(tx, { digest, userId: user.id, purpose, passwordHash, now });
  const content = { kind: purpose, token };
  await deps.outbox.put(tx, { to: user.email, language: user.language ?? language, content }, now);
}
