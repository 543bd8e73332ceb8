import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger } from "../../../test/support/domain.ts";
import { countRows } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { hourMs } from "../../base/clock.ts";
import type { Actor } from "../actor.ts";
import type { BulkEndingFilter } from "../push.ts";
import { readEndingNetwork, runBulkEndings } from "./bulk-endings.ts";

const owner = signedIn(7);
const everything: BulkEndingFilter = { network: "", olderThanMs: 0, largerThanBytes: 0, owners: "all" };
const administrator = { user: { id: 1, admin: true }, address: "198.51.100.9", userAgent: "browser" };
const from = (address: string, actor: Actor = stranger): Actor => ({ ...actor, address, client: address });

async function openEndings() {
  const fixture = await openTestDomain();
  const { pushes, store } = fixture.domain;
  const live = new Map<string, string>();
  const make = async (name: string, actor: Actor, bytes = 10) => {
    live.set(name, (await pushes.create({ payload: "x".repeat(bytes), name }, actor)).urlToken);
  };
  const run = (signal = new AbortController().signal) =>
    runBulkEndings({ store, clock: fixture.clock, monotonicMs: () => 0, pause: async () => undefined }, signal);
  return {
    fixture,
    pushes,
    store,
    make,
    run,
    live,
    preview: (filter: Partial<BulkEndingFilter>) => pushes.previewBulkEnding({ ...everything, ...filter }),
    start: (filter: Partial<BulkEndingFilter>) =>
      pushes.startBulkEnding({ ...everything, ...filter }, administrator, async () => undefined),
    async left() {
      const names: string[] = [];
      for (const [name, urlToken] of live) {
        if ((await pushes.find(urlToken, stranger))?.expired === false) names.push(name);
      }
      return names;
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

test.each<[string, Partial<BulkEndingFilter>, readonly string[], number]>([
  ["an address", { network: "192.0.2.1" }, ["near", "owned"], 20],
  ["a network", { network: "192.0.2.0/24" }, ["near", "neighbour", "owned"], 30],
  ["an IPv6 network", { network: "2001:db8:1::/48" }, ["v6"], 10],
  ["age", { olderThanMs: hourMs }, ["old"], 10],
  ["size", { largerThanBytes: 10 }, ["large"], 11],
  ["owners", { owners: "owned" }, ["owned"], 10],
  ["no owner, and a network", { owners: "anonymous", network: "192.0.2.0/24" }, ["near", "neighbour"], 20],
])("pushes are counted and ended by %s, and all others stay", async (_, filter, ended, bytes) => {
  await using endings = await openEndings();
  const { make, fixture, preview, start, run, left, live } = endings;
  await make("old", from("203.0.113.5"));
  fixture.clock.advance(hourMs);
  await make("near", from("192.0.2.1"));
  await make("neighbour", from("192.0.2.77"));
  await make("owned", from("192.0.2.1", owner));
  await make("v6", from("2001:db8:1:2::3"));
  await make("large", from("203.0.113.6"), 11);
  expect(await preview(filter)).toEqual({ count: ended.length, bytes, isComplete: true });
  expect(await left()).toHaveLength(6);
  await start(filter);
  expect(await run()).toBe(ended.length);
  expect(await left()).toEqual([...live.keys()].filter((name) => !ended.includes(name)));
  expect(await endings.pushes.latestBulkEndings()).toMatchObject([
    { ended: ended.length, endedBytes: bytes, finishedAt: fixture.clock.now() },
  ]);
});

test("pushes that are created after the request stay", async () => {
  await using endings = await openEndings();
  await endings.make("before", stranger);
  await endings.start({ owners: "anonymous" });
  endings.fixture.clock.advance(1);
  await endings.make("after", stranger);
  await endings.run();
  expect(await endings.left()).toEqual(["after"]);
});

test("the trail of an owned push says that an administrator ended it, and the files are deleted", async () => {
  await using endings = await openEndings();
  const { pushes, store } = endings;
  const push = await pushFiles(pushes, owner, [makeFile("a.txt", "content")]);
  await endings.start({ network: owner.address });
  await endings.run();
  const trail = await pushes.trail(push.urlToken, owner, 1);
  expect(trail?.push).toMatchObject({ expired: true, deleted: true, endReason: "administrator" });
  expect(trail?.events[0]).toMatchObject({ kind: "expire", by: "administrator", address: administrator.address });
  expect(await store.upkeep.leaseBlobDeletions({ now: 0, untriedBy: 0, leasedUntil: hourMs }, 10)).toHaveLength(1);
});

test("a request survives a stop in the middle, and processes in parallel end each push once", async () => {
  await using endings = await openEndings();
  const { make, start, run, left, pushes } = endings;
  for (let at = 0; at < 250; at += 1) await make(`push ${at}`, stranger);
  await start({ owners: "anonymous" });
  const stop = new AbortController();
  stop.abort();
  expect(await run(stop.signal)).toBe(0);
  const { advance } = endings.store.bulkEndings;
  const audit = () => {
    throw new Error("Anonymous pushes keep no trail.");
  };
  await expect(advance(endings.fixture.clock.now(), 100, () => () => true, audit)).rejects.toThrow("no trail");
  expect(await left()).toHaveLength(250);
  const [one, other] = await Promise.all([run(), run()]);
  expect((one ?? 0) + (other ?? 0) + (await run())).toBe(250);
  expect(await left()).toEqual([]);
  expect(await pushes.latestBulkEndings()).toMatchObject([{ ended: 250, endedBytes: 2_500 }]);
});

test("a request without a restriction is a mistake", async () => {
  await using endings = await openEndings();
  await expect(endings.preview({})).rejects.toThrow("must restrict");
  await expect(endings.start({})).rejects.toThrow("must restrict");
});

test.each([
  ["192.0.2.77/24", "192.0.2.0/24"],
  ["2001:DB8::1", "2001:db8::1"],
  ["192.0.2", undefined],
  ["everywhere", undefined],
])("the network %s is read as %s", (text, network) => {
  expect(readEndingNetwork(text)).toBe(network);
});

test("views of pushes that had ended can no longer be repeated, and such pushes are not counted as ended", async () => {
  await using endings = await openEndings();
  const { pushes, fixture, preview, start, run } = endings;
  const repeatable = { ...countEveryone, idempotencyKey: "a-random-key-of-the-client" };
  const makeEnded = async (actor: Actor) => {
    const { urlToken } = await pushes.create({ payload: "hunter2", expireAfterViews: 1 }, actor);
    expect(await pushes.claimView(urlToken, repeatable, stranger)).toMatchObject({ outcome: "revealed" });
    return urlToken;
  };
  const owned = await makeEnded(owner);
  const anonymous = await makeEnded(stranger);
  expect(await preview({ owners: "owned" })).toMatchObject({ count: 0 });
  await start({ owners: "owned" });
  expect(await run()).toBe(0);
  expect(await pushes.claimView(owned, repeatable, stranger)).toMatchObject({ outcome: "gone" });
  expect(await pushes.claimView(anonymous, repeatable, stranger)).toMatchObject({ outcome: "revealed" });
  expect(await countRows(fixture.domain.db, "claim_retries")).toBe(1);
  expect(await countRows(fixture.domain.db, "payloads")).toBe(1);
});
