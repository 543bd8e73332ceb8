import { expect, test } from "vitest";
import { minuteMs } from "../../base/clock.ts";
import { createInMemoryLimits } from "../../limits/in-memory-limits.ts";
import type { Charge, Limits } from "../../limits/limits.ts";
import { type Attempts, createAttempts } from "./attempts.ts";

const start = 1_000_000;

function openAttempts(pause: (ms: number) => Promise<void> = async () => undefined, monotonicMs = () => 0): Attempts {
  return createAttempts({ limits: createInMemoryLimits(), pause, monotonicMs });
}

function charge(attempts: Attempts, client: string, now = start, pushId = 1): Promise<Charge> {
  return attempts.charge(client, pushId, now);
}

const outcomes = (charges: readonly Charge[]) => charges.map((one) => one.outcome);

function five(attempts: Attempts, client: string, now = start): Promise<Charge[]> {
  return Promise.all(Array.from({ length: 5 }, () => charge(attempts, client, now)));
}

test("the sixth attempt within a minute is refused with the time to retry", async () => {
  const attempts = openAttempts();
  for (let second = 0; second < 5; second += 1) {
    expect((await charge(attempts, "a", start + second * 10_000)).outcome).toBe("charged");
  }
  expect(await charge(attempts, "a", start + 45_000)).toEqual({ outcome: "refused", retryAfterSeconds: 15 });
  expect(await charge(attempts, "a", start + minuteMs - 1)).toEqual({ outcome: "refused", retryAfterSeconds: 1 });
  expect((await charge(attempts, "a", start + minuteMs)).outcome).toBe("charged");
  expect(await charge(attempts, "a", start + minuteMs + 1)).toEqual({ outcome: "refused", retryAfterSeconds: 10 });
});

test("refusals are not charged and do not move the window", async () => {
  const attempts = openAttempts();
  await five(attempts, "a");
  for (let ask = 0; ask < 100; ask += 1) expect((await charge(attempts, "a", start + 59_000)).outcome).toBe("refused");
  expect((await charge(attempts, "a", start + minuteMs)).outcome).toBe("charged");
});

test("another client and another push are unaffected", async () => {
  const attempts = openAttempts();
  expect(outcomes(await five(attempts, "a"))).toEqual(Array(5).fill("charged"));
  expect((await charge(attempts, "a")).outcome).toBe("refused");
  expect((await charge(attempts, "b")).outcome).toBe("charged");
  expect((await charge(attempts, "a", start, 2)).outcome).toBe("charged");
  // A client name cannot be mistaken for a push id followed by another client.
  expect((await charge(attempts, "1 a", start, 1)).outcome).toBe("charged");
});

test("an attempt is charged before it is tried: parallel guesses gain nothing, a correct one is refunded once", async () => {
  const attempts = openAttempts();
  const charges = await five(attempts, "a");
  expect((await charge(attempts, "a")).outcome).toBe("refused");
  const [right] = charges;
  if (right?.outcome !== "charged") throw new Error("The first attempt is charged.");
  await right.refund();
  expect((await charge(attempts, "a")).outcome).toBe("charged");
  expect((await charge(attempts, "a")).outcome).toBe("refused");
});

test("a refund after its minute does not reduce a later count", async () => {
  const attempts = openAttempts();
  const early = await charge(attempts, "a");
  const later = start + 2 * minuteMs;
  await five(attempts, "a", later);
  if (early.outcome !== "charged") throw new Error("The first attempt is charged.");
  await early.refund();
  expect((await charge(attempts, "a", later)).outcome).toBe("refused");
});

test("after the clock is set back, attempts in the future are forgotten and do not lock the client out", async () => {
  const attempts = openAttempts();
  await five(attempts, "a", start + 10 * minuteMs);
  expect((await charge(attempts, "a", start)).outcome).toBe("charged");
});

test("an IPv6 /56 and /48 have a little more than one client", async () => {
  const attempts = openAttempts();
  let now = start;
  const guessFrom = (third: string, fourth: string) => {
    now += 2_000;
    return charge(attempts, `2001:db8:${third}:${fourth}::/64`, now);
  };
  const from56: Charge[] = [];
  for (let at = 0; at < 10; at += 1) from56.push(await guessFrom("1", `120${at}`));
  expect(outcomes(from56).filter((one) => one === "charged")).toHaveLength(7);
  const from48: Charge[] = [];
  for (let at = 0; at < 10; at += 1) from48.push(await guessFrom("1", `${at + 1}00`));
  expect(outcomes(from48).filter((one) => one === "charged")).toHaveLength(3);
  expect((await guessFrom("2", "1")).outcome).toBe("charged");
});

/** A pause that moves the monotonic clock, so that a wait takes no real time. */
function openTimed() {
  const timed = { ms: 0 };
  const pause = async (ms: number) => {
    timed.ms += ms;
  };
  return { timed, attempts: openAttempts(pause, () => timed.ms) };
}

test("500 guesses from 100 addresses: a bounded number is tried, and a new client waits for its turn", async () => {
  const { timed, attempts } = openTimed();
  const guesses = Array.from({ length: 500 }, (_, at) => charge(attempts, `192.0.2.${at % 100}`));
  const tried = outcomes(await Promise.all(guesses)).filter((one) => one === "charged").length;
  // 3 first guesses at once, 8 in the queue within its ten seconds, and 30 further guesses a minute.
  expect(tried).toBeLessThanOrEqual(3 + 8 + 30);
  const before = timed.ms;
  expect((await charge(attempts, "198.51.100.1", start + before)).outcome).toBe("charged");
  expect(timed.ms - before).toBeLessThanOrEqual(10_000);
});

test("a client that has guessed before does not use up the share of those that have not", async () => {
  const attempts = openAttempts();
  for (let at = 0; at < 5; at += 1) await charge(attempts, `client ${at}`, start - 30_000 + 5_000 * at);
  const further = await Promise.all(
    Array.from({ length: 100 }, (_, at) => charge(attempts, `client ${at % 5}`, start)),
  );
  expect(outcomes(further).filter((one) => one === "charged")).toHaveLength(20);
  expect((await charge(attempts, "recipient")).outcome).toBe("charged");
});

test("first guesses that are correct do not slow down others", async () => {
  const { timed, attempts } = openTimed();
  for (let at = 0; at < 50; at += 1) {
    const correct = await charge(attempts, `recipient ${at}`);
    if (correct.outcome !== "charged") throw new Error("The attempt was refused.");
    await correct.refund();
  }
  expect(timed.ms).toBe(0);
});

test("a first guess that waits ten seconds is refused and not counted", async () => {
  const attempts = openAttempts();
  for (let at = 0; at < 3; at += 1) await charge(attempts, `client ${at}`);
  // The clock stands still, so no place in the share becomes free.
  expect(await charge(attempts, "recipient")).toEqual({ outcome: "refused", retryAfterSeconds: 5 });
  expect(outcomes(await five(attempts, "recipient", start + 5_000))).toEqual(Array(5).fill("charged"));
});

test("the number of guesses that wait is bounded per push", async () => {
  const waits: (() => void)[] = [];
  const attempts = openAttempts(() => new Promise((resolve) => waits.push(resolve)));
  for (let at = 0; at < 3; at += 1) await charge(attempts, `client ${at}`);
  const waiting = Array.from({ length: 8 }, (_, at) => charge(attempts, `waiting ${at}`));
  expect((await charge(attempts, "one too many")).outcome).toBe("refused");
  expect((await charge(attempts, "another push", start, 2)).outcome).toBe("charged");
  const all = Promise.all(waiting);
  let settled = false;
  void all.then(() => {
    settled = true;
  });
  while (!settled) {
    for (const resume of waits.splice(0)) resume();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(outcomes(await all)).toEqual(Array(8).fill("refused"));
});

test("a guess that arrives when another has left waits behind those that are there", async () => {
  const waits: (() => void)[] = [];
  const attempts = openAttempts(() => new Promise((resolve) => waits.push(resolve)));
  const resumeUntil = async (awaited: Promise<unknown>) => {
    let settled = false;
    void awaited.then(() => {
      settled = true;
    });
    while (!settled) {
      // Only the first in the line tries.
      expect(waits.length).toBeLessThanOrEqual(1);
      for (const resume of waits.splice(0)) resume();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  for (let at = 0; at < 3; at += 1) await charge(attempts, `client ${at}`);
  const [first, second] = ["first", "second"].map((client) => charge(attempts, client));
  await resumeUntil(Promise.resolve(first));
  const late = charge(attempts, "late");
  await resumeUntil(Promise.all([second, late]));
});

test("the number of tracked attempts is bounded, and the oldest is forgotten first", async () => {
  const attempts = openAttempts();
  await five(attempts, "first");
  await five(attempts, "second");
  const others = async (from: number, to: number) => {
    for (let other = from; other < to; other += 1) await charge(attempts, `client ${other}`, start, other + 2);
  };
  await others(0, 100_000 - 1);
  // Only successful charges make it recent again.
  expect((await charge(attempts, "second")).outcome).toBe("refused");
  await others(100_000, 200_000);
  expect((await charge(attempts, "first")).outcome).toBe("charged");
});

test("attempts are charged at whole milliseconds, as the database stores them", async () => {
  const times: number[] = [];
  const limits = createInMemoryLimits();
  const recording: Limits = {
    ...limits,
    sliding(limit) {
      const counter = limits.sliding(limit);
      return {
        charge(key, now) {
          times.push(now);
          return counter.charge(key, now);
        },
        isUnused: (key, now) => counter.isUnused(key, now),
      };
    },
  };
  let ms = 0.25;
  const monotonicMs = () => {
    ms += 0.5;
    return ms;
  };
  await charge(createAttempts({ limits: recording, monotonicMs, pause: async () => undefined }), "a");
  expect(times.length).toBeGreaterThan(0);
  expect(times.every(Number.isInteger)).toBe(true);
});
