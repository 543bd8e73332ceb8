import { dayMs } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import type { AmountCounter, Limits } from "../../limits/limits.ts";
import { createNetworkCounter } from "../../limits/network-counter.ts";
import type { Actor } from "../actor.ts";

/** With more clients than this in a day, the oldest ones are forgotten (in memory only). */
const rememberedMax = 200_000;
/** At most a thousandth of the budget, so that it stays nearly exact with many processes. */
const reservedAtOnce = (max: number) => Math.min(64 * 1024, Math.floor(max / 1000));

interface Budget {
  readonly counter: AmountCounter;
  readonly key: string;
  readonly owner: "account" | "address";
  readonly bytesPerDay: number;
}

export type ByteBudgets = ReturnType<typeof createByteBudgets>;

/** How many bytes of new pushes a client without an account, or an account, may create in a day, over all processes. */
export function createByteBudgets({ limits, config }: { limits: Limits; config: Pick<Config, "bytesPerDay"> }) {
  const { client, account } = config.bytesPerDay;
  const windows = (name: string, max: number) =>
    limits.inWindows({ name, windowMs: dayMs, max, rememberedMax, reservedAtOnce: reservedAtOnce(max) });
  const clientBytes = createNetworkCounter((shares) => windows("client bytes", Math.floor(client * shares)));
  const accountBytes = windows("account bytes", account);

  function budgetOf(actor: Actor): Budget | undefined {
    if (actor.user !== null && actor.answersRequest === undefined) {
      const key = String(actor.user.id);
      return account === 0 ? undefined : { counter: accountBytes, key, owner: "account", bytesPerDay: account };
    }
    if (client === 0) return undefined;
    return { counter: clientBytes, key: actor.client, owner: "address", bytesPerDay: client };
  }

  return {
    /** For one push that is being created or edited. */
    begin: (actor: Actor): SpentBytes => new SpentBytes(budgetOf(actor)),
  };
}

/** The bytes that one push has used of its creator's budget. They are refunded unless they are kept. */
export class SpentBytes {
  readonly #budget: Budget | undefined;
  #refunds: (() => Promise<void>)[] = [];

  /** @param budget undefined: there is no limit. */
  constructor(budget: Budget | undefined) {
    this.#budget = budget;
  }

  /** @throws AppError bytes_used_up when the budget has less left. */
  async charge(bytes: number, now: number): Promise<void> {
    if (bytes === 0 || this.#budget === undefined) return;
    const { counter, key, owner, bytesPerDay } = this.#budget;
    const charge = await counter.charge(key, now, bytes);
    if (charge.outcome === "refused") {
      const refusal = `This ${owner} has used up its ${bytesPerDay} bytes of new pushes a day. Try again later.`;
      throw new AppError("bytes_used_up", refusal, { retryAfterSeconds: charge.retryAfterSeconds });
    }
    this.#refunds.push(charge.refund);
  }

  /** The push is stored. */
  keep(): void {
    this.#refunds = [];
  }

  async refund(): Promise<void> {
    const refunds = this.#refunds;
    this.#refunds = [];
    for (const refund of refunds) await refund();
  }
}
