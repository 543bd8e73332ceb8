import { expect, it } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger } from "../../../test/support/domain.ts";
import { dayMs } from "../../base/clock.ts";
import { nothingElse } from "../../database/database.ts";

const everything = { kind: null, state: "all", ownerId: null, beforeId: null } as const;
const admin = signedIn(99, true);

it("shows facts about a push, never its content or its link", async () => {
  await using test = await openTestDomain();
  const { pushes } = test.domain;
  const push = await pushes.create({ payload: "canary payload", name: "canary name", passphrase: "p" }, signedIn(7));
  const page = await pushes.adminList(everything);
  expect(page).toMatchObject({
    pushes: [{ kind: "text", ownerId: 7, views: 0, expireAfterViews: 5, passphraseRequired: true, endReason: null }],
    nextBeforeId: null,
  });
  expect(JSON.stringify(page)).not.toMatch(new RegExp(`canary|${push.urlToken}`));
});

it("filters by kind, state and owner, and continues after the last push shown", async () => {
  await using test = await openTestDomain();
  const { pushes } = test.domain;
  for (let at = 0; at < 60; at += 1) await pushes.create({ payload: "a", expireAfterDays: 1 }, stranger);
  await pushes.create({ payload: "https://example.com", kind: "url" }, signedIn(7));
  const found = async (filter: Partial<Parameters<typeof pushes.adminList>[0]>) =>
    (await pushes.adminList({ ...everything, ...filter })).pushes.length;
  expect(await found({ kind: "url" })).toBe(1);
  expect(await found({ ownerId: 7 })).toBe(1);
  expect(await found({ ownerId: 8 })).toBe(0);
  const first = await pushes.adminList(everything);
  expect(first.pushes).toHaveLength(50);
  const second = await pushes.adminList({ ...everything, beforeId: first.nextBeforeId });
  expect(second.pushes).toHaveLength(11);
  expect(second.nextBeforeId).toBeNull();
  expect(new Set([...first.pushes, ...second.pushes].map(({ id }) => id)).size).toBe(61);
  test.clock.advance(dayMs);
  expect(await found({ state: "active" })).toBe(1);
  expect(await found({ state: "expired" })).toBe(50);
  expect(await pushes.totals()).toMatchObject({ live: 61, files: 0 });
});

it("lets an administrator end a push for good, and its owner's trail shows it", async () => {
  await using test = await openTestDomain();
  const { pushes } = test.domain;
  const push = await pushes.create({ payload: "secret" }, signedIn(7));
  const [surveyed] = (await pushes.adminList(everything)).pushes;
  const id = surveyed?.id ?? 0;
  const failing = () => Promise.reject(new Error("cannot be written"));
  await expect(pushes.endAsAdministrator(id, admin, failing)).rejects.toThrow("cannot be written");
  expect((await pushes.adminList({ ...everything, state: "active" })).pushes).toHaveLength(1);
  expect(await pushes.endAsAdministrator(id, admin, nothingElse)).toBe("ended");
  // An administrator cannot end a push that has ended or does not exist.
  expect(await pushes.endAsAdministrator(id, admin, failing)).toBe("had_ended");
  expect(await pushes.endAsAdministrator(id + 1_000, admin, failing)).toBe("unknown");
  expect(await pushes.claimView(push.urlToken, countEveryone, stranger)).toMatchObject({
    outcome: "gone",
    push: { deleted: true },
  });
  const trail = await pushes.trail(push.urlToken, signedIn(7), 1);
  expect(trail?.push.endReason).toBe("administrator");
  expect(trail?.events).toContainEqual(expect.objectContaining({ kind: "expire", by: "administrator" }));
});

it("lets only administrators end a push by its id", async () => {
  await using test = await openTestDomain();
  const { pushes } = test.domain;
  await pushes.create({ payload: "secret" }, signedIn(7));
  const [surveyed] = (await pushes.adminList(everything)).pushes;
  for (const actor of [stranger, signedIn(7)]) {
    await expect(pushes.endAsAdministrator(surveyed?.id ?? 0, actor, nothingElse)).rejects.toThrow();
  }
  expect((await pushes.adminList({ ...everything, state: "active" })).pushes).toHaveLength(1);
});
