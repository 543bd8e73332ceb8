import { describe, expect, it } from "vitest";
import { createSignInThrottle } from "./sign-in-throttle.ts";

const limits = { windowMs: 1_000, perPairMax: 2, perClientMax: 3, rememberedMax: 4 };
const refusal = expect.objectContaining({ code: "too_many_requests" });

describe("createSignInThrottle", () => {
  it("counts a client over all its addresses, and does not count what it refused", () => {
    const throttle = createSignInThrottle(limits);
    throttle.charge("c", "a", 0);
    throttle.charge("c", "a", 1);
    expect(() => throttle.charge("c", "a", 2)).toThrow(refusal);
    throttle.charge("c", "b", 3);
    expect(() => throttle.charge("c", "d", 4)).toThrow(refusal);
    throttle.charge("c", "a", 1_001);
  });

  it("rounds the wait up to a whole second", () => {
    const throttle = createSignInThrottle({ ...limits, windowMs: 2_500 });
    throttle.charge("c", "a", 0);
    throttle.charge("c", "a", 0);
    expect(() => throttle.charge("c", "a", 0)).toThrow(expect.objectContaining({ retryAfterSeconds: 3 }));
    expect(() => throttle.charge("c", "a", 2_499)).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
  });

  it("starts anew when the clock was set back", () => {
    const throttle = createSignInThrottle(limits);
    throttle.charge("c", "a", 1_000_000);
    throttle.charge("c", "a", 1_000_000);
    throttle.charge("c", "a", 5);
  });

  it("forgets the oldest instead of growing", () => {
    const throttle = createSignInThrottle(limits);
    for (let at = 0; at < 2; at += 1) throttle.charge("first", "a", 0);
    for (const client of ["b", "c", "d"]) throttle.charge(client, "a", 1);
    expect(() => throttle.charge("first", "a", 2)).toThrow(refusal);
    throttle.charge("e", "a", 3);
    throttle.charge("first", "a", 4);
  });
});
