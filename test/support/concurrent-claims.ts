import { expect } from "vitest";
import type { Actor } from "../../src/pushes/pushes.ts";
import { countEveryone, stranger, type TestDomain } from "./domain.ts";

/** Retrieves a push 50 times at once, alternately in two domains on one database: exactly `views` retrievals succeed. */
export async function expectExactViews(
  fixtures: readonly [TestDomain, TestDomain],
  owner: Actor,
  views: number,
): Promise<void> {
  const { urlToken } = await fixtures[0].domain.pushes.create({ payload: "x", expireAfterViews: views }, owner);
  const claims = Array.from({ length: 50 }, (_, at) =>
    fixtures[at % 2 === 0 ? 0 : 1].domain.pushes.claimView(urlToken, countEveryone, stranger),
  );
  const outcomes = (await Promise.all(claims)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === "revealed")).toHaveLength(views);
  expect(outcomes.filter((outcome) => outcome === "gone")).toHaveLength(50 - views);
}
