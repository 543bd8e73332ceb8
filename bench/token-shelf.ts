const tokenBytes = 26;

/** url_tokens in the order of creation, outside of the garbage collector's reach: a million strings would cost it time. */
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

  /** Closes the gaps that the given members leave; the order of the others stays. */
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
