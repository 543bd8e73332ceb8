import type { Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import { type Every, secondMs } from "../base/clock.ts";

/** A reader may pause this long, for example in a tunnel. */
const windowMs = 60 * secondMs;
/** 64 kbit/s: a bad mobile connection. */
const bytesPerSecondMin = 8 * 1024;
const checkMs = 10 * secondMs;

/**
 * Cuts connections whose client reads its answer too slowly: if bytes wait, 480 KiB or what is left of the answer must be
 * taken within a minute. Otherwise a client that reads a few bytes now and then would hold the memory of its answer for
 * hours.
 * @returns the function that stops checking.
 */
export function cutSlowReaders(
  servers: readonly HttpServer[],
  { every, monotonicMs }: { readonly every: Every; readonly monotonicMs: () => number },
): () => void {
  const sockets = new Set<Socket>();
  const windows = new Map<Socket, { readonly since: number; readonly taken: number }>();
  for (const server of servers) {
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => {
        sockets.delete(socket);
        windows.delete(socket);
      });
    });
  }

  return every(checkMs, () => {
    const now = monotonicMs();
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        windows.delete(socket);
        continue;
      }
      const taken = socket.bytesWritten - socket.writableLength;
      const window = windows.get(socket);
      if (window !== undefined && now - window.since < windowMs) continue;
      const takenMin = (bytesPerSecondMin * windowMs) / secondMs;
      if (window !== undefined && taken - window.taken < takenMin) socket.destroy();
      else windows.set(socket, { since: now, taken });
    }
  });
}
