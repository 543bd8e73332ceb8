import { EventEmitter } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { expect, test, vi } from "vitest";
import { cutSlowReaders } from "./slow-readers.ts";

test.each([
  [480 * 1024 - 1, true],
  [480 * 1024, false],
])("a reader that takes %i bytes in a minute is cut: %s", (taken, isCut) => {
  const server = createServer();
  let now = 0;
  let check: () => void = () => undefined;
  cutSlowReaders([server], {
    every: (_ms, run) => {
      check = run;
      return () => undefined;
    },
    monotonicMs: () => now,
  });
  const socket = Object.assign(new EventEmitter(), { writableLength: 1, bytesWritten: 1, destroy: vi.fn() });
  server.emit("connection", socket as unknown as Socket);
  check();
  socket.bytesWritten += taken;
  now += 60_000;
  check();
  expect(socket.destroy).toHaveBeenCalledTimes(isCut ? 1 : 0);
});
