import type { PostgresHost } from "../../config/database-url.ts";
import { sqlState } from "./errors.ts";
import type { PooledClient } from "./pooled-client.ts";

interface Unanswered {
  readonly client: PooledClient;
  /** Whether nothing has arrived since it was found. */
  isStillSilent(): boolean;
}

/** Selects the processes that wait for their client: they execute nothing, or cannot send their answer. */
const waitingForClient = `SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1)
  AND (state LIKE 'idle%' OR (state = 'active' AND wait_event_type = 'Client'))`;

/**
 * Finds the connections whose statement will not be answered: the server executes nothing for them, or it cannot be reached
 * at all. If it refuses a new connection, for example because it has too many, none is found, and the statements' time limit
 * applies.
 * @param silent connections that wait for an answer. Those to other hosts than the first one's are left for the next check.
 */
export async function findUnanswered(
  silent: readonly PooledClient[],
  open: (address: PostgresHost) => Promise<PooledClient>,
): Promise<readonly Unanswered[]> {
  const address = silent[0]?.address;
  const known = silent
    .filter((client) => client.address === address && client.backend !== undefined)
    .map((client) => {
      const { bytesRead } = client;
      return { client, isStillSilent: () => client.awaitsAnswer && client.bytesRead === bytesRead };
    });
  if (address === undefined || known.length === 0) return [];
  let asking: PooledClient | undefined;
  try {
    asking = await open(address);
    const { rows } = await asking.query<{ pid: number }>(waitingForClient, [known.map(({ client }) => client.backend)]);
    const waiting = new Set(rows.map(({ pid }) => pid));
    return known.filter(({ client }) => waiting.has(client.backend ?? 0));
  } catch (error) {
    return sqlState(error) === "" ? known : [];
  } finally {
    asking?.breakOff();
  }
}
