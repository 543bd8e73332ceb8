import { expect, test } from "vitest";
import { createInMemoryLimits } from "./in-memory-limits.ts";
import { describeLimits } from "./limits.contract.ts";

describeLimits("counted in memory", async () => [createInMemoryLimits()]);

test.each(["inWindows", "sliding"] as const)(
  "memory of counters %s is bounded: the oldest is dropped",
  async (kind) => {
    const counter = createInMemoryLimits()[kind]({ name: "tries", windowMs: 60_000, max: 1, rememberedMax: 3 });
    for (const key of ["a", "b", "c", "d"]) await counter.charge(key, 1_000_000);
    expect(await counter.charge("d", 1_000_000)).toMatchObject({ outcome: "refused" });
    expect(await counter.charge("a", 1_000_000)).toMatchObject({ outcome: "charged" });
  },
);
