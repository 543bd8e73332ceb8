import { expect, test } from "vitest";
import type { AdoptedUser } from "../../src/accounts/admin/adopt-user.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createDomainDestination } from "../../src/import/domain-destination.ts";
import { startTestApp } from "../support/app.ts";
import { TestClock } from "../support/domain.ts";
import { collect } from "../support/password-pusher/open-source.ts";

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
  const effects = { clock, random: systemRandom, monotonicMs: () => clock.now() };
  const start = () => createDomainDestination(app.app.domain, effects, "test source");
  return { app, one: start(), other: start() };
}

test("an account that another run has just imported belongs to its user, and to no other user with that email", async () => {
  const { app, one, other } = await startRuns();
  await using _ = app;
  const incoming = { sourceId: 3, user: alice, missingParts: [] };
  expect(await collect(other.rows.all("user"))).toEqual([]);
  const imported = await one.importUser(incoming, false);
  expect(imported).toMatchObject({ outcome: "imported", imported: { sourceId: 3, missingParts: [] } });
  for (const merge of [false, true]) {
    expect(await other.importUser(incoming, merge)).toMatchObject({
      outcome: "imported_before",
      imported: { sourceId: 3, missingParts: [] },
    });
  }
  expect(await one.rows.counts()).toMatchObject({ users: 1 });
  expect(await one.rows.counts(one.run)).toMatchObject({ users: 1 });
  expect(await other.rows.counts(other.run)).toMatchObject({ users: 0 });
  const stranger = { ...incoming, sourceId: 4 };
  expect(await other.importUser(stranger, false)).toEqual({ outcome: "email_taken" });
});

const snapshotOf = (identities: string) => ({ tables: {}, identities, at: now });
const userNumbered = (number: number) => ({
  sourceId: number,
  user: { ...alice, email: `user${number}@example.com` },
  missingParts: [],
});

test("the first row binds all runs to the source as its run has seen it", async () => {
  const { app, one, other } = await startRuns();
  await using _ = app;
  one.rows.setSnapshot(snapshotOf("one"));
  other.rows.setSnapshot(snapshotOf("other"));
  expect(await one.rows.readSnapshot()).toBeUndefined();
  expect(await other.importUser(userNumbered(1), false)).toMatchObject({ outcome: "imported" });
  await expect(one.importUser(userNumbered(2), false)).rejects.toThrow("Another import has begun meanwhile");
  expect(await one.rows.readSnapshot()).toEqual(snapshotOf("other"));
  one.rows.setSnapshot({ ...snapshotOf("other"), at: now + 1 });
  expect(await one.importUser(userNumbered(2), false)).toMatchObject({ outcome: "imported" });
  expect(await other.importUser(userNumbered(3), false)).toMatchObject({ outcome: "imported" });
  expect(await collect(one.rows.all("user"))).toHaveLength(3);
});
