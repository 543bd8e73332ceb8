import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { AppError, unavailable } from "../base/errors.ts";
import { ClientShares } from "../limits/client-shares.ts";
import { pushLimits } from "../pushes/pushes.ts";
import { LoopTurns } from "./body/loop-turns.ts";

const mebibyte = 1024 * 1024;

/** Larger answers are sent in slices, so that the progress of their reader is visible. */
const sliceBytes = 64 * 1024;
/**
 * Answers up to this length are neither counted nor sliced: the number of connections limits them. The form of a new push,
 * which has to work for everybody, is shorter.
 */
const uncountedCharacters = 48 * 1024;
/** What a streamed answer holds: the slices that wait, and what its source reads ahead. */
const streamBytes = 512 * 1024;

/** A sixteenth of the memory that the process may use, within bounds. */
export function answerMemoryLimits(memoryBytes: number) {
  const max = Math.min(256 * mebibyte, Math.max(24 * mebibyte, Math.floor(memoryBytes / 16)));
  // The largest answer must fit in it.
  return { max, perClientMax: Math.max(16 * mebibyte, max / 4) };
}

/** The resources that all answers share while they are being sent: memory and the event loop. */
export class AnswerOutflow {
  readonly memory: ClientShares;
  readonly turns: LoopTurns;

  constructor(limits: ReturnType<typeof answerMemoryLimits>, nextTurn: () => Promise<unknown>) {
    this.memory = new ClientShares(limits);
    this.turns = new LoopTurns(sliceBytes, nextTurn);
  }
}

/** The memory that is counted for one answer. */
export class AnswerHold {
  readonly #memory: ClientShares;
  readonly #client: string;
  #bytes = 0;
  /** The answer is sent in any case: what it reports may have been done. */
  isReserved = false;

  constructor(memory: ClientShares, client: string) {
    this.#memory = memory;
    this.#client = client;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @returns false, and nothing changes, when the memory, or this client's share, is used up. */
  grow(bytes: number): boolean {
    if (bytes <= this.#bytes) return true;
    if (!this.#memory.take(this.#client, bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** Reduces it to this many bytes; 0 when the answer has ended. */
  shrink(bytes: number): void {
    if (bytes >= this.#bytes) return;
    this.#memory.release(this.#client, this.#bytes - bytes);
    this.#bytes = bytes;
  }
}

/** The memory held by this answer, until it has been sent completely or was cut. */
function holdOf(reply: FastifyReply): AnswerHold {
  const { request } = reply;
  const existing = request.answerHold;
  if (existing !== null) return existing;
  const hold = new AnswerHold(reply.server.answerOutflow.memory, request.client.key);
  request.answerHold = hold;
  return hold;
}

/**
 * Counts this much memory for the answer until it has been sent or cut. Call it before anything is changed.
 * @throws AppError unavailable when the memory for answers, or this client's share, is used up; invalid_request when the
 * connection is closed: nothing would release the memory.
 */
function reserve(reply: FastifyReply, bytes: number): void {
  if (reply.request.raw.socket.destroyed) throw new AppError("invalid_request", "The connection is closed.");
  if (!holdOf(reply).grow(bytes)) {
    throw unavailable("Too many large answers are being sent. Try again shortly.", 2);
  }
}

/** Bytes of an answer for each byte of a text in it: an escape has six characters, base64 adds four thirds. */
const growthMax = 6 + 4 / 3;
/** The bytes of an answer other than its texts. */
const frameBytes = 128 * 1024;

/**
 * Reserves the memory for an answer with texts of this many bytes, whatever their characters are. From then on `sendText`
 * does not refuse it.
 * @throws AppError unavailable, also if the client has closed the connection: nobody would get the answer.
 */
export function reserveAnswer(reply: FastifyReply, textBytes: number): void {
  if (reply.raw.closed) throw unavailable("The client has closed the connection.", 1);
  if (growthMax * textBytes > uncountedCharacters) {
    // Only one-byte characters become longer when escaped, and the number of characters is limited.
    const grown = growthMax * Math.min(textBytes, pushLimits.payloadCharacters.text.max);
    reserve(reply, Math.ceil(Math.max(textBytes, grown)) + frameBytes);
  }
  holdOf(reply).isReserved = true;
}

/**
 * Sends a text. @throws AppError unavailable when it is large, nothing was reserved for it and the memory for answers is
 * used up.
 */
export function sendText(reply: FastifyReply, text: string): FastifyReply {
  if (text.length <= uncountedCharacters) return reply.send(text);
  const bytes = Buffer.from(text, "utf8");
  const hold = holdOf(reply);
  if (hold.isReserved) hold.shrink(bytes.length);
  else reserve(reply, bytes.length);
  reply.header("content-length", String(bytes.length));
  return reply.send(Readable.from(slicesOf(bytes), { objectMode: false, highWaterMark: sliceBytes }));
}

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += sliceBytes) yield bytes.subarray(start, start + sliceBytes);
}

/** A text that is made while it is sent. */
export interface LongText {
  readonly pieces: Generator<string, void>;
  /** What the source holds in memory until its end. */
  readonly heldBytes: number;
}

/** Sends a text in slices. @throws AppError unavailable, as `sendText`. */
export function sendLongText(reply: FastifyReply, { pieces, heldBytes }: LongText): FastifyReply {
  const hold = holdOf(reply);
  // An answer with a reservation is always sent: its view is counted.
  if (hold.bytes === 0) reserve(reply, heldBytes + streamBytes);
  else hold.shrink(heldBytes + streamBytes);
  return streamPieces(reply, pieces.next(), pieces);
}

/** Reserves what a streamed answer holds. @throws AppError unavailable. */
export function reserveStream(reply: FastifyReply): void {
  reserve(reply, streamBytes);
}

type Pieces = Generator<string | Uint8Array, void> | AsyncGenerator<string | Uint8Array, void>;

/**
 * Sends what `pieces` yields, in slices. The event loop is free between two slices, and the next piece is requested only
 * when the reader has taken what came before it. A failure of `pieces` cuts the answer.
 * @param heldBytes what the source holds in memory until its end.
 * @throws AppError unavailable when the memory for answers is used up; what `pieces` throws before its first piece.
 */
export async function sendPieces(reply: FastifyReply, pieces: Pieces, heldBytes = 0): Promise<FastifyReply> {
  reserve(reply, heldBytes + streamBytes);
  // Before the answer begins, so that a refusal is not a truncated answer.
  return streamPieces(reply, await pieces.next(), pieces);
}

function streamPieces(
  reply: FastifyReply,
  first: IteratorResult<string | Uint8Array, void>,
  pieces: Pieces,
): FastifyReply {
  const slices = slicesInTurns(first, pieces, reply.server.answerOutflow.turns);
  const stream = Readable.from(slices, { objectMode: false, highWaterMark: sliceBytes });
  // Even if no byte was read.
  stream.once("close", () => void pieces.return());
  return reply.send(stream);
}

/** Joins small pieces; a piece that is larger than a slice is passed on as it is. */
async function* slicesInTurns(
  first: IteratorResult<string | Uint8Array, void>,
  pieces: Pieces,
  turns: LoopTurns,
): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for (let next = first; next.done !== true; next = await pieces.next()) {
    const bytes = typeof next.value === "string" ? Buffer.from(next.value, "utf8") : next.value;
    pending.push(bytes);
    pendingBytes += bytes.length;
    await turns.take(bytes.length);
    if (pendingBytes < sliceBytes) continue;
    yield pending.length === 1 ? bytes : Buffer.concat(pending);
    pending = [];
    pendingBytes = 0;
  }
  if (pendingBytes > 0) yield Buffer.concat(pending);
}
