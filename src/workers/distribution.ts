interface Member<T> {
  readonly send: (connection: T) => void;
  /** Sent, but not acknowledged yet. */
  unacknowledged?: T;
  draining: boolean;
}

export interface DistributionDeps<T> {
  /** Closes a connection that no worker will get. */
  readonly drop: (connection: T) => void;
  /** Closes the primary's handle of a connection that a worker has. */
  readonly release: (connection: T) => void;
}

/** This many connections wait only if no worker answers any more. */
export const waitingMax = 4_096;

/**
 * Sends connections to workers one at a time, each to the worker that has been free for longest. A worker is free once it
 * has acknowledged its last connection, so a busy one is skipped. A connection that a lost worker did not acknowledge goes
 * to another one.
 */
export class Distribution<T> {
  readonly #deps: DistributionDeps<T>;
  readonly #members = new Map<number, Member<T>>();
  /** In the order in which they became free. */
  readonly #free = new Set<number>();
  readonly #waiting: T[] = [];
  #allSent: PromiseWithResolvers<void> | undefined;

  constructor(deps: DistributionDeps<T>) {
    this.#deps = deps;
  }

  offer(connection: T): void {
    if (this.#waiting.length < waitingMax) {
      this.#waiting.push(connection);
      this.#sendWaiting();
    } else this.#deps.drop(connection);
  }

  add(worker: number, send: (connection: T) => void): void {
    this.#members.set(worker, { send, draining: false });
    this.#free.add(worker);
    this.#sendWaiting();
  }

  acknowledge(worker: number): void {
    const member = this.#members.get(worker);
    if (member?.unacknowledged === undefined) return;
    this.#deps.release(member.unacknowledged);
    delete member.unacknowledged;
    if (!member.draining) this.#free.add(worker);
    this.#sendWaiting();
  }

  /** Sends it no more connections. */
  drain(worker: number): void {
    this.#free.delete(worker);
    const member = this.#members.get(worker);
    if (member !== undefined) member.draining = true;
  }

  /** For a worker that has ended. A connection it did not acknowledge precedes all that wait. */
  remove(worker: number): void {
    this.#free.delete(worker);
    const unacknowledged = this.#members.get(worker)?.unacknowledged;
    this.#members.delete(worker);
    if (unacknowledged !== undefined) this.#waiting.unshift(unacknowledged);
    this.#sendWaiting();
  }

  /** Resolves when no connection waits any more. */
  async allSent(): Promise<void> {
    if (this.#waiting.length === 0) return;
    this.#allSent ??= Promise.withResolvers();
    await this.#allSent.promise;
  }

  #sendWaiting(): void {
    for (const worker of this.#free) {
      const connection = this.#waiting.shift();
      if (connection === undefined) break;
      this.#free.delete(worker);
      const member = this.#members.get(worker);
      if (member === undefined) throw new Error("A free worker is not a member.");
      member.unacknowledged = connection;
      member.send(connection);
    }
    if (this.#waiting.length > 0) return;
    this.#allSent?.resolve();
    this.#allSent = undefined;
  }
}
