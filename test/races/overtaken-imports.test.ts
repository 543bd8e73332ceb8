import { expect, test } from "vitest";
import type { AdoptedUser } from "../../src/accounts/admin/adopt-user.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createDomainDestination } from "../../src/import/domain-destination.ts";
import { startTestApp } from "../support/app.ts";
import { TestClock } from "../support/domain.ts";

const now = Date.UTC(2026, 10, 20);

const alice: AdoptedUser = {
  email: "alice@example.com",
  passwordHash: "",
  admin: false,
  language: null,
  confirmedAt: now,
  createdAt: now,
  updatedAt: now,
  lastSignedInAt: null,
  apiToken: null,
  totp: null,
};

async function startRuns() {
  const clock = new TestClock(now);
  const app = await startTestApp({ clock });
  const { domain } = app.app;
  const effects = { clock, random: systemRandom, monotonicMs: () => clock.now() };
  const start = () => createDomainDestination(domain, effects, "of one source");
  return { app, one: start(), other: start() };
}

test("an account imported by a concurrent run is matched to its source user, not by email address", async () => {
  const { app, one, other } = await startRuns();
  await using _ = app;
  const incoming = { sourceId: 3, user: alice, lacks: [] };
  expect((await other.knownUsers()).size).toBe(0);
  const brought = await one.bringUser(incoming, false);
  expect(brought).toMatchObject({ outcome: "brought", merged: false });
  for (const merge of [false, true]) {
    expect(await other.bringUser(incoming, merge)).toMatchObject({
      outcome: "known",
      known: { sourceId: 3, lacks: [] },
    });
  }
  expect(await one.countHere()).toMatchObject({ noted: { users: 1 }, notedByThisRun: { users: 1 } });
  expect(await other.countHere()).toMatchObject({ noted: { users: 1 }, notedByThisRun: { users: 0 } });
  const stranger = { ...incoming, sourceId: 4 };
  expect(await other.bringUser(stranger, false)).toEqual({ outcome: "email_taken" });
});

test("a row filled by one run is taken as filled by the other, which goes on", async () => {
  const { app, one, other } = await startRuns();
  await using _ = app;
  await one.bringUser({ sourceId: 3, user: alice, lacks: ["factor"] }, false);
  const known = (await one.knownUsers()).get(3);
  if (known === undefined) throw new Error("The user is not noted.");
  const whole = { sourceId: 3, user: { ...alice, passwordHash: "of the source" }, lacks: [] };
  expect(await one.completeUser(known, whole)).toMatchObject({ outcome: "completed", filled: ["factor"], lacks: [] });
  expect(await other.completeUser(known, whole)).toMatchObject({
    outcome: "overtaken",
    now: { sourceId: 3, id: known.id, lacks: [], stands: true },
  });
});
