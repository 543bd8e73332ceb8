import { describe, expect, it } from "vitest";
import { createInMemoryLimits } from "../../limits/in-memory-limits.ts";
import { createSignInThrottle, type SignInLimits } from "./password-check.ts";

const limits = {
  windowMs: 1_000,
  perPairMax: 2,
  perClientMax: 3,
  rememberedMax: 4,
  accountWindowMs: 10_000,
  perAccountMax: 1_000,
};
const refusal = expect.objectContaining({ code: "too_many_requests" });

function makeThrottle(given: SignInLimits) {
  const throttle = createSignInThrottle(given, createInMemoryLimits());
  return {
    charge: (client: string, email: string, now: number, isKnownClient = false) =>
      throttle.charge({ client, email, isKnownClient }, now),
  };
}

describe("createSignInThrottle", () => {
  it("counts a client over all email addresses, and does not count refused attempts", async () => {
    const throttle = makeThrottle(limits);
    await throttle.charge("c", "a", 0);
    await throttle.charge("c", "a", 1);
    await expect(throttle.charge("c", "a", 2)).rejects.toThrow(refusal);
    await throttle.charge("c", "b", 3);
    await expect(throttle.charge("c", "d", 4)).rejects.toThrow(refusal);
    await throttle.charge("c", "a", 1_001);
  });

  it("rounds the waiting time up to a whole second", async () => {
    const throttle = makeThrottle({ ...limits, windowMs: 2_500 });
    await throttle.charge("c", "a", 0);
    await throttle.charge("c", "a", 0);
    await expect(throttle.charge("c", "a", 0)).rejects.toThrow(expect.objectContaining({ retryAfterSeconds: 3 }));
    await expect(throttle.charge("c", "a", 2_499)).rejects.toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
  });

  it("starts a new window when the clock was set back", async () => {
    const throttle = makeThrottle(limits);
    await throttle.charge("c", "a", 1_000_000);
    await throttle.charge("c", "a", 1_000_000);
    await throttle.charge("c", "a", 5);
  });

  it("forgets the oldest entries instead of growing", async () => {
    const throttle = makeThrottle(limits);
    for (let at = 0; at < 2; at += 1) await throttle.charge("first", "a", 0);
    for (const client of ["b", "c", "d"]) await throttle.charge(client, "a", 1);
    await expect(throttle.charge("first", "a", 2)).rejects.toThrow(refusal);
    await throttle.charge("e", "a", 3);
    await throttle.charge("first", "a", 4);
  });

  it("stops guesses from many clients, and never locks out a known client", async () => {
    const throttle = makeThrottle({ ...limits, rememberedMax: 100, perAccountMax: 3 });
    for (const client of ["a", "b", "c"]) await throttle.charge(client, "ada", 0);
    await expect(throttle.charge("d", "ada", 1)).rejects.toThrow(refusal);
    await throttle.charge("d", "eve", 1);
    await throttle.charge("home", "ada", 1, true);
    await expect(throttle.charge("d", "ada", 9_999)).rejects.toThrow(refusal);
    await throttle.charge("d", "ada", 10_000);
  });

  it("does not count attempts of known clients for the others", async () => {
    const throttle = makeThrottle({ ...limits, perClientMax: 9, perPairMax: 9, perAccountMax: 1 });
    for (let at = 0; at < 5; at += 1) await throttle.charge("home", "ada", 0, true);
    await throttle.charge("new", "ada", 0);
  });
});
