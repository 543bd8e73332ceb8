export type Owner =
  | { readonly outcome: "here"; readonly userId: number }
  | { readonly outcome: "nobody" }
  /** Somebody there, who did not come along. */
  | { readonly outcome: "left_out" };

/** Who the users of the source are here. */
export class Owners {
  readonly #ids = new Map<number, number | null>();

  set(sourceId: number, userId: number): void {
    this.#ids.set(sourceId, userId);
  }

  leaveOut(sourceId: number): void {
    this.#ids.set(sourceId, null);
  }

  /** Of a push. Whoever is no user at the source either owns nothing any more. */
  ownerOf(sourceId: number | null): Owner {
    const userId = sourceId === null ? undefined : this.#ids.get(sourceId);
    if (userId === undefined) return { outcome: "nobody" };
    return userId === null ? { outcome: "left_out" } : { outcome: "here", userId };
  }

  /** Of an entry in a trail; null: somebody unknown, or not signed in. */
  find(sourceId: number | null): number | null {
    return (sourceId === null ? undefined : this.#ids.get(sourceId)) ?? null;
  }
}
