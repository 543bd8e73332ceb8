import { networksOf } from "./client-shares.ts";
import type { AmountCounter, Charge } from "./limits.ts";

/** Counts for a client and for the larger networks around it, each with a limit by its share (`networksOf`). */
export interface NetworkCounter {
  /**
   * Charges all of them or, if one refuses, none.
   * @param client a client's key. @param keyOf the key of each network from its name; by default the name.
   */
  charge(client: string, now: number, amount?: number, keyOf?: (name: string) => string): Promise<Charge>;
}

/** @param make the counter of networks with that many shares of one client; called once for each number. */
export function createNetworkCounter(make: (shares: number) => AmountCounter): NetworkCounter {
  const counters = new Map<number, AmountCounter>();

  function counterOf(shares: number): AmountCounter {
    const counter = counters.get(shares) ?? make(shares);
    counters.set(shares, counter);
    return counter;
  }

  return {
    async charge(client, now, amount, keyOf = (name) => name) {
      const refunds: (() => Promise<void>)[] = [];
      const refund = async () => {
        await Promise.all(refunds.map((one) => one()));
      };
      for (const { name, shares } of networksOf(client)) {
        const charge = await counterOf(shares).charge(keyOf(name), now, amount);
        if (charge.outcome === "refused") {
          await refund();
          return charge;
        }
        refunds.push(charge.refund);
      }
      return { outcome: "charged", refund };
    },
  };
}
