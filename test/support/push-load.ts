import { setTimeout as pause } from "node:timers/promises";
import type { PushLedger, RequestResult, Target } from "./push-ledger.ts";

export interface LoadCounts {
  done: number;
  refused: number;
  cut: number;
}

interface Waiting {
  readonly isOver: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The pause after a refusal: shorter than Retry-After, but long enough not to overload the server. */
const refusedPauseMs = 25;

/** Clients that send requests to several servers and record the results. */
export class PushLoad {
  readonly counts: LoadCounts = { done: 0, refused: 0, cut: 0 };
  readonly #ledger: PushLedger;
  readonly #pauseMs: number;
  readonly #doneAt = new Map<Target, number>();
  readonly #waiting = new Set<Waiting>();
  readonly #clients: Promise<void>;
  #stopped = false;
  #failure: unknown = new Error("The load has stopped.");

  /**
   * @param clients of each server.
   * @param pauseMs of each client after each request; 0: they overload the servers.
   */
  constructor(ledger: PushLedger, targets: readonly Target[], clients: number, pauseMs = 0) {
    this.#ledger = ledger;
    this.#pauseMs = pauseMs;
    const loops = targets.flatMap((target) => Array.from({ length: clients }, () => this.#loop(target)));
    this.#clients = Promise.all(loops).then(() => undefined);
    this.#clients.catch((error: unknown) => {
      this.#stopped = true;
      this.#failure = error;
      for (const waiting of this.#waiting) waiting.reject(error);
    });
  }

  /** Resolves after this many further successful requests. @throws the error of a client. */
  more(count: number): Promise<void> {
    const enough = this.counts.done + count;
    return this.#until(() => this.counts.done >= enough);
  }

  /** Resolves after this many further successful requests to this server. */
  moreAt(target: Target, count: number): Promise<void> {
    const enough = this.#at(target) + count;
    return this.#until(() => this.#at(target) >= enough);
  }

  /** Resolves after this many further failed requests. */
  moreFailures(count: number): Promise<void> {
    const failed = () => this.counts.refused + this.counts.cut;
    const enough = failed() + count;
    return this.#until(() => failed() >= enough);
  }

  /** Sends no new requests; resolves when the running ones have ended. @throws the error of a client. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#clients;
  }

  async #loop(target: Target): Promise<void> {
    while (!this.#stopped) {
      const fate = await this.#ledger.ask(target);
      this.#note(target, fate);
      const pauseMs = fate === "done" ? this.#pauseMs : refusedPauseMs;
      if (pauseMs > 0) await pause(pauseMs);
    }
  }

  #note(target: Target, fate: RequestResult): void {
    this.counts[fate] += 1;
    if (fate === "done") this.#doneAt.set(target, this.#at(target) + 1);
    for (const waiting of this.#waiting) {
      if (!waiting.isOver()) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  #at(target: Target): number {
    return this.#doneAt.get(target) ?? 0;
  }

  #until(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) reject(this.#failure);
      this.#waiting.add({ isOver, resolve, reject });
    });
  }
}
