import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { LoopTurns } from "./loop-turns.ts";

function countedTurns(bytesMax: number) {
  let turns = 1;
  const loop = new LoopTurns(bytesMax, async () => {
    await nextTurn();
    turns += 1;
  });
  return { loop, turns: () => turns };
}

test("bytes beyond those of one turn wait for the next turns", async () => {
  const { loop, turns } = countedTurns(100);
  for (let slice = 0; slice < 10; slice += 1) await loop.take(50);
  expect(turns()).toBe(5);
});

test("all bodies together share a turn, in the order they came", async () => {
  const { loop, turns } = countedTurns(100);
  const served: [body: number, turn: number][] = [];
  const read = async (body: number) => {
    await loop.take(50);
    served.push([body, turns()]);
  };
  await Promise.all([1, 2, 3, 4, 5, 6].map(read));
  expect(served).toEqual([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 3],
    [6, 3],
  ]);
});
