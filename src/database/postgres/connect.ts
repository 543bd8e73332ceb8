import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import pg from "pg";
import type { PostgresTls } from "../../config/database-url.ts";

interface Target {
  readonly tls: PostgresTls;
  readonly host: string;
}

/** A client that is not connected yet. `breakOff` closes its socket without a message to the server. */
interface Connectable {
  connect(): Promise<unknown>;
  breakOff(): void;
}

/**
 * The only way to connect to a PostgreSQL server. `prefer` and `allow` try again with the other encryption mode, as libpq does,
 * if the server refuses the first one.
 * @param make is called for each attempt, with TLS options of the driver.
 * @throws the driver's error, or that of reading the file of certificate authorities.
 */
export async function connect<Client extends Connectable>(
  { tls, host }: Target,
  make: (ssl: ConnectionOptions | false) => Client,
): Promise<Client> {
  const fallback = fallbackTls({ tls, host });
  try {
    return await connected(make(tlsOptions({ tls, host })));
  } catch (error) {
    if (fallback === undefined || !refusesEncryptionMode(error)) throw error;
    return await connected(make(tlsOptions({ tls: { ...tls, mode: fallback }, host })));
  }
}

async function connected<Client extends Connectable>(client: Client): Promise<Client> {
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.breakOff();
    throw error;
  }
}

/** The mode of the second attempt. PostgreSQL has no TLS on Unix sockets. */
function fallbackTls({ tls: { mode }, host }: Target): PostgresTls["mode"] | undefined {
  if (host.startsWith("/")) return undefined;
  if (mode === "prefer") return "disable";
  return mode === "allow" ? "require" : undefined;
}

/**
 * Whether the server itself wants the connection with, or without, TLS: it has no TLS, or pg_hba.conf refuses the connection.
 * A failed handshake is never such an answer, nor is a refused login, such as that of an unknown role.
 */
function refusesEncryptionMode(error: unknown): boolean {
  // The function of the server that applies pg_hba.conf: a message would depend on the server's language.
  if (error instanceof pg.DatabaseError) return error.code === "28000" && error.routine === "ClientAuthentication";
  return error instanceof Error && /does not support SSL/.test(error.message);
}

function tlsOptions({ tls, host }: Target): ConnectionOptions | false {
  if (tls.mode === "disable" || tls.mode === "allow" || host.startsWith("/")) return false;
  const authorities =
    tls.rootCertificateFile === undefined ? {} : { ca: readFileSync(tls.rootCertificateFile, "utf8") };
  switch (tls.mode) {
    case "prefer":
    case "require":
      return { rejectUnauthorized: false };
    case "verify-ca":
      return { ...authorities, rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case "verify-full":
      // The name to verify. An IP address must not be sent as the server name (RFC 6066, section 3).
      return { ...authorities, rejectUnauthorized: true, ...(isIP(host) === 0 ? { servername: host } : { host }) };
  }
}
