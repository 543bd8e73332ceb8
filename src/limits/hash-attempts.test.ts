import { expect, test } from "vitest";
import { minuteMs } from "../base/clock.ts";
import { createHashAttempts } from "./hash-attempts.ts";
import { createInMemoryLimits } from "./in-memory-limits.ts";

const start = Date.UTC(2030, 0, 1);
const wrong = async () => false;
const right = async () => true;
const refused = { outcome: "refused", retryAfterSeconds: 60 };

function openAttempts() {
  const attempts = createHashAttempts(createInMemoryLimits());
  return (client: string, make: () => Promise<boolean>, now = start, isFresh = false) =>
    attempts.run({ client, now, make, isRight: (result) => result, isFresh: async () => isFresh });
}

async function use(run: ReturnType<typeof openAttempts>, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) expect(await run("a", wrong)).toMatchObject({ outcome: "made" });
}

test("the 21st wrong attempt of a client in a minute is not made, and other clients are unaffected", async () => {
  const run = openAttempts();
  await use(run, 20);
  let made = 0;
  const counting = async () => {
    made += 1;
    return true;
  };
  expect(await run("a", counting)).toEqual(refused);
  expect(made).toBe(0);
  expect(await run("b", counting)).toEqual({ outcome: "made", result: true });
  expect(await run("a", counting, start + minuteMs)).toEqual({ outcome: "made", result: true });
});

test("an IPv6 /56 has 30 wrong attempts, a /48 40, and other networks are unaffected", async () => {
  const run = openAttempts();
  const outcomes = [];
  for (let at = 0; at < 32; at += 1) outcomes.push((await run(`2001:db8:1:1${at + 10}::/64`, wrong)).outcome);
  for (let at = 0; at < 12; at += 1) outcomes.push((await run(`2001:db8:1:2${at + 10}::/64`, wrong)).outcome);
  const made = (times: number) => Array(times).fill("made");
  const notMade = Array(2).fill("refused");
  expect(outcomes).toEqual([...made(30), ...notMade, ...made(10), ...notMade]);
  expect(await run("2001:db8:2:0::/64", right)).toEqual({ outcome: "made", result: true });
});

test("20 more are kept for secrets at which the client has not failed", async () => {
  const run = openAttempts();
  await use(run, 20);
  for (let at = 0; at < 30; at += 1) {
    expect(await run("a", right, start, true)).toEqual({ outcome: "made", result: true });
  }
  for (let at = 0; at < 20; at += 1) {
    expect(await run("a", wrong, start, true)).toEqual({ outcome: "made", result: false });
  }
  expect(await run("a", right, start, true)).toEqual(refused);
});

test("right attempts and those that fail for another reason are not counted", async () => {
  const run = openAttempts();
  for (let at = 0; at < 30; at += 1) {
    await run("a", right);
    await expect(run("a", () => Promise.reject(new Error("The queue is full.")))).rejects.toThrow("full");
  }
  await use(run, 20);
  expect(await run("a", right)).toEqual(refused);
});

test("many people behind one address wait for the attempts before theirs, and all right ones succeed", async () => {
  const run = openAttempts();
  const made = await Promise.all(Array.from({ length: 80 }, () => run("a", right)));
  expect(made).toEqual(Array(80).fill({ outcome: "made", result: true }));
});

test("parallel wrong attempts gain nothing, and those that waited are refused", async () => {
  const run = openAttempts();
  const outcomes = await Promise.all(Array.from({ length: 80 }, () => run("a", wrong)));
  expect(outcomes.filter(({ outcome }) => outcome === "made")).toHaveLength(20);
  expect(outcomes.filter(({ outcome }) => outcome === "refused")).toHaveLength(60);
});

test("more than 64 waiting attempts of one client are refused at once", async () => {
  const run = openAttempts();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const first = Array.from({ length: 20 }, () => run("a", () => promise));
  const waiting = Array.from({ length: 64 }, () => run("a", right));
  expect(await run("a", right)).toEqual(refused);
  resolve(true);
  const made = await Promise.all([...first, ...waiting]);
  expect(made.every(({ outcome }) => outcome === "made")).toBe(true);
});
