import { expect, test } from "vitest";
import { withDatabaseBudget, withinBudget } from "./request-budget.ts";

let now = 0;
/** Waits for the database for so long. */
const wait = (ms: number) =>
  withinBudget(
    () => now,
    async () => {
      now += ms;
    },
  );

function inRequest(ms: number, request: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => withDatabaseBudget(ms, () => void request().then(resolve, reject)));
}

test("a request waits for the database for its budget in all, and other time does not count", () =>
  inRequest(100, async () => {
    await wait(60);
    now += 1_000;
    await wait(39);
    await wait(1);
    await expect(wait(1)).rejects.toMatchObject({ code: "unavailable" });
  }));

test("nested and concurrent waits are counted once", () =>
  inRequest(100, async () => {
    await withinBudget(
      () => now,
      async () => {
        await Promise.all([wait(20), wait(20)]);
        await wait(20);
      },
    );
    await wait(39);
    await wait(1);
    await expect(wait(1)).rejects.toMatchObject({ code: "unavailable" });
  }));

test("outside a request nothing is limited", async () => {
  await wait(1_000_000);
  await wait(1_000_000);
});
