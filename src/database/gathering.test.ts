import { expect, test } from "vitest";
import { Gathering } from "./gathering.ts";

/** @returns after how many turns the next batch begins, of which each brings one more. */
function turnsUntilBegun(gathering: Gathering, onTurn: () => void = () => undefined): number {
  for (let waiting = 1; ; waiting += 1) {
    if (!gathering.goesOn(Math.min(waiting, 5))) return waiting;
    onTurn();
  }
}

test("only after a batch of several, the next one begins when a turn has brought nothing more", () => {
  const gathering = new Gathering(() => 0, 100);
  expect(turnsUntilBegun(gathering)).toBe(1);
  gathering.began(1);
  expect(turnsUntilBegun(gathering)).toBe(1);
  gathering.began(2);
  expect(turnsUntilBegun(gathering)).toBe(6);
});

test("it begins when it is full, and ten milliseconds after the first at the latest", () => {
  const full = new Gathering(() => 0, 3);
  full.began(2);
  expect(turnsUntilBegun(full)).toBe(3);
  let now = 0;
  const slow = new Gathering(() => now, 100);
  slow.began(2);
  const slowTurn = () => {
    now += 5;
  };
  expect(turnsUntilBegun(slow, slowTurn)).toBe(3);
  expect(turnsUntilBegun(slow)).toBe(6);
});
