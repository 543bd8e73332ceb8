import { hourMs } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { createAttemptWindows } from "./attempt-windows.ts";

const rememberedMax = 20_000;

export interface MailThrottle {
  /**
   * Charges the client that asks for a mail. @throws AppError too_many_requests.
   * @returns whether a mail may go to this address now. Its owner must not be drowned in them; whoever asks is not told,
   * and what the mails before said still holds.
   */
  charge(client: string, email: string, now: number): boolean;
}

export function createMailThrottle(limits: { readonly perClientMax: number; readonly perAddressMax: number }) {
  const clients = createAttemptWindows({ windowMs: hourMs, max: limits.perClientMax, rememberedMax });
  const addresses = createAttemptWindows({ windowMs: hourMs, max: limits.perAddressMax, rememberedMax });
  const throttle: MailThrottle = {
    charge(client, email, now) {
      const retryAfterSeconds = clients.waitSeconds(client, now);
      if (retryAfterSeconds > 0) {
        throw new AppError("too_many_requests", "Too many attempts. Try again later.", { retryAfterSeconds });
      }
      clients.charge(client, now);
      if (addresses.waitSeconds(email, now) > 0) return false;
      addresses.charge(email, now);
      return true;
    },
  };
  return throttle;
}
