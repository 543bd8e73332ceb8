import type { LinkAddress } from "../src/crypto/url-token.ts";
import { createIds, type Ids } from "../src/database/ids.ts";
import { ConnectionPool } from "../src/database/postgres/pool.ts";
import type { HotPath } from "../src/pushes/store/push-store.ts";
import { postgresSettings } from "../test/support/postgres/settings.ts";
import { bareDatabase, bareHotPath } from "./bare-database.ts";
import { claimBarePush, createBarePush } from "./bare-push.ts";
import type { DatabaseJob, DatabasePlace, DatabaseResult, RowShape } from "./database-job.ts";

/**
 * A process that sends the statements of creates and claims as fast as the database accepts them. It remembers what it has
 * created, so that a later job can claim it.
 */

/** Addresses of what was created and not claimed. */
const stored: LinkAddress[] = [];

async function run(job: DatabaseJob, lanes: readonly HotPath[], ids: Ids, shape: RowShape): Promise<DatabaseResult> {
  const startedAt = performance.now();
  const deadline = startedAt + job.durationMs;
  let done = 0;
  await Promise.all(
    lanes.slice(0, job.connections).map(async (lane) => {
      while (performance.now() < deadline) {
        if (job.what === "create") stored.push(await createBarePush(lane, await ids.next(), shape));
        else {
          const link = stored.pop();
          if (link === undefined) return;
          await claimBarePush(lane, link);
        }
        done += 1;
      }
    }),
  );
  return { done, elapsedMs: performance.now() - startedAt };
}

async function serve({ url, connectionsMax, shape }: DatabasePlace): Promise<void> {
  const pool = new ConnectionPool(postgresSettings(url, { poolMax: connectionsMax + 1 }), (code) => {
    throw new Error(`A connection broke: ${code}`);
  });
  const clients = await Promise.all(Array.from({ length: connectionsMax }, () => pool.connect()));
  const lanes = clients.map((client) => bareHotPath(bareDatabase(client)));
  // The product's ids, so that both use one sequence.
  const ids = createIds(bareDatabase(await pool.connect()), "pushes");
  process.on("message", (job: DatabaseJob) => {
    run(job, lanes, ids, shape).then((result) => process.send?.(result), fail);
  });
  process.send?.("ready");
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}

process.once("message", (place: DatabasePlace) => {
  serve(place).catch(fail);
});
