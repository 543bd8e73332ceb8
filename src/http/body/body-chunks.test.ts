import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppError } from "../../base/errors.ts";
import { BodyChunks, minimumRate } from "./body-chunks.ts";
import { LoopTurns } from "./loop-turns.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const dayMs = 86_400_000;

function receive(bytesPerTurnMax = 1_000_000, msMax = dayMs) {
  const request = new IncomingMessage(new Socket());
  let turns = 1;
  const nextTurn = () =>
    new Promise<void>((resolve) =>
      setImmediate(() => {
        turns += 1;
        resolve();
      }),
    );
  const chunks = new BodyChunks(request, new LoopTurns(bytesPerTurnMax, nextTurn), msMax);
  return { request, chunks, turns: () => turns };
}

async function lengthsOf(chunks: BodyChunks): Promise<number[]> {
  const lengths: number[] = [];
  for await (const chunk of chunks) lengths.push(chunk.length);
  return lengths;
}

const codeOf = (reading: Promise<unknown>) =>
  reading.then(
    () => "no refusal",
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );

/** Lets streams emit what was pushed. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a body of many chunks takes as many turns of the loop as its bytes need", async () => {
  const { request, chunks, turns } = receive(64 * 1024);
  const lengths = lengthsOf(chunks);
  for (let count = 0; count < 32; count += 1) request.push(Buffer.alloc(64 * 1024));
  request.push(null);
  expect((await lengths).reduce((sum, length) => sum + length, 0)).toBe(2 * 1024 * 1024);
  expect(turns()).toBeGreaterThanOrEqual(31);
});

test("small pieces arrive as one chunk, unchanged", async () => {
  const { request, chunks } = receive();
  const pieces = Array.from({ length: 100 }, (_, at) => Buffer.alloc(at + 1, at));
  for (const piece of pieces) request.push(piece);
  request.push(null);
  const received: Buffer[] = [];
  for await (const chunk of chunks) received.push(chunk);
  expect(Buffer.concat(received).equals(Buffer.concat(pieces))).toBe(true);
  expect(received.length).toBeLessThan(3);
});

test("a body in thousands of tiny chunks is refused", async () => {
  const { request, chunks } = receive();
  const code = codeOf(lengthsOf(chunks));
  for (let count = 0; count < 2_000; count += 1) request.push(Buffer.from("a"));
  expect(await code).toBe("invalid_request");
});

test("a client that stops sending is refused after one window", async () => {
  const { request, chunks } = receive();
  const code = codeOf(lengthsOf(chunks));
  request.push(Buffer.alloc(minimumRate.bytes - 1));
  await settle();
  vi.advanceTimersByTime(minimumRate.windowMs);
  expect(await code).toBe("too_slow");
});

test("a client at the minimum rate may send for a long time", async () => {
  const { request, chunks } = receive();
  const lengths = lengthsOf(chunks);
  for (let window = 0; window < 20; window += 1) {
    request.push(Buffer.alloc(minimumRate.bytes));
    await settle();
    vi.advanceTimersByTime(minimumRate.windowMs);
  }
  request.push(null);
  expect((await lengths).reduce((sum, length) => sum + length, 0)).toBe(20 * minimumRate.bytes);
});

test("time in which the server does not read is not counted against the client", async () => {
  const { request, chunks } = receive();
  request.push(Buffer.alloc(5_000));
  expect((await chunks.next()).value?.length).toBe(5_000);
  vi.advanceTimersByTime(10 * minimumRate.windowMs);
  const next = chunks.next();
  request.push(Buffer.alloc(5_000));
  expect((await next).value?.length).toBe(5_000);
});

test("a whole body has a deadline", async () => {
  const { request, chunks } = receive(1_000_000, 1_000);
  const code = codeOf(lengthsOf(chunks));
  request.push(Buffer.alloc(100_000));
  await settle();
  vi.advanceTimersByTime(1_000);
  expect(await code).toBe("too_slow");
});

test("a connection that breaks ends the reading", async () => {
  const { request, chunks } = receive();
  const code = codeOf(lengthsOf(chunks));
  request.push(Buffer.alloc(100));
  await settle();
  request.destroy();
  expect(await code).toBe("invalid_request");
});
