import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { countRows } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile, pushFiles } from "../../../test/support/files.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { dayMs } from "../../base/clock.ts";
import { ClockTrust } from "../../base/clock-trust.ts";

const countOf = ({ domain }: TestDomain, table: string, where?: string) => countRows(domain.db, table, where);

async function makeOwner({ domain }: TestDomain) {
  const user = await domain.accounts.createUser({
    ...{ email: "ada@example.com", password: "a long enough password", admin: false },
  });
  await domain.accounts.createUser({ email: "root@example.com", password: "a long enough password", admin: true });
  return signedIn(user.id);
}

const make = ({ domain }: TestDomain, owner: ReturnType<typeof signedIn>, more = {}) =>
  domain.pushes.create({ payload: "secret", name: "name", note: "note", ...more }, owner);

test("what a crash left of a deleted account's pushes is finished by the sweeper, without trusting the clock", async () => {
  await using world = await openTestDomain();
  const owner = await makeOwner(world);
  const { urlToken } = await make(world, owner);
  // As far as it came before the crash.
  await world.domain.accounts.deleteUser(owner.user?.id ?? 0, null);
  expect(await world.domain.pushes.claimView(urlToken, { counting: "everyone" }, stranger)).toMatchObject({
    outcome: "revealed",
  });
  const sweeper = makeSweeper(world, { clockTrust: new ClockTrust(world.clock, () => 0) });
  expect(await sweeper.sweep()).toMatchObject({ clockTrusted: false, released: 1 });
  expect(await world.domain.pushes.claimView(urlToken, { counting: "everyone" }, stranger)).toMatchObject({
    outcome: "gone",
  });
  expect(await countOf(world, "pushes", "owner_id IS NOT NULL")).toBe(0);
});

test("a push that was on its way in while its owner was deleted is released, too; the owner is forgotten a day later", async () => {
  await using world = await openTestDomain();
  const owner = await makeOwner(world);
  const sweeper = makeSweeper(world);
  expect(await world.domain.deleteAccount(owner.user?.id ?? 0, null)).toMatchObject({ outcome: "done" });
  const { urlToken } = await make(world, owner);
  world.clock.advance(dayMs);
  expect(await sweeper.sweep()).toMatchObject({ released: 1 });
  expect(await world.domain.pushes.find(urlToken, stranger)).toMatchObject({ deleted: true });
  expect(await countOf(world, "deleted_users")).toBe(1);
  world.clock.advance(1);
  expect(await sweeper.sweep()).toMatchObject({ released: 0 });
  expect(await countOf(world, "deleted_users")).toBe(0);
});

test("files go with their owner's account: names and blobs, of live pushes and of ended ones", async () => {
  await using world = await openTestDomain();
  const owner = await makeOwner(world);
  const sweeper = makeSweeper(world);
  const long = await pushFiles(world.domain.pushes, owner, [makeFile("long ago.txt", "a")], { expireAfterViews: 1 });
  await claimFiles(world.domain.pushes, long.urlToken, stranger);
  world.clock.advance(dayMs);
  await sweeper.sweep();
  expect(await countOf(world, "files")).toBe(1);
  const used = await pushFiles(world.domain.pushes, owner, [makeFile("used.txt", "b")], { expireAfterViews: 1 });
  const [file] = await claimFiles(world.domain.pushes, used.urlToken, stranger);
  await pushFiles(world.domain.pushes, owner, [makeFile("standing.txt", "c")]);

  await world.domain.deleteAccount(owner.user?.id ?? 0, null);
  expect(await world.domain.pushes.openTicket(file?.ticket ?? "", stranger, 0)).toBeUndefined();
  expect(await sweeper.sweep()).toMatchObject({ blobsDeleted: 2 });
  expect(await countOf(world, "files")).toBe(0);
  expect(await countOf(world, "audit_entries")).toBe(0);
});

test("tombstones of a deleted account's pushes go after 30 days like all others, and totals stay right", async () => {
  await using world = await openTestDomain();
  const owner = await makeOwner(world);
  await make(world, owner);
  await make(world, owner, { expireAfterDays: 1 });
  await make(world, stranger, { payload: "12345678" });
  world.clock.advance(2 * dayMs);
  await world.domain.deleteAccount(owner.user?.id ?? 0, null);
  expect(await world.domain.store.upkeep.anonymousBytes()).toBe(8);
  expect(await countOf(world, "pushes")).toBe(3);
  world.clock.advance(30 * dayMs + 1);
  const sweeper = makeSweeper(world);
  await sweeper.sweep();
  expect(await world.domain.store.upkeep.anonymousBytes()).toBe(0);
  expect(await countOf(world, "pushes", "end_reason = 3")).toBe(0);
});

test("an account is deleted once, and two concurrent deletions end every push", async () => {
  await using world = await openTestDomain();
  const owner = await makeOwner(world);
  await Promise.all(Array.from({ length: 250 }, () => make(world, owner)));
  const id = owner.user?.id ?? 0;
  const changes = await Promise.all([world.domain.deleteAccount(id, null), world.domain.deleteAccount(id, null)]);
  expect(changes.map(({ outcome }) => outcome).sort()).toEqual(["done", "unknown"]);
  expect(await countOf(world, "pushes", "ended_at IS NULL OR owner_id IS NOT NULL")).toBe(0);
  expect(await countOf(world, "payloads")).toBe(0);
});
