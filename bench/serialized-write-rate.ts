import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { sql } from "../src/database/statement.ts";
import type { Domain } from "../src/domain.ts";
import { openBenchDomain } from "./bench-domain.ts";
import type { DatabaseServer } from "./database-server.ts";

const databaseName = "serialized_writes";
const writersPerProcess = 4;
const userCount = sql<[], { users: number }>("SELECT count(*) AS users FROM users");

/** Serialized writes per second of two processes that contend for one lock: each reads one value and commits. */
export async function measureSerializedWriteRate(
  server: DatabaseServer,
  folder: string,
  durationMs: number,
): Promise<number> {
  await server.makeDatabase(databaseName);
  const open = () =>
    openBenchDomain(join(folder, databaseName), systemClock, { DATABASE_URL: server.url(databaseName) });
  const domains = [await open(), await open()];
  const startedAt = performance.now();
  const deadline = startedAt + durationMs;
  let units = 0;
  const write = async ({ db }: Domain) => {
    while (performance.now() < deadline) {
      await db.writeSerialized("accounts", (unit) => unit.one(userCount));
      units += 1;
    }
  };
  await Promise.all(domains.flatMap((domain) => Array.from({ length: writersPerProcess }, () => write(domain))));
  const elapsedMs = performance.now() - startedAt;
  for (const domain of domains) await domain.close();
  return (units / elapsedMs) * 1_000;
}
