import { expect, test } from "vitest";
import { minuteMs } from "../../base/clock.ts";
import { createInMemoryLimits } from "../../limits/in-memory-limits.ts";
import type { Charge } from "../../limits/limits.ts";
import { type Attempts, createAttempts } from "./unlock.ts";

const start = 1_000_000;

function charge(attempts: Attempts, client: string, now = start, pushId = 1): Promise<Charge> {
  return attempts.charge(client, pushId, now);
}

const outcomes = (charges: readonly Charge[]) => charges.map((one) => one.outcome);

function five(attempts: Attempts, client: string, now = start): Promise<Charge[]> {
  return Promise.all(Array.from({ length: 5 }, () => charge(attempts, client, now)));
}

test("the sixth attempt within a minute is refused with the time to retry", async () => {
  const attempts = createAttempts(createInMemoryLimits());
  for (let second = 0; second < 5; second += 1) {
    expect((await charge(attempts, "a", start + second * 10_000)).outcome).toBe("charged");
  }
  expect(await charge(attempts, "a", start + 45_000)).toEqual({ outcome: "refused", retryAfterSeconds: 15 });
  expect(await charge(attempts, "a", start + minuteMs - 1)).toEqual({ outcome: "refused", retryAfterSeconds: 1 });
  expect((await charge(attempts, "a", start + minuteMs)).outcome).toBe("charged");
  expect(await charge(attempts, "a", start + minuteMs + 1)).toEqual({ outcome: "refused", retryAfterSeconds: 10 });
});

test("refusals are not charged and do not move the window", async () => {
  const attempts = createAttempts(createInMemoryLimits());
  await five(attempts, "a");
  for (let ask = 0; ask < 100; ask += 1) expect((await charge(attempts, "a", start + 59_000)).outcome).toBe("refused");
  expect((await charge(attempts, "a", start + minuteMs)).outcome).toBe("charged");
});

test("another client and another push are unaffected", async () => {
  const attempts = createAttempts(createInMemoryLimits());
  expect(outcomes(await five(attempts, "a"))).toEqual(Array(5).fill("charged"));
  expect((await charge(attempts, "a")).outcome).toBe("refused");
  expect((await charge(attempts, "b")).outcome).toBe("charged");
  expect((await charge(attempts, "a", start, 2)).outcome).toBe("charged");
  // A client name cannot be mistaken for a push id followed by another client.
  expect((await charge(attempts, "1 a", start, 1)).outcome).toBe("charged");
});

test("an attempt is charged before it is tried: parallel guesses gain nothing, a correct one is refunded once", async () => {
  const attempts = createAttempts(createInMemoryLimits());
  const charges = await five(attempts, "a");
  expect((await charge(attempts, "a")).outcome).toBe("refused");
  const [right] = charges;
  if (right?.outcome !== "charged") throw new Error("The first attempt is charged.");
  await right.refund();
  expect((await charge(attempts, "a")).outcome).toBe("charged");
  expect((await charge(attempts, "a")).outcome).toBe("refused");
});

test("a refund after its minute does not reduce a later count", async () => {
  const attempts = createAttempts(createInMemoryLimits());
  const early = await charge(attempts, "a");
  const later = start + 2 * minuteMs;
  await five(attempts, "a", later);
  if (early.outcome !== "charged") throw new Error("The first attempt is charged.");
  await early.refund();
  expect((await charge(attempts, "a", later)).outcome).toBe("refused");
});

test("after the clock is set back, attempts in the future are forgotten and do not lock the client out", async () => {
  const attempts = createAttempts(createInMemoryLimits());
  await five(attempts, "a", start + 10 * minuteMs);
  expect((await charge(attempts, "a", start)).outcome).toBe("charged");
});

test("the number of tracked attempts is bounded, and the oldest is forgotten first", async () => {
  const attempts = createAttempts(createInMemoryLimits());
  await five(attempts, "first");
  await five(attempts, "second");
  // Only successful charges refresh the LRU order.
  for (let other = 0; other < 100_000 - 1; other += 1) await charge(attempts, `client ${other}`);
  expect((await charge(attempts, "second")).outcome).toBe("refused");
  expect((await charge(attempts, "first")).outcome).toBe("charged");
});
