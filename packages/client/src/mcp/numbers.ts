/** Numbers in place of links, which open secrets. Only this process can resolve them. */
export class Numbers {
  readonly #what: string;
  readonly #tool: string;
  /** Each url_token or, if it is known, its link with the key. */
  readonly #named = new Map<string, string>();

  /** @param tool the one that gives numbers. */
  constructor(what: string, tool: string) {
    this.#what = what;
    this.#tool = tool;
  }

  /** @param link what `namedBy` returns later. */
  numberOf(urlToken: string, link?: string): string {
    if (link !== undefined || !this.#named.has(urlToken)) this.#named.set(urlToken, link ?? urlToken);
    return String([...this.#named.keys()].indexOf(urlToken) + 1);
  }

  /** @param given a number, a link or a url_token. */
  namedBy(given: string): string {
    if (!/^\d{1,6}$/.test(given)) return given;
    const found = [...this.#named.values()][Number(given) - 1];
    if (found === undefined) {
      throw new Error(`There is no ${this.#what} ${given} in this session: call ${this.#tool} first.`);
    }
    return found;
  }
}
