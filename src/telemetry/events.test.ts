import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { AppError } from "../base/errors.ts";
import { createEvents, describeError } from "./events.ts";
import { createLogger } from "./logger.ts";

function listen() {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  const time = { now: 1_000_000 };
  const clock = { now: () => time.now };
  return { lines, time, events: createEvents({ logger: createLogger("debug", destination), clock }) };
}

const where = { requestId: "00ff", method: "POST", route: "/api/v2/pushes" };

test("an unexpected error is logged by class, code and frames, never by its message", () => {
  const { lines, events } = listen();
  const cause = Object.assign(new SyntaxError("Unexpected token h in hunter2\n    at hunter2 (x:1)"), {
    code: "E_PARSE",
  });
  events.unexpectedError(where, new TypeError("hunter2", { cause }));
  const text = JSON.stringify(lines);
  expect(text).not.toContain("hunter2");
  expect(lines[0]).toMatchObject({
    level: "error",
    event: "unexpected_error",
    requestId: "00ff",
    error: { name: "TypeError", cause: { name: "SyntaxError", code: "E_PARSE" } },
  });
  expect(text).toContain("events.test.ts");
});

test("a thrown value that is not an error is logged by its type", () => {
  expect(describeError("hunter2")).toEqual({ name: "thrown string", code: undefined, frames: [], cause: undefined });
});

test("an error's own name, which may quote data, is not logged", () => {
  expect(describeError(Object.assign(new TypeError("x"), { name: "hunter2" })).name).toBe("TypeError");
});

test("the chain of causes in the log is bounded", () => {
  const loop = new Error("a");
  loop.cause = loop;
  expect(JSON.stringify(describeError(loop)).match(/"name"/g)).toHaveLength(4);
});

test("an untrusted forwarder is logged once, and only a few are logged", () => {
  const { lines, events } = listen();
  for (let host = 0; host < 100; host += 1) {
    events.untrustedForwarder(`192.0.2.${host}`);
    events.untrustedForwarder(`192.0.2.${host}`);
  }
  expect(lines).toHaveLength(16);
});

test("many refusals are logged as one line per second with a count", () => {
  const { lines, time, events } = listen();
  for (let i = 0; i < 50; i += 1) events.refusedUnavailable(where, new AppError("unavailable", "x"));
  time.now += 1_000;
  events.refusedUnavailable(where, new AppError("unavailable", "x"));
  expect(lines.map((line) => line.suppressedCount)).toEqual([0, 49]);
  // After the clock was set back too, and the count begins anew.
  time.now = 0;
  events.refusedUnavailable(where, new AppError("unavailable", "x"));
  expect(lines.at(-1)?.suppressedCount).toBe(0);
  expect(lines).toHaveLength(3);
});

test("many storage failures are logged as one line per second with a count and instructions", () => {
  const { lines, time, events } = listen();
  for (let i = 0; i < 50; i += 1) events.storageFailed("SQLITE_FULL");
  time.now += 1_000;
  events.storageFailed("SQLITE_FULL");
  expect(lines).toMatchObject([
    { event: "storage_failed", code: "SQLITE_FULL", suppressedCount: 0 },
    { event: "storage_failed", suppressedCount: 49 },
  ]);
  time.now += 1_000;
  events.storageFailed("26000");
  expect(lines.at(-1)?.msg).toContain("PWP__DATABASE__POOLER=transaction");
});

test("many failures of a job are logged as one line per second with a count, whatever other jobs do", () => {
  const { lines, time, events } = listen();
  for (let i = 0; i < 50; i += 1) events.jobFailed("blob deletion", new Error("x"));
  events.jobFailed("mail", new Error("x"));
  time.now += 1_000;
  events.jobFailed("blob deletion", new Error("x"));
  expect(lines).toMatchObject([
    { event: "job_failed", job: "blob deletion", suppressedCount: 0 },
    { event: "job_failed", job: "mail", suppressedCount: 0 },
    { event: "job_failed", job: "blob deletion", suppressedCount: 49 },
  ]);
});
