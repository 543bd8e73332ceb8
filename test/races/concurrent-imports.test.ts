import { expect, test } from "vitest";
import { type AdoptedUser, aspectsOf } from "../../src/accounts/admin/adopt-user.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { Domain } from "../../src/domain.ts";
import type { IncomingPush } from "../../src/import/destination.ts";
import { createDomainDestination } from "../../src/import/domain-destination.ts";
import { noRelated } from "../../src/import/source-values.ts";
import { claimOperations } from "../../src/pushes/claim/claim-view.ts";
import type { ImportedPush } from "../../src/pushes/create/import-push.ts";
import { startTestApp } from "../support/app.ts";
import { countEveryone, openTestDomain, stranger, TestClock } from "../support/domain.ts";
import { makeFile } from "../support/files.ts";
import { overrideWrite } from "../support/override-write.ts";
import { pushDepsOf } from "../support/push-deps.ts";

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

/** @param disturb what happens here while the second run writes. */
async function startRuns(disturb: (domain: Domain) => Partial<Domain> = () => ({})) {
  const clock = new TestClock(now);
  const app = await startTestApp({ clock });
  const { domain } = app.app;
  const effects = { clock, random: systemRandom, monotonicMs: () => clock.now() };
  const start = (on: Domain) => createDomainDestination(on, effects, "test source");
  return { app, one: start(domain), other: start({ ...domain, ...disturb(domain) }) };
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

test("a user who signs in just before the account is withdrawn keeps it", async () => {
  const password = "Größe-пароль-2026";
  const passwordHash = "$2a$12$P2LGMOxYOg98MBraDDXIk.FfynaKP38lvIIQZTkDjwasnw55JPabu";
  const client = { throttleKey: "192.0.2.1", address: "192.0.2.1", userAgent: "test" };
  const { app, one, other } = await startRuns((domain) => ({
    async deleteAccount(...request) {
      expect(await domain.accounts.signIn({ email: alice.email, password, client })).toBeDefined();
      return await domain.deleteAccount(...request);
    },
  }));
  await using _ = app;
  const user = { ...alice, passwordHash };
  const aspects = one.digests.all(aspectsOf(user));
  await one.importUser({ sourceId: 3, user, missingParts: [], identity: "", aspects }, false);
  const imported = (await one.importedUsers()).get(3);
  if (imported === undefined) throw new Error("The user is not recorded.");

  expect(await other.withdrawUser(imported)).toBe("used");
  expect(await app.app.domain.accounts.findUserByEmail(alice.email)).toMatchObject({ id: imported.id });
  expect((await other.importedUsers()).get(3)).toMatchObject({ accountExists: true });
});

const open: ImportedPush = {
  urlToken: "kept-token-0123",
  kind: "text",
  ownerId: null,
  name: "",
  note: "",
  open: { payload: "the secret", passphrase: "", files: [] },
  end: null,
  expireAfterDays: 7,
  expireAfterViews: 5,
  views: 0,
  refusals: 0,
  deletableByViewer: false,
  retrievalStep: false,
  notifyOnView: false,
  createdAt: now,
  updatedAt: now,
  trail: [],
};

test("a view that is counted here while a later run replaces the push stays counted", async () => {
  let view: (() => Promise<void>) | undefined;
  const { app, one, other } = await startRuns(({ db }) => ({
    db: overrideWrite(db, async (work) => {
      await view?.();
      return await db.write(work);
    }),
  }));
  await using _ = app;
  const retrieve = async () => (await app.server.inject({ url: `/api/v2/pushes/${open.urlToken}` })).json();
  const incoming = (push: ImportedPush): IncomingPush => ({
    sourceId: 9,
    push,
    missingParts: [],
    identity: "",
    aspects: one.digests.all({ views: String(push.views) }),
    related: noRelated,
  });
  expect(await one.importPush(incoming(open))).toMatchObject({ outcome: "imported" });
  const imported = await one.pushFinder()(9);
  if (imported === undefined) throw new Error("The push is not recorded.");
  view = async () => {
    view = undefined;
    expect(await retrieve()).toMatchObject({ payload: "the secret", views_remaining: 4 });
  };

  const viewedThere = incoming({ ...open, views: 2 });
  const update = await other.updatePush(imported, viewedThere, true);
  if (update.outcome !== "changed_meanwhile") throw new Error("The view was not noticed.");
  expect(await other.updatePush(update.now, viewedThere, true)).toMatchObject({ outcome: "updated", plan: "merged" });
  // Two of five were used there, one here, and this one.
  expect(await retrieve()).toMatchObject({ payload: "the secret", views_remaining: 1 });
});

const incomingPush = (push: ImportedPush, aspects: IncomingPush["aspects"]): IncomingPush => ({
  sourceId: 9,
  push,
  missingParts: [],
  identity: "",
  aspects,
  related: noRelated,
});
const content = (payload: string, passphrase = "", files: readonly string[] = []): ImportedPush => ({
  ...open,
  kind: files.length > 0 ? "file" : "text",
  open: { payload, passphrase, files: files.map((text) => makeFile(`${text}.txt`, text)) },
});
const ended: ImportedPush = { ...open, open: null, end: { at: now, reason: "owner" } };

test.each([
  ["gets its new text", content("before"), content("after"), { outcome: "revealed", payload: "after" }],
  [
    "is asked for its new passphrase",
    content("before"),
    content("after", "a passphrase"),
    { outcome: "passphrase_required" },
  ],
  [
    "is refused without the passphrase that it had",
    content("before", "a passphrase"),
    content("after"),
    { outcome: "passphrase_required" },
  ],
  [
    "gets its new files",
    content("", "", ["before"]),
    content("", "", ["after"]),
    { outcome: "revealed", files: ["after.txt"] },
  ],
  ["finds that it has ended", content("before"), ended, { outcome: "gone" }],
])("a view that has read a push when a later run replaces it %s", async (_, before, after, expected) => {
  const clock = new TestClock(now);
  await using fixture = await openTestDomain({ clock });
  const { domain, effects } = fixture;
  const destination = createDomainDestination(domain, effects, "test source");
  await destination.importPush(incomingPush(before, destination.digests.all({ payload: "before" })));
  const imported = await destination.pushFinder()(9);
  if (imported === undefined) throw new Error("The push is not recorded.");
  let replacements = 0;
  const findSealed: typeof domain.store.findSealed = async (...request) => {
    const sealed = await domain.store.findSealed(...request);
    if (replacements === 0) {
      replacements += 1;
      const update = incomingPush(after, destination.digests.all({ payload: "after" }));
      expect(await destination.updatePush(imported, update, true)).toMatchObject({ plan: "replaced" });
    }
    return sealed;
  };
  const store = { ...domain.store, findSealed };
  const claim = await claimOperations(pushDepsOf(fixture, { store })).claimView(open.urlToken, countEveryone, stranger);
  const files = claim.outcome === "revealed" ? claim.files.map(({ filename }) => filename) : [];
  expect({ ...claim, files }).toMatchObject(expected);
  if (claim.outcome === "revealed") expect(claim.push).toMatchObject({ viewsRemaining: 4 });
});

test("two runs that have read the same record count the source's views once", async () => {
  const clock = new TestClock(now);
  await using app = await startTestApp({ clock });
  const effects = { clock, random: systemRandom, monotonicMs: () => clock.now() };
  const [one, other] = [1, 2].map(() => createDomainDestination(app.app.domain, effects, "test source"));
  if (one === undefined || other === undefined) throw new Error("No destination.");
  const withViews = (views: number, payload: string) =>
    incomingPush({ ...content(payload), views }, one.digests.all({ payload, views: String(views) }));
  await one.importPush(withViews(0, "text"));
  const retrieve = async () => (await app.server.inject({ url: `/api/v2/pushes/${open.urlToken}` })).json();
  await retrieve();
  const imported = await one.pushFinder()(9);
  if (imported === undefined) throw new Error("The push is not recorded.");
  // The one merges the push, the other only restricts it: something of it cannot be read.
  const outcomes = await Promise.all([
    one.updatePush(imported, withViews(2, "text"), true),
    other.updatePush(imported, withViews(2, "text"), false),
  ]);
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["changed_meanwhile", "updated"]);
  for (const destination of [one, other]) {
    const record = await destination.pushFinder()(9);
    if (record === undefined) throw new Error("The push is not recorded.");
    expect(record.views).toBe(2);
    await destination.updatePush(record, withViews(2, "text"), true);
  }
  // Two of five there, one here, and this one.
  expect(await retrieve()).toMatchObject({ payload: "text", views_remaining: 1 });
});

test("views here and there while later runs replace a push again and again get one version each, and all are counted", async () => {
  const clock = new TestClock(now);
  await using app = await startTestApp({ clock });
  const effects = { clock, random: systemRandom, monotonicMs: () => clock.now() };
  const destination = createDomainDestination(app.app.domain, effects, "test source");
  const versionOf = (version: number) => ({ ...content(`version ${version}`), expireAfterViews: 100, views: version });
  const incoming = (version: number) =>
    incomingPush(versionOf(version), destination.digests.all({ payload: String(version) }));
  await destination.importPush(incoming(0));
  const retrieve = async () => (await app.server.inject({ url: `/api/v2/pushes/${open.urlToken}` })).json();
  const update = async (version: number): Promise<void> => {
    const imported = await destination.pushFinder()(9);
    if (imported === undefined) throw new Error("The push is not recorded.");
    const outcome = await destination.updatePush(imported, incoming(version), true);
    if (outcome.outcome === "changed_meanwhile") await update(version);
  };
  const rounds = 10;
  const viewsPerRound = 8;
  for (let round = 1; round <= rounds; round += 1) {
    const views = Array.from({ length: viewsPerRound }, retrieve);
    const [answers] = await Promise.all([Promise.all(views), update(round)]);
    for (const { payload } of answers) expect([`version ${round - 1}`, `version ${round}`]).toContain(payload);
  }
  const last = await retrieve();
  const viewsRemaining = 100 - rounds * viewsPerRound - rounds - 1;
  expect(last).toMatchObject({ payload: `version ${rounds}`, views_remaining: viewsRemaining });
});
