import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppError } from "../../base/errors.ts";
import { minimumRate } from "./body-chunks.ts";
import { isSmall, SmallBodies } from "./small-bodies.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function receive(bodies = new SmallBodies()) {
  const request = new IncomingMessage(new Socket());
  return { request, received: bodies.receive(request), bodies };
}

const codeOf = (reading: Promise<unknown>) =>
  reading.then(
    () => "no refusal",
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );

/** Lets streams emit what was pushed. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test.each([
  ["0", true],
  [String(minimumRate.bytes), true],
  [String(minimumRate.bytes + 1), false],
  ["a", false],
  [undefined, false],
])("a declared length of %s is small: %s", (length, expected) => {
  const request = new IncomingMessage(new Socket());
  if (length !== undefined) request.headers["content-length"] = length;
  expect(isSmall(request)).toBe(expected);
});

test("the pieces of a body arrive in order", async () => {
  const { request, received } = receive();
  const pieces = Array.from({ length: 50 }, (_, at) => Buffer.alloc(at + 1, at));
  for (const piece of pieces) request.push(piece);
  request.push(null);
  expect((await received).equals(Buffer.concat(pieces))).toBe(true);
});

test("an empty body has no bytes", async () => {
  const { request, received } = receive();
  request.push(null);
  expect(await received).toHaveLength(0);
});

test("a body in thousands of tiny pieces is refused", async () => {
  const { request, received } = receive();
  const code = codeOf(received);
  for (let count = 0; count < 2_000; count += 1) request.push(Buffer.from("a"));
  expect(await code).toBe("invalid_request");
});

test("a client that sends a byte now and then is refused after one window, and not before", async () => {
  const { request, received } = receive();
  const code = codeOf(received);
  const refused = vi.fn();
  received.catch(refused);
  for (let ms = 0; ms < minimumRate.windowMs; ms += 1_000) {
    request.push(Buffer.from("a"));
    await settle();
    expect(refused).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_000);
  }
  await settle();
  expect(refused).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  expect(await code).toBe("too_slow");
});

test("each of the bodies that share the timer has its own window", async () => {
  const early = receive();
  const code = codeOf(early.received);
  vi.advanceTimersByTime(minimumRate.windowMs / 2);
  const late = receive(early.bodies);
  vi.advanceTimersByTime(minimumRate.windowMs / 2 + 1_000);
  expect(await code).toBe("too_slow");
  late.request.push(Buffer.from("late"));
  late.request.push(null);
  expect((await late.received).toString()).toBe("late");
});

test("a connection that ends before the body is an invalid request", async () => {
  const { request, received } = receive();
  const code = codeOf(received);
  request.push(Buffer.from("part"));
  request.destroy();
  expect(await code).toBe("invalid_request");
});

test("a connection that had ended before is an invalid request", async () => {
  const request = new IncomingMessage(new Socket());
  request.destroy();
  await settle();
  expect(await codeOf(new SmallBodies().receive(request))).toBe("invalid_request");
});

test("a received body leaves no listener on its request", async () => {
  const { request, received } = receive();
  const before = new IncomingMessage(new Socket());
  request.push(null);
  await received;
  for (const event of ["data", "end", "close", "error"]) {
    expect(request.listenerCount(event)).toBe(before.listenerCount(event));
  }
});
