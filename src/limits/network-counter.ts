import { networksOf } from "./client-shares.ts";
import { type AmountCounter, type Charge, chargeAll } from "./limits.ts";

/**
 * Counts for a client and for the larger networks around it, each with a limit by its share (`networksOf`).
 * @param make the counter of networks with that many shares of one client; called once for each number.
 */
export function createNetworkCounter(make: (shares: number) => AmountCounter) {
  const counters = new Map<number, AmountCounter>();

  function counterOf(shares: number): AmountCounter {
    const counter = counters.get(shares) ?? make(shares);
    counters.set(shares, counter);
    return counter;
  }

  return {
    /**
     * Charges all of them or, if one refuses, none.
     * @param client a client's key. @param keyOf the key of each network from its name; by default the name.
     */
    charge(client: string, now: number, amount?: number, keyOf = (name: string) => name): Promise<Charge> {
      const networks = networksOf(client);
      return chargeAll(
        networks.map(
          ({ name, shares }) =>
            () =>
              counterOf(shares).charge(keyOf(name), now, amount),
        ),
      );
    },
  };
}
