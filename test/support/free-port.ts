import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that Linux, from 32,768, and other systems, from 49,152, give to listeners of port 0 and to connections. */
const candidates = { first: 20_000, end: 32_768 } as const;
/** Each test process of a run has its own part of them, and goes round in it. */
const parts = 32;
const partSize = Math.floor((candidates.end - candidates.first) / parts);
const partStart = candidates.first + (Number(process.env.VITEST_POOL_ID ?? 0) % parts) * partSize;
let offset = randomInt(partSize);

/**
 * A port of the loopback address that nothing listens on. Neither another program nor another test of the run gets it by chance, so
 * that it is still free when its user starts, or after its user has stopped.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    offset = (offset + 1) % partSize;
    const port = partStart + offset;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return false;
    throw error;
  }
  await new Promise((resolve) => probe.close(resolve));
  return true;
}
