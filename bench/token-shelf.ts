const tokenBytes = 32;

/** url_tokens in the order of creation, in one buffer: a million strings would slow down the garbage collector. */
export class TokenShelf {
  #bytes: Buffer;
  #count = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity * tokenBytes);
  }

  get count(): number {
    return this.#count;
  }

  add(token: string): void {
    this.#bytes.write(token, this.#count * tokenBytes, "latin1");
    this.#count += 1;
  }

  at(index: number): string {
    return this.#bytes.toString("latin1", index * tokenBytes, (index + 1) * tokenBytes);
  }

  /** Removes these tokens; the order of the others stays the same. */
  remove(indexes: ReadonlySet<number>): void {
    const first = Math.min(this.#count, ...indexes);
    let to = first;
    for (let from = first; from < this.#count; from += 1) {
      if (indexes.has(from)) continue;
      this.#bytes.copy(this.#bytes, to * tokenBytes, from * tokenBytes, (from + 1) * tokenBytes);
      to += 1;
    }
    this.#count = to;
  }
}
