import { once } from "node:events";
import { createServer } from "node:net";

/** A port of the loopback address that nothing listens on. Another process may take it before its user does. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("The probe listens on no port.");
  return address.port;
}
