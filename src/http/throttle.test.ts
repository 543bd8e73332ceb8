import { expect, test } from "vitest";
import { createThrottle } from "./throttle.ts";

function throttleAt(limits: { minute: number; second: number }) {
  const time = { now: 1_800_000_000_000 };
  return { time, charge: createThrottle(limits, { now: () => time.now }) };
}

test("a client over the per-second limit waits one second", () => {
  const { time, charge } = throttleAt({ minute: 0, second: 3 });
  expect([1, 2, 3, 4].map(() => charge("a"))).toEqual([0, 0, 0, 1]);
  expect(charge("b")).toBe(0);
  time.now += 1_000;
  expect(charge("a")).toBe(0);
});

test("the limit of a minute, then a wait for the rest of the minute", () => {
  const { time, charge } = throttleAt({ minute: 2, second: 0 });
  expect(charge("a")).toBe(0);
  time.now += 15_500;
  expect([2, 3].map(() => charge("a"))).toEqual([0, 45]);
  time.now += 44_500;
  expect(charge("a")).toBe(0);
});

test("a limit does not double around the change of a second or minute", () => {
  const { time, charge } = throttleAt({ minute: 4, second: 3 });
  time.now += 59_900;
  expect([1, 2].map(() => charge("a"))).toEqual([0, 0]);
  time.now += 200;
  expect([3, 4].map(() => charge("a"))).toEqual([0, 1]);
  time.now += 1_000;
  expect([4, 5].map(() => charge("a"))).toEqual([0, 59]);
});

test("a clock that is set back makes no client wait", () => {
  const { time, charge } = throttleAt({ minute: 1, second: 0 });
  expect(charge("a")).toBe(0);
  time.now -= 3_600_000;
  expect(charge("a")).toBe(0);
});

test("refused requests are not charged", () => {
  const { time, charge } = throttleAt({ minute: 3, second: 1 });
  for (let i = 0; i < 100; i += 1) charge("a");
  time.now += 1_000;
  expect(charge("a")).toBe(0);
});

test("0 switches a limit off", () => {
  const { charge } = throttleAt({ minute: 0, second: 0 });
  for (let i = 0; i < 1_000; i += 1) expect(charge("a")).toBe(0);
});

test("the number of remembered addresses is bounded in a flood", () => {
  const { charge } = throttleAt({ minute: 1, second: 0 });
  charge("first");
  for (let i = 0; i < 50_000; i += 1) charge(`a${i}`);
  expect(charge("first")).toBe(0);
  expect(charge("a49999")).toBeGreaterThan(0);
});
