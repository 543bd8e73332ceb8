import { expect, test } from "vitest";
import { BodyBudget } from "./body-budget.ts";

test("one client's bodies do not use up the budget of others", () => {
  const budget = new BodyBudget({ bytesMax: 100, bytesPerClientMax: 40 });
  budget.take("a", 30);
  expect(() => budget.take("a", 20)).toThrow("Too many large bodies");
  budget.take("b", 40);
  budget.take("c", 30);
  expect(() => budget.take("d", 1)).toThrow("Too many large bodies");
  budget.release("a", 30);
  budget.take("d", 30);
  for (const [client, bytes] of [
    ["b", 40],
    ["c", 30],
    ["d", 30],
  ] as const)
    budget.release(client, bytes);
  expect(budget.heldBytes).toBe(0);
});
