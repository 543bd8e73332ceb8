import { createServer } from "node:http";
import { Socket } from "node:net";
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
  let written = 1;
  const socket = Object.defineProperties(new Socket(), {
    writableLength: { value: 1 },
    bytesWritten: { get: () => written },
  });
  const destroy = vi.spyOn(socket, "destroy");
  server.emit("connection", socket);
  check();
  written += taken;
  now += 60_000;
  check();
  expect(destroy).toHaveBeenCalledTimes(isCut ? 1 : 0);
});
