import { expect, test } from "vitest";
import { minuteMs } from "../base/clock.ts";
import { createInMemoryLimits } from "./in-memory-limits.ts";
import { createNetworkCounter } from "./network-counter.ts";

const client = "2001:db8:0:1::/64";
const neighbour = "2001:db8:0:2::/64";

function make(max: number) {
  const limits = createInMemoryLimits();
  return createNetworkCounter((shares) =>
    limits.inWindows({ name: "test", windowMs: minuteMs, max: Math.floor(max * shares), rememberedMax: 100 }),
  );
}

test("a wider network has more than one client, and less than all of them together", async () => {
  const counter = make(4);
  const outcomes = [];
  for (let at = 0; at < 5; at += 1) outcomes.push((await counter.charge(client, 0)).outcome);
  for (let at = 0; at < 3; at += 1) outcomes.push((await counter.charge(neighbour, 0)).outcome);
  const refused = "refused";
  expect(outcomes).toEqual([...Array(4).fill("charged"), refused, "charged", "charged", refused]);
});

test("a charge that a wider network refuses is counted nowhere", async () => {
  const counter = make(4);
  const first = await counter.charge(client, 0, 4);
  expect((await counter.charge(neighbour, 0, 3)).outcome).toBe("refused");
  if (first.outcome === "refused") throw new Error("The first charge was refused.");
  await first.refund();
  expect((await counter.charge(neighbour, 0, 4)).outcome).toBe("charged");
});

test("keys of different purposes are counted apart", async () => {
  const counter = make(1);
  for (const purpose of ["a", "b"]) {
    const charge = () => counter.charge(client, 0, 1, (name) => `${purpose} ${name}`);
    expect([(await charge()).outcome, (await charge()).outcome]).toEqual(["charged", "refused"]);
  }
});
