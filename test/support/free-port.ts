import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that Linux, from 32,768, and other systems, from 49,152, give to listeners of port 0 and to connections. */
const candidates = [20_000, 32_768] as const;

/**
 * A port of the loopback address that nothing listens on. No other program gets it by chance, so that it is still free when its
 * user starts, or after its user has stopped.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...candidates);
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
