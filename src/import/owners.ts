export type Owner =
  | { readonly outcome: "here"; readonly userId: number }
  | { readonly outcome: "nobody" }
  /** Somebody there, who did not come along. */
  | { readonly outcome: "left_out" }
  /** Somebody whose account here was deleted. */
  | { readonly outcome: "gone" };

/** Who the users of the source are here. */
export class Owners {
  readonly #ids = new Map<number, number | "left_out" | "gone">();

  set(sourceId: number, userId: number | "left_out" | "gone"): void {
    this.#ids.set(sourceId, userId);
  }

  /** Of a push. Whoever is no user at the source either owns nothing any more. */
  ownerOf(sourceId: number | null): Owner {
    const user = sourceId === null ? undefined : this.#ids.get(sourceId);
    if (user === undefined) return { outcome: "nobody" };
    return typeof user === "number" ? { outcome: "here", userId: user } : { outcome: user };
  }

  /** Of an entry in a trail; null: somebody unknown, or not signed in. */
  find(sourceId: number | null): number | null {
    const owner = this.ownerOf(sourceId);
    return owner.outcome === "here" ? owner.userId : null;
  }
}
