import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { sql } from "../src/db/statement.ts";
import type { House } from "../src/house.ts";
import { openBenchHouse } from "./bench-house.ts";
import type { DatabaseServer } from "./database-server.ts";

const databaseName = "turns";
const lanesOfEach = 4;
const userCount = sql<[], { users: number }>("SELECT count(*) AS users FROM users");

/** Units of one turn a second, of two processes that both want it all the time: each looks at something and commits. */
export async function measureTurnRate(server: DatabaseServer, folder: string, durationMs: number): Promise<number> {
  await server.makeDatabase(databaseName);
  const open = () =>
    openBenchHouse(join(folder, databaseName), systemClock, { DATABASE_URL: server.url(databaseName) });
  const houses = [await open(), await open()];
  const startedAt = performance.now();
  const deadline = startedAt + durationMs;
  let units = 0;
  const lane = async ({ db }: House) => {
    while (performance.now() < deadline) {
      await db.writeInTurn("accounts", (unit) => unit.one(userCount));
      units += 1;
    }
  };
  await Promise.all(houses.flatMap((house) => Array.from({ length: lanesOfEach }, () => lane(house))));
  const elapsedMs = performance.now() - startedAt;
  for (const house of houses) await house.close();
  return (units / elapsedMs) * 1_000;
}
