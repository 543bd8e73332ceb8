import { expect, test } from "vitest";
import { sql } from "../statement.ts";
import { SharedRuns } from "./hot-path.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test("after a batch of several, runs of successive turns of the event loop share the next one", async () => {
  const batches: number[] = [];
  const shared = new SharedRuns(
    async (runs) => {
      batches.push(runs.length);
      return runs.map(() => ({ rows: [], rowCount: 0 }));
    },
    () => 0,
  );
  const run = () => shared.run({ statement: sql("SELECT 1"), values: [] }, 0);
  const runInTurns = async () => {
    const runs: Promise<unknown>[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      runs.push(run());
      await nextTurn();
    }
    await Promise.all(runs);
    return batches.splice(0);
  };
  expect(await runInTurns()).toEqual([1, 1, 1]);
  await Promise.all([run(), run()]);
  expect(batches.splice(0)).toEqual([2]);
  expect(await runInTurns()).toEqual([3]);
});
