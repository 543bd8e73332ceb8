import { hourMs } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { digest } from "../crypto/digests.ts";
import { makeOpaqueToken } from "../crypto/tokens.ts";
import type { Transaction } from "../database/database.ts";
import { type Limits, tooManyAttempts } from "../limits/limits.ts";
import type { Outbox } from "../mail/outbox.ts";
import type { User } from "./account.ts";
import type { MailedLinkStore } from "./store/mailed-links.ts";

const rememberedMax = 20_000;

export interface MailThrottle {
  /**
   * Charges the client that asks for a mail. @throws AppError too_many_requests.
   * @returns whether a mail may go to this address now. Its owner must not be drowned in them; whoever asks is not told,
   * and what the mails before said still holds.
   */
  charge(client: string, email: string, now: number): Promise<boolean>;
}

/** @param sizes.name of what the mails are for: each kind has its own counts. */
export function createMailThrottle(
  sizes: { readonly name: string; readonly perClientMax: number; readonly perAddressMax: number },
  limits: Limits,
): MailThrottle {
  const make = (of: string, max: number) =>
    limits.inWindows({ name: `${sizes.name} ${of}`, windowMs: hourMs, max, rememberedMax });
  const clients = make("client", sizes.perClientMax);
  const addresses = make("address", sizes.perAddressMax);
  return {
    async charge(client, email, now) {
      const charge = await clients.charge(client, now);
      if (charge.outcome === "refused") throw tooManyAttempts(charge);
      return (await addresses.charge(email, now)).outcome === "charged";
    },
  };
}

interface Sending {
  /** Of a reader who has chosen none. */
  readonly language: string;
  /** Of the sign-up that the mail answers, which becomes the account's; null: the password stays. */
  readonly passwordHash: string | null;
  readonly now: number;
}

/** A link by which the account's e-mail is confirmed, and the mail with it. In one of the accounts' turn. */
export async function putConfirmation(
  deps: { readonly links: MailedLinkStore; readonly random: Random; readonly outbox: Outbox },
  tx: Transaction,
  user: User,
  { language, passwordHash, now }: Sending,
): Promise<void> {
  const token = makeOpaqueToken(deps.random);
  await deps.links.insert(tx, {
    ...{ digest: digest(token), userId: user.id, purpose: "confirm_account", passwordHash, now },
  });
  const content = { kind: "confirm_account", token } as const;
  await deps.outbox.put(tx, { to: user.email, language: user.language ?? language, content }, now);
}
