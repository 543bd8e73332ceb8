import { describe, expect, test } from "vitest";
import { unavailable } from "../../base/errors.ts";
import { OutcomeUnknownError } from "../database.ts";
import { LostConnectionError, NotConnectedError } from "./errors.ts";
import { Retries } from "./retries.ts";

/** With a clock that only pauses advance. */
function openRetries() {
  let now = 0;
  const pauses: number[] = [];
  const retries = new Retries({
    monotonicMs: () => now,
    isClosed: () => false,
    async pause(ms) {
      pauses.push(ms);
      now += ms;
    },
  });
  return { retries, pauses, now: () => now };
}

const lost = new OutcomeUnknownError(new Error("lost"));
const notConnected = new NotConnectedError("connecting", new LostConnectionError(new Error("refused")));

describe("a write whose answer was lost", () => {
  test("is repeated with growing pauses for ten seconds, through every temporary failure", async () => {
    const { retries, pauses, now } = openRetries();
    const failures = [lost, notConnected, unavailable("busy", 2), lost];
    let tries = 0;
    const value = await retries.untilKnown(async () => {
      tries += 1;
      if (now() < 9_500) throw failures[(tries - 1) % failures.length];
      return "done";
    });
    expect(value).toBe("done");
    expect(pauses[0]).toBeLessThanOrEqual(30);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(750);
    expect(tries).toBeLessThan(60);
  });

  test("stays unknown after ten seconds, whatever failed last", async () => {
    const { retries, now } = openRetries();
    let tries = 0;
    const given = retries.untilKnown(async () => {
      tries += 1;
      throw tries === 1 ? lost : notConnected;
    });
    await expect(given).rejects.toBe(lost);
    expect(now()).toBeGreaterThanOrEqual(10_000);
    expect(now()).toBeLessThan(11_000);
  });

  test("is not repeated if it cannot have happened, or failed for good", async () => {
    const { retries, pauses } = openRetries();
    await expect(retries.untilKnown(() => Promise.reject(notConnected))).rejects.toBe(notConnected);
    const bug = new Error("a bug");
    const failed = retries.untilKnown((before) => Promise.reject(before === undefined ? lost : bug));
    await expect(failed).rejects.toBe(bug);
    expect(pauses).toHaveLength(1);
  });
});

test("a read is repeated once although its connection was silent for long", async () => {
  const { retries } = openRetries();
  let tries = 0;
  const read = retries.run(
    async () => {
      tries += 1;
      if (tries === 1) throw lost;
      return tries;
    },
    { notExecuted: 0, maybeExecuted: 0 },
  );
  expect(await read).toBe(2);
});
