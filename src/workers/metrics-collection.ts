import { secondMs } from "../base/clock.ts";
import { addCounts, type MetricSnapshot } from "../telemetry/ended-counts.ts";
import type { ToWorker } from "./messages.ts";

type Send = (message: ToWorker) => void;

interface Round {
  readonly asker: number;
  /** The asker's number for this round. */
  readonly askersRound: number;
  readonly awaited: Set<number>;
  readonly timer: NodeJS.Timeout;
}

const answerMsMax = 2 * secondMs;

/**
 * The primary's part in collecting the metrics of all workers for one of them. Passes on the latest metrics of each
 * worker, and keeps the counts of workers that have ended.
 */
export class MetricsCollection {
  readonly #workers = new Map<number, Send>();
  readonly #rounds = new Map<number, Round>();
  /** The latest metrics of each worker. */
  readonly #latest = new Map<number, unknown>();
  #endedCounts: readonly MetricSnapshot[] = [];
  #lastRound = 0;

  add(worker: number, send: Send): void {
    this.#workers.set(worker, send);
  }

  /** Rounds no longer wait for this worker. */
  remove(worker: number): void {
    this.#workers.delete(worker);
    this.#endedCounts = addCounts(this.#endedCounts, this.#latest.get(worker));
    this.#latest.delete(worker);
    for (const number of [...this.#rounds.keys()]) this.#answered(number, worker);
  }

  begin(asker: number, askersRound: number): void {
    this.#lastRound += 1;
    const number = this.#lastRound;
    const timer = setTimeout(() => this.#end(number), answerMsMax);
    this.#rounds.set(number, { asker, askersRound, awaited: new Set(this.#workers.keys()), timer });
    for (const send of this.#workers.values()) send({ sealpush: "report-metrics", round: number });
    if (this.#workers.size === 0) this.#end(number);
  }

  /** @param number the round; 0 (worker-link.ts) for metrics that a worker reports before it ends. */
  receive(worker: number, number: number, metrics: unknown): void {
    if (!this.#workers.has(worker)) return;
    this.#latest.set(worker, metrics);
    this.#answered(number, worker);
  }

  #answered(number: number, worker: number): void {
    const round = this.#rounds.get(number);
    round?.awaited.delete(worker);
    if (round?.awaited.size === 0) this.#end(number);
  }

  #end(number: number): void {
    const round = this.#rounds.get(number);
    if (round === undefined) return;
    clearTimeout(round.timer);
    this.#rounds.delete(number);
    this.#workers.get(round.asker)?.({
      sealpush: "collected-metrics",
      round: round.askersRound,
      metrics: [...this.#latest.values(), this.#endedCounts],
    });
  }
}
