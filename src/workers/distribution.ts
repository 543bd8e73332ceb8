interface Member<T> {
  readonly give: (connection: T) => void;
  /** Given, but not taken yet. */
  held?: T;
  leaving: boolean;
}

export interface DistributionDeps<T> {
  /** Ends a connection that nobody will take. */
  readonly drop: (connection: T) => void;
  /** A worker has it. */
  readonly release: (connection: T) => void;
}

/** So many wait only when nobody answers any more. */
export const waitingMax = 4_096;

/**
 * Hands connections to workers, one at a time: to the one that has been free for longest. A worker is free when it has
 * taken what it was given before, so one that is busy is passed over; and what one did not take before it was lost goes
 * to another.
 */
export class Distribution<T> {
  readonly #deps: DistributionDeps<T>;
  readonly #members = new Map<number, Member<T>>();
  readonly #free = new Set<number>();
  readonly #waiting: T[] = [];
  #allGiven: PromiseWithResolvers<void> | undefined;

  constructor(deps: DistributionDeps<T>) {
    this.#deps = deps;
  }

  offer(connection: T): void {
    if (this.#waiting.length < waitingMax) {
      this.#waiting.push(connection);
      this.#handOut();
    } else this.#deps.drop(connection);
  }

  join(worker: number, give: (connection: T) => void): void {
    this.#members.set(worker, { give, leaving: false });
    this.#free.add(worker);
    this.#handOut();
  }

  taken(worker: number): void {
    const member = this.#members.get(worker);
    if (member?.held === undefined) return;
    this.#deps.release(member.held);
    delete member.held;
    if (!member.leaving) this.#free.add(worker);
    this.#handOut();
  }

  /** It gets no more. */
  leave(worker: number): void {
    this.#free.delete(worker);
    const member = this.#members.get(worker);
    if (member !== undefined) member.leaving = true;
  }

  /** It is no more: what it had not taken comes before all that wait. */
  lose(worker: number): void {
    this.#free.delete(worker);
    const held = this.#members.get(worker)?.held;
    this.#members.delete(worker);
    if (held !== undefined) this.#waiting.unshift(held);
    this.#handOut();
  }

  /** Resolves when every connection that was offered has been given to somebody. */
  async allGiven(): Promise<void> {
    if (this.#waiting.length === 0) return;
    this.#allGiven ??= Promise.withResolvers();
    await this.#allGiven.promise;
  }

  #handOut(): void {
    for (const worker of this.#free) {
      const connection = this.#waiting.shift();
      if (connection === undefined) break;
      this.#free.delete(worker);
      const member = this.#members.get(worker);
      if (member === undefined) throw new Error("A free worker is no member.");
      member.held = connection;
      member.give(connection);
    }
    if (this.#waiting.length > 0) return;
    this.#allGiven?.resolve();
    this.#allGiven = undefined;
  }
}
