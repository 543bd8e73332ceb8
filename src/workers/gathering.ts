import { secondMs } from "../base/clock.ts";
import { addDepartedCounts, type MetricPart } from "../telemetry/departed-counts.ts";
import type { ToWorker } from "./messages.ts";

type Send = (message: ToWorker) => void;

interface Round {
  readonly asker: number;
  /** As the asker numbers it. */
  readonly askersRound: number;
  readonly awaited: Set<number>;
  readonly timer: NodeJS.Timeout;
}

const answerMsMax = 2 * secondMs;

/**
 * Lets a worker ask all workers for their part of the metrics. The primary passes on what each gave last, and keeps what
 * those counted that have ended.
 */
export class Gathering {
  readonly #members = new Map<number, Send>();
  readonly #rounds = new Map<number, Round>();
  /** Of members, the last that each gave. */
  readonly #parts = new Map<number, unknown>();
  #departed: readonly MetricPart[] = [];
  #lastRound = 0;

  join(worker: number, send: Send): void {
    this.#members.set(worker, send);
  }

  /** Nobody waits for it any more. */
  leave(worker: number): void {
    this.#members.delete(worker);
    this.#departed = addDepartedCounts(this.#departed, this.#parts.get(worker));
    this.#parts.delete(worker);
    for (const number of [...this.#rounds.keys()]) this.#tick(number, worker);
  }

  begin(asker: number, askersRound: number): void {
    this.#lastRound += 1;
    const number = this.#lastRound;
    const timer = setTimeout(() => this.#end(number), answerMsMax);
    this.#rounds.set(number, { asker, askersRound, awaited: new Set(this.#members.keys()), timer });
    for (const send of this.#members.values()) send({ sealpush: "give_part", round: number });
    if (this.#members.size === 0) this.#end(number);
  }

  /** @param number of the round, or of none: a part given before the end. */
  take(worker: number, number: number, part: unknown): void {
    if (!this.#members.has(worker)) return;
    this.#parts.set(worker, part);
    this.#tick(number, worker);
  }

  #tick(number: number, worker: number): void {
    const round = this.#rounds.get(number);
    round?.awaited.delete(worker);
    if (round?.awaited.size === 0) this.#end(number);
  }

  #end(number: number): void {
    const round = this.#rounds.get(number);
    if (round === undefined) return;
    clearTimeout(round.timer);
    this.#rounds.delete(number);
    this.#members.get(round.asker)?.({
      sealpush: "parts",
      round: round.askersRound,
      parts: [...this.#parts.values(), this.#departed],
    });
  }
}
