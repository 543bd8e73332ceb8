import { expect, test } from "vitest";
import { importedTrail } from "../create/adopt-push.ts";
import type { ImportedEvent } from "../store/adopt-push.ts";
import { auditKinds } from "../stored-values.ts";

const event = (at: number, more: Partial<ImportedEvent> = {}): ImportedEvent => ({
  kind: "view",
  userId: null,
  address: "192.0.2.1",
  userAgent: "test",
  referrer: "",
  linkDelivery: null,
  at,
  updatedAt: at,
  ...more,
});

test("a trail of up to a thousand events is imported event by event", () => {
  const trail = importedTrail(Array.from({ length: 1_000 }, (_, at) => event(at, { kind: "failed_passphrase" })));
  expect(trail.map(({ sequence, times }) => [sequence, times])).toEqual(
    Array.from({ length: 1_000 }, (_, at) => [at + 1, 1]),
  );
});

test("beyond a thousand, only kinds that any visitor can repeat are counted together", () => {
  const guesses = Array.from({ length: 1_500 }, (_, at) => event(at, { kind: "failed_passphrase" }));
  const trail = importedTrail([...guesses, event(2_000), event(2_001, { kind: "edit" })]);
  expect(trail).toHaveLength(1_000 + 2 + 1);
  expect(trail.reduce((sum, { times }) => sum + times, 0)).toBe(1_502);
  expect(trail.at(-1)).toMatchObject({
    kind: "failed_passphrase",
    sequence: -(auditKinds.failed_passphrase + 1),
    times: 500,
    at: 1_000,
    updatedAt: 1_499,
  });
  expect(trail.filter(({ kind }) => kind !== "failed_passphrase").map(({ sequence }) => sequence)).toEqual([
    1_501, 1_502,
  ]);
});

test("referrers lose the other server's links, and texts are cut", () => {
  const [entry] = importedTrail([
    event(1, { referrer: "https://push.example.com/en/p/12yoo8x2u-kg_ext/r", userAgent: "x".repeat(300) }),
  ]);
  expect(entry).toMatchObject({ referrer: "https://push.example.com", userAgent: "x".repeat(255) });
});

test("text that is no secret link is stored as it is", () => {
  expect(importedTrail([event(1, { referrer: "android-app://com.slack" })])).toMatchObject([
    { referrer: "android-app://com.slack" },
  ]);
});
