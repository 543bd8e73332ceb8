import { sql } from "../../../src/database/statement.ts";
import { openTestDatabase, type TestConnections } from "./open-database.ts";

/** Without these, the planner can only join with a nested loop over sequential scans. */
const otherPlanTypes = ["hashjoin", "mergejoin", "hashagg", "sort", "material", "bitmapscan", "indexscan"];

/** A database whose planner uses only nested loops for joins, as any planner may. */
export async function openWithNestedLoops(): Promise<TestConnections> {
  const { db, url } = await openTestDatabase();
  const name = new URL(url).pathname.slice(1);
  for (const way of otherPlanTypes)
    await db.autocommit({ retry: "whenNotExecuted" }).run(sql(`ALTER DATABASE ${name} SET enable_${way} = off`));
  return await openTestDatabase(url);
}
