import { expect, test } from "vitest";
import { runConcurrently } from "./run-concurrently.ts";

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number += 1) yield number;
}

const limits = { tasksMax: 3, weightMax: 10, signal: new AbortController().signal };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("no more rows are processed at once than allowed, and each is processed once", async () => {
  const done: number[] = [];
  let [underWay, most] = [0, 0];
  await runConcurrently(numbers(50), { ...limits, weightOf: () => 1 }, async (number) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await turn();
    underWay -= 1;
    done.push(number);
  });
  expect(most).toBe(3);
  expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, number) => number));
});

test("the total weight of concurrent rows is bounded, and a heavier row is processed alone", async () => {
  const weights = [6, 5, 4, 30, 1];
  const underWay = new Set<number>();
  const seen: number[][] = [];
  await runConcurrently(
    numbers(weights.length),
    { ...limits, weightOf: (number) => weights[number] ?? 0 },
    async (number) => {
      underWay.add(number);
      seen.push([...underWay].map((each) => weights[each] ?? 0));
      await turn();
      await turn();
      underWay.delete(number);
    },
  );
  for (const together of seen) {
    if (together.length > 1) expect(together.reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(10);
  }
  expect(seen.some((together) => together.includes(30) && together.length === 1)).toBe(true);
});

test("the first failure ends the reading, and is thrown once nothing is running any more", async () => {
  const begun: number[] = [];
  let underWay = 0;
  const work = runConcurrently(numbers(1_000), { ...limits, weightOf: () => 1 }, async (number) => {
    begun.push(number);
    underWay += 1;
    await turn();
    underWay -= 1;
    if (number === 4) throw new Error("The disk is full.");
  });
  await expect(work).rejects.toThrow("The disk is full.");
  expect(underWay).toBe(0);
  expect(begun.length).toBeLessThan(20);
});

test("after a stop nothing new is started", async () => {
  const controller = new AbortController();
  const begun: number[] = [];
  await runConcurrently(numbers(1_000), { ...limits, signal: controller.signal, weightOf: () => 1 }, async (number) => {
    begun.push(number);
    if (number === 5) controller.abort();
    await turn();
  });
  expect(begun.length).toBeLessThan(20);
});
