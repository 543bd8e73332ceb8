/** Bounds of what clients hold of one resource: bytes in memory, open connections. */
export interface ShareLimits {
  /** All clients together. */
  readonly max: number;
  /** One client: an IPv4 address or an IPv6 /64. A /56 may hold half as much again, a /48 twice as much. */
  readonly perClientMax: number;
}

/** The bits of larger IPv6 networks that one sender often has as a whole, and their share in shares of one client. */
const widest = { bits: 48, shares: 2 } as const;
const widerNetworks = [{ bits: 56, shares: 1.5 }, widest] as const;

/**
 * Counts what each client holds of a resource that all share, so that no client, and no network that one sender may have as
 * a whole, keeps it from the others. Memory is bounded by `max`: only what is held is remembered.
 */
export class ClientShares {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** What all clients hold together. */
  get held(): number {
    return this.#total;
  }

  /** @param client a client's key. @returns false, and nothing is taken, if a limit would be exceeded; else `release` it later. */
  take(client: string, amount: number): boolean {
    // An entry of nothing would never be removed: most bodies are too small to be counted.
    if (amount === 0) return true;
    const { max, perClientMax } = this.#limits;
    const networks = networksOf(client);
    const fits = ({ name, shares }: ClientNetwork) => this.#heldBy(name) + amount <= perClientMax * shares;
    if (this.#total + amount > max || !networks.every(fits)) return false;
    this.#total += amount;
    for (const { name } of networks) this.#held.set(name, this.#heldBy(name) + amount);
    return true;
  }

  release(client: string, amount: number): void {
    this.#total -= amount;
    for (const { name } of networksOf(client)) {
      const remaining = this.#heldBy(name) - amount;
      if (remaining > 0) this.#held.set(name, remaining);
      else this.#held.delete(name);
    }
  }

  #heldBy(name: string): number {
    return this.#held.get(name) ?? 0;
  }
}

interface ClientNetwork {
  readonly name: string;
  readonly shares: number;
}

/** The four groups of a client key that is an IPv6 /64, as `clientKey` of `base/networks.ts` writes it. */
const ipv6Key = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/;

/** The client keys in the IPv6 /48 of a client, as texts from `first` up to `end`, which is none; undefined: it is an IPv4 address. */
export function keysOfWidestNetwork(client: string) {
  const [, first, second, third] = ipv6Key.exec(client) ?? [];
  if (first === undefined) return undefined;
  const groups = `${first}:${second}:${third}`;
  // The character after a colon.
  return { first: `${groups}:`, end: `${groups};`, shares: widest.shares };
}

/** The name of the largest network around a client that one sender often has as a whole: the client itself, or its IPv6 /48. */
export function widestNetworkOf(client: string): string {
  return networksOf(client).at(-1)?.name ?? client;
}

/** The client itself and, for IPv6, the larger networks around it. */
export function networksOf(client: string): readonly ClientNetwork[] {
  const own = { name: client, shares: 1 };
  const groups = ipv6Key
    .exec(client)
    ?.slice(1)
    .map((group) => Number.parseInt(group, 16));
  if (groups === undefined) return [own];
  const [first = 0, second = 0, third = 0, fourth = 0] = groups;
  const wider = widerNetworks.map(({ bits, shares }) => {
    const last = bits === widest.bits ? 0 : fourth & 0xff00;
    const network = [first, second, third, last].map((group) => group.toString(16)).join(":");
    return { name: `${network}::/${bits}`, shares };
  });
  return [own, ...wider];
}
