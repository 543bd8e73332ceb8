import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { countRows } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile, pushFiles } from "../../../test/support/files.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { dayMs } from "../../base/clock.ts";
import { ClockTrust } from "../../base/clock-trust.ts";

const countOf = ({ domain }: TestDomain, table: string, where?: string) => countRows(domain.db, table, where);

async function makeOwner({ domain }: TestDomain) {
  const user = await domain.accounts.createUser({
    email: "ada@example.com",
    password: "a long enough password",
    admin: false,
  });
  await domain.accounts.createUser({ email: "root@example.com", password: "a long enough password", admin: true });
  return signedIn(user.id);
}

const make = ({ domain }: TestDomain, owner: ReturnType<typeof signedIn>, more = {}) =>
  domain.pushes.create({ payload: "secret", name: "name", note: "note", ...more }, owner);

test("the sweeper finishes the removal of a deleted account's pushes after a crash, even while the clock is not trusted", async () => {
  await using fixture = await openTestDomain();
  const owner = await makeOwner(fixture);
  const { urlToken } = await make(fixture, owner, { idempotencyKey: "a-random-key-of-the-client" });
  // The part that ran before the crash.
  await fixture.domain.accounts.deleteUser(owner.user?.id ?? 0, null);
  expect(await fixture.domain.pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({
    outcome: "revealed",
  });
  const sweeper = makeSweeper(fixture, { clockTrust: new ClockTrust(fixture.clock, () => 0) });
  expect(await sweeper.sweep()).toMatchObject({ clockTrusted: false, released: 1 });
  expect(await fixture.domain.pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({
    outcome: "gone",
  });
  expect(await countOf(fixture, "pushes", "owner_id IS NOT NULL")).toBe(0);
  expect(await countOf(fixture, "creation_keys")).toBe(0);
});

test("a push that is created while its owner is deleted is released, too; the owner is forgotten a day later", async () => {
  await using fixture = await openTestDomain();
  const owner = await makeOwner(fixture);
  const sweeper = makeSweeper(fixture);
  expect(await fixture.domain.deleteAccount(owner.user?.id ?? 0, null)).toMatchObject({ outcome: "done" });
  const { urlToken } = await make(fixture, owner);
  fixture.clock.advance(dayMs);
  // A sweep that could not release the push must find it the next time.
  await fixture.domain.store.upkeep.forgetDeparted(fixture.clock.now() + 1);
  expect(await sweeper.sweep()).toMatchObject({ released: 1 });
  expect(await fixture.domain.pushes.find(urlToken, stranger)).toMatchObject({ deleted: true });
  expect(await countOf(fixture, "deleted_users")).toBe(1);
  fixture.clock.advance(1);
  expect(await sweeper.sweep()).toMatchObject({ released: 0 });
  expect(await countOf(fixture, "deleted_users")).toBe(0);
});

test("deleting an account removes its files' names and blobs, of live and of ended pushes", async () => {
  await using fixture = await openTestDomain();
  const owner = await makeOwner(fixture);
  const sweeper = makeSweeper(fixture);
  const long = await pushFiles(fixture.domain.pushes, owner, [makeFile("long ago.txt", "a")], { expireAfterViews: 1 });
  await claimFiles(fixture.domain.pushes, long.urlToken, stranger);
  fixture.clock.advance(dayMs);
  await sweeper.sweep();
  expect(await countOf(fixture, "files")).toBe(1);
  const used = await pushFiles(fixture.domain.pushes, owner, [makeFile("used.txt", "b")], { expireAfterViews: 1 });
  const [file] = await claimFiles(fixture.domain.pushes, used.urlToken, stranger);
  await pushFiles(fixture.domain.pushes, owner, [makeFile("standing.txt", "c")]);

  await fixture.domain.deleteAccount(owner.user?.id ?? 0, null);
  expect(await fixture.domain.pushes.openTicket(file?.ticket ?? "", stranger)).toBeUndefined();
  expect(await sweeper.sweep()).toMatchObject({ blobsDeleted: 2 });
  expect(await countOf(fixture, "files")).toBe(0);
  expect(await countOf(fixture, "audit_entries")).toBe(0);
});

test("tombstones of a deleted account's pushes are removed after 30 days like all others, and totals stay correct", async () => {
  await using fixture = await openTestDomain();
  const owner = await makeOwner(fixture);
  await make(fixture, owner);
  await make(fixture, owner, { expireAfterDays: 1 });
  await make(fixture, stranger, { payload: "12345678" });
  fixture.clock.advance(2 * dayMs);
  await fixture.domain.deleteAccount(owner.user?.id ?? 0, null);
  expect(await fixture.domain.store.upkeep.anonymousBytes()).toBe(8);
  expect(await countOf(fixture, "pushes")).toBe(3);
  fixture.clock.advance(30 * dayMs + 1);
  const sweeper = makeSweeper(fixture);
  await sweeper.sweep();
  expect(await fixture.domain.store.upkeep.anonymousBytes()).toBe(0);
  expect(await countOf(fixture, "pushes", "end_reason = 3")).toBe(0);
});

test("of two concurrent deletions of an account one counts, and every push ends", async () => {
  await using fixture = await openTestDomain();
  const owner = await makeOwner(fixture);
  await Promise.all(Array.from({ length: 250 }, () => make(fixture, owner)));
  const id = owner.user?.id ?? 0;
  const changes = await Promise.all([fixture.domain.deleteAccount(id, null), fixture.domain.deleteAccount(id, null)]);
  expect(changes.map(({ outcome }) => outcome).sort()).toEqual(["done", "unknown"]);
  expect(await countOf(fixture, "pushes", "ended_at IS NULL OR owner_id IS NOT NULL")).toBe(0);
  expect(await countOf(fixture, "payloads")).toBe(0);
});
