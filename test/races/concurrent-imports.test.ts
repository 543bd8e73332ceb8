import { expect, test } from "vitest";
import { type AdoptedUser, aspectsOf } from "../../src/accounts/admin/adopt-user.ts";
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
  const start = () => createDomainDestination(domain, effects, "test source");
  return { app, one: start(), other: start() };
}

test("an account that another run has just imported belongs to its user, and to no other user with that email", async () => {
  const { app, one, other } = await startRuns();
  await using _ = app;
  const incoming = { sourceId: 3, user: alice, missingParts: [], identity: "", aspects: {} };
  expect((await other.importedUsers()).size).toBe(0);
  const imported = await one.importUser(incoming, false);
  expect(imported).toMatchObject({ outcome: "imported", merged: false });
  for (const merge of [false, true]) {
    expect(await other.importUser(incoming, merge)).toMatchObject({
      outcome: "imported_before",
      imported: { sourceId: 3, missingParts: [] },
    });
  }
  expect(await one.countStored()).toMatchObject({ recorded: { users: 1 }, recordedByThisRun: { users: 1 } });
  expect(await other.countStored()).toMatchObject({ recorded: { users: 1 }, recordedByThisRun: { users: 0 } });
  const stranger = { ...incoming, sourceId: 4 };
  expect(await other.importUser(stranger, false)).toEqual({ outcome: "email_taken" });
});

test("a part that one run has just added counts as added for the other run", async () => {
  const { app, one, other } = await startRuns();
  await using _ = app;
  const { factor: _factor, password: _password, ...known } = one.digests.all(aspectsOf(alice));
  await one.importUser({ sourceId: 3, user: alice, missingParts: ["factor"], identity: "", aspects: known }, false);
  const user = (await one.importedUsers()).get(3);
  if (user === undefined) throw new Error("The user is not recorded.");
  const whole = { ...alice, passwordHash: "hash of the source" };
  const incoming = {
    sourceId: 3,
    user: whole,
    missingParts: [],
    identity: "",
    aspects: one.digests.all(aspectsOf(whole)),
  };
  const changed = ["factor", "password"] as const;
  expect(await one.updateUser(user, incoming, changed)).toMatchObject({ outcome: "updated", updated: ["password"] });
  expect(await other.updateUser(user, incoming, changed)).toMatchObject({
    outcome: "changed_meanwhile",
    now: { sourceId: 3, id: user.id, missingParts: [], accountExists: true },
  });
});
