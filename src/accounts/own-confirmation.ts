import { type Clock, hourMs } from "../base/clock.ts";
import { AppError, unavailable } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import type { Database } from "../database/database.ts";
import { type Limits, tooManyAttempts } from "../limits/limits.ts";
import type { BoundedOutbox } from "../mail/outbox.ts";
import type { ClientContext, User } from "./account.ts";
import { putConfirmation } from "./confirmation-email.ts";
import type { MailedLinkStore } from "./store/mailed-links.ts";
import type { UserStore } from "./store/users.ts";

export interface OwnConfirmation {
  /**
   * Mails a link by which the signed-in user confirms their e-mail, whether accounts get mails here or not.
   * @param request.language of a user who has chosen none.
   * @returns "not_waiting": it is confirmed already, or another one by now.
   * @throws AppError forbidden (no mails leave here), too_many_requests, unavailable.
   */
  requestOwnConfirmation(request: {
    user: Pick<User, "id" | "email">;
    language: string;
    client: ClientContext;
  }): Promise<"sent" | "not_waiting">;
}

interface Deps {
  readonly db: Database;
  readonly users: UserStore;
  readonly links: MailedLinkStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly requestedOutbox: BoundedOutbox;
  readonly limits: Limits;
}

/**
 * In an hour. Nobody knows yet whether the address is the user's: neither may one account write to many, nor many
 * accounts to one. What strangers ask for is counted elsewhere, so that they cannot use up the owner's.
 */
const perHourMax = { client: 100, user: 5, address: 5 };
const rememberedMax = 20_000;

export function createOwnConfirmation(deps: Deps): OwnConfirmation {
  const { db, users, clock, requestedOutbox: outbox, limits } = deps;
  const counterOf = (of: keyof typeof perHourMax) =>
    limits.inWindows({
      ...{ name: `own confirmation mail ${of}`, windowMs: hourMs, max: perHourMax[of], rememberedMax },
    });
  const counters = { client: counterOf("client"), user: counterOf("user"), address: counterOf("address") };

  async function charge(client: string, user: Pick<User, "id" | "email">, now: number): Promise<void> {
    const charges = [
      [counters.client, client],
      [counters.user, String(user.id)],
      [counters.address, user.email],
    ] as const;
    for (const [counter, key] of charges) {
      const outcome = await counter.charge(key, now);
      if (outcome.outcome === "refused") throw tooManyAttempts(outcome);
    }
  }

  return {
    async requestOwnConfirmation({ user: { id, email }, language, client }) {
      if (!outbox.open) throw new AppError("forbidden", "This server sends no mails.");
      const now = clock.now();
      await charge(client.throttleKey, { id, email }, now);
      if (await outbox.isFull()) throw unavailable("Too many mails wait to be sent. Try again later.", 60);
      return await db.writeSerialized("accounts", async (tx) => {
        const user = await users.findFresh(tx, email);
        if (user?.id !== id || user.confirmedAt !== null || user.disabledAt !== null) return "not_waiting";
        await putConfirmation({ ...deps, outbox }, tx, user, { language, passwordHash: null, now });
        return "sent";
      });
    },
  };
}
