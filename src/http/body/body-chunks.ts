import type { IncomingMessage } from "node:http";
import { AppError } from "../../base/errors.ts";
import { noBytes } from "./body-parser.ts";
import type { LoopTurns } from "./loop-turns.ts";

/** The minimum rate of a body: while the server waits, the client must send this much, or all that is left, in each window. */
export const minimumRate = { bytes: 10 * 1024, windowMs: 10_000 };

/** Smaller amounts are passed on only at the end, so that a body of tiny pieces costs no more than any other. */
const chunkBytesMin = 4 * 1024;
/** The client is paused when this much has arrived and has not been read. */
const waitingBytesMax = 64 * 1024;

/**
 * Each HTTP chunk costs a call and may have a single byte. A body in such chunks, read or discarded, costs a hundred times
 * as much as any other. No real client sends thousands of them.
 */
export function isInTinyPieces(pieces: number, bytes: number): boolean {
  return pieces > 1_024 && bytes < pieces * 16;
}

/**
 * The bytes of a request's body as they arrive, with backpressure, each chunk in its turn of the event loop.
 * @throws AppError invalid_request (the connection broke), too_slow.
 */
export class BodyChunks implements AsyncIterableIterator<Buffer> {
  readonly #request: IncomingMessage;
  readonly #turns: LoopTurns;
  readonly #held = new ByteQueue();
  readonly #deadline: NodeJS.Timeout | undefined;
  #window: NodeJS.Timeout | undefined;
  #windowBytes = 0;
  #bytes = 0;
  #pieces = 0;
  #ended = false;
  #failure: AppError | undefined;
  #wake: (() => void) | undefined;

  /** @param msMax from now to the last byte; undefined: only the minimum rate counts. */
  constructor(request: IncomingMessage, turns: LoopTurns, msMax: number | undefined) {
    this.#request = request;
    this.#turns = turns;
    if (msMax !== undefined) this.#deadline = setTimeout(() => this.#fail(tooSlow()), msMax);
    request.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose).on("error", this.#onClose);
    if (request.destroyed) this.#onClose();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    while (this.#held.length < chunkBytesMin && !this.#ended && this.#failure === undefined) await this.#more();
    if (this.#failure !== undefined) throw this.#failure;
    const chunk = this.#held.take();
    if (chunk === undefined) return await this.return();
    await this.#turns.take(chunk.length);
    if (this.#request.isPaused()) this.#request.resume();
    return { done: false, value: chunk };
  }

  /** Stops reading. The rest of the body stays with the request. */
  async return(): Promise<IteratorResult<Buffer, undefined>> {
    clearTimeout(this.#deadline);
    clearTimeout(this.#window);
    if (this.#ended) return { done: true, value: undefined };
    const request = this.#request.off("data", this.#onData).off("end", this.#onEnd);
    request.off("close", this.#onClose).off("error", this.#onClose);
    request.pause();
    return { done: true, value: undefined };
  }

  #more(): Promise<void> {
    this.#window ??= setTimeout(this.#endWindow, minimumRate.windowMs);
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Time in which the server does not wait for the client does not count. */
  readonly #endWindow = (): void => {
    const isSlow = this.#wake !== undefined && this.#windowBytes < minimumRate.bytes;
    this.#windowBytes = 0;
    this.#window = undefined;
    if (isSlow) this.#fail(tooSlow());
    else if (this.#wake !== undefined) this.#window = setTimeout(this.#endWindow, minimumRate.windowMs);
  };

  readonly #onData = (chunk: Buffer): void => {
    this.#held.add(chunk);
    this.#windowBytes += chunk.length;
    if (this.#held.length >= waitingBytesMax) this.#request.pause();
    this.#bytes += chunk.length;
    this.#pieces += 1;
    if (isInTinyPieces(this.#pieces, this.#bytes)) {
      this.#fail(tinyPieces());
    }
    if (this.#held.length >= chunkBytesMin) this.#wakeUp();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#wakeUp();
  };

  readonly #onClose = (): void => {
    if (!this.#ended) this.#fail(bodyCutOff());
  };

  #fail(failure: AppError): void {
    this.#failure ??= failure;
    this.#wakeUp();
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** Many small pieces are copied into one buffer: a piece of one byte would cost a hundred bytes as an object. */
class ByteQueue {
  /** A single piece is kept as it is: its own length is the capacity. */
  #buffer: Buffer = noBytes;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#buffer = chunk;
    } else {
      if (length > this.#buffer.length) {
        const larger = Buffer.allocUnsafe(2 * length);
        this.#buffer.copy(larger, 0, 0, this.#length);
        this.#buffer = larger;
      }
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length = length;
  }

  take(): Buffer | undefined {
    if (this.#length === 0) return undefined;
    const taken = this.#buffer.subarray(0, this.#length);
    this.#buffer = noBytes;
    this.#length = 0;
    return taken;
  }
}

export function tinyPieces(): AppError {
  return new AppError("invalid_request", "The body is sent in too many tiny chunks.");
}

export function bodyCutOff(): AppError {
  return new AppError("invalid_request", "The body was cut off.");
}

export function tooSlow(): AppError {
  return new AppError("too_slow", "The body arrived too slowly.");
}
