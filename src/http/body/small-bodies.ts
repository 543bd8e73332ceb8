import type { IncomingMessage } from "node:http";
import type { AppError } from "../../base/errors.ts";
import { bodyCutOff, isInTinyPieces, minimumRate, tinyPieces, tooSlow } from "./body-chunks.ts";
import { noBytes } from "./body-parser.ts";

/** How often all small bodies are checked together. */
const checkMs = 1_000;

interface Waiting {
  /** Checks since its headers arrived. */
  checks: number;
  readonly fail: (failure: AppError) => void;
}

/** Whether the declared length is within one window of the minimum rate: all of the body must arrive in it. */
export function isSmall(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return length !== undefined && Number(length) <= minimumRate.bytes;
}

/**
 * Receives small bodies whole. Nearly all arrive together with their headers, so they share one timer for the minimum rate: two timers
 * of its own and an iterator cost more than such a body.
 */
export class SmallBodies {
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  /** @throws AppError invalid_request (the connection broke, tiny pieces), too_slow. The rest then stays with the request. */
  receive(request: IncomingMessage): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let bytes: Buffer = noBytes;
      let pieces = 0;
      const stop = () => {
        this.#waiting.delete(waiting);
        request.off("data", onData).off("end", onEnd).off("close", onClose);
      };
      const fail = (failure: AppError) => {
        stop();
        request.pause();
        reject(failure);
      };
      const onData = (chunk: Buffer) => {
        bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
        pieces += 1;
        if (isInTinyPieces(pieces, bytes.length)) fail(tinyPieces());
      };
      const onEnd = () => {
        stop();
        resolve(bytes);
      };
      const onClose = () => fail(bodyCutOff());
      const waiting = { checks: 0, fail };
      if (request.destroyed) return onClose();
      // A request emits "error" only to those who listen for it, and "close" in any case.
      request.on("data", onData).on("end", onEnd).on("close", onClose);
      this.#waiting.add(waiting);
      this.#timer ??= setTimeout(this.#check, checkMs).unref();
    });
  }

  readonly #check = (): void => {
    this.#timer = this.#waiting.size === 0 ? undefined : setTimeout(this.#check, checkMs).unref();
    for (const waiting of this.#waiting) {
      waiting.checks += 1;
      // The first check may come at once.
      if (waiting.checks > minimumRate.windowMs / checkMs) waiting.fail(tooSlow());
    }
  };
}
