import { hourMs } from "../base/clock.ts";
import { type Limits, tooManyAttempts } from "../limits/limits.ts";

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
