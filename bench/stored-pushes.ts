import type { Domain } from "../src/domain.ts";
import { claimRequest, inParallel, stranger } from "./bench-domain.ts";
import { type ClaimPattern, chooseClaims } from "./claim-choice.ts";
import { TokenShelf } from "./token-shelf.ts";

const payload = "correct horse battery staple 4711 $%&/()";
const width = 64;

/** A database whose size stays about the same while its pushes are claimed. */
export class StoredPushes {
  readonly #domain: Domain;
  readonly #shelf: TokenShelf;

  constructor(domain: Domain, capacity: number) {
    this.#domain = domain;
    this.#shelf = new TokenShelf(capacity);
  }

  get count(): number {
    return this.#shelf.count;
  }

  /** Adds one-view pushes until there are `count`. */
  async fillTo(count: number): Promise<void> {
    await inParallel(count - this.#shelf.count, width, async () => {
      const push = await this.#domain.pushes.create({ payload, expireAfterViews: 1 }, stranger);
      this.#shelf.add(push.urlToken);
    });
  }

  /** Removes tokens, for later claims. */
  take(pattern: ClaimPattern, claims: number, random: () => number): string[] {
    const indexes = chooseClaims(pattern, this.#shelf.count, claims, random);
    const tokens = indexes.map((index) => this.#shelf.at(index));
    this.#shelf.remove(new Set(indexes));
    return tokens;
  }

  /** Claims all of them, 64 concurrently. @returns milliseconds. */
  async claimAll(tokens: readonly string[]): Promise<number> {
    const startedAt = performance.now();
    await inParallel(tokens.length, width, (at) => claimOnce(this.#domain, tokens[at] ?? ""));
    return performance.now() - startedAt;
  }
}

export async function claimOnce(domain: Domain, token: string): Promise<void> {
  const claimed = await domain.pushes.claimView(token, claimRequest, stranger);
  if (claimed.outcome !== "revealed") throw new Error(`A live push was answered with ${claimed.outcome}.`);
}
