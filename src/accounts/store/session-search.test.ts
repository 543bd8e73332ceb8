import { expect, it } from "vitest";
import { openEngineDatabase, readRows } from "../../../test/support/engine-database.ts";
import { sessionSearch } from "./session-search.ts";

it("reads sessions in the order of an index, without sorting all of them", async () => {
  const db = openEngineDatabase();
  const rows = await readRows<{ id: number; parent: number; notused: number; detail: string }>(
    db,
    `EXPLAIN QUERY PLAN ${sessionSearch.sqlite}`,
    ...[0, 0, 9, 9, 0, 0, 0, 1, "", 51],
  );
  const details = rows.map(({ detail }) => detail).join("\n");
  expect(details).toContain("USING INDEX sessions_seen (persistent=? AND seen_at>? AND seen_at<?)");
  // Sessions seen in the same millisecond are sorted, nothing else.
  expect(details).not.toMatch(/B-TREE FOR ORDER BY/);
});
