import { expect, test } from "vitest";
import {
  countEveryone,
  countStrangers,
  openTestDomain,
  signedIn,
  stranger,
  type TestDomain,
} from "../../../test/support/domain.ts";
import { dayMs } from "../../base/clock.ts";
import type { TrailEvent } from "../push.ts";
import { auditEntriesMax } from "./audit-trail.ts";

const owner = signedIn(7);

async function view(fixture: TestDomain, urlToken: string, actor = stranger): Promise<void> {
  fixture.clock.advance(1_000);
  await fixture.domain.pushes.claimView(urlToken, countStrangers, actor);
}

const summarize = (event: TrailEvent) =>
  event.kind === "limit" ? `limit ${event.reason}` : `${event.kind} ${event.by}`;

async function trail(fixture: TestDomain, urlToken: string, page = 1): Promise<string[]> {
  return (await fixture.domain.pushes.trail(urlToken, owner, page))?.events.map(summarize) ?? [];
}

async function whole(fixture: TestDomain, urlToken: string): Promise<TrailEvent[]> {
  const events: TrailEvent[] = [];
  const trail = await fixture.domain.pushes.wholeTrail(urlToken, owner);
  if (trail !== undefined) for await (const event of trail.events) events.push(event);
  return events;
}

test("the trail shows who did what, and that the last view ended the push", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 2 }, owner);
  for (const actor of [stranger, owner, signedIn(9, true), signedIn(8), stranger]) await view(fixture, urlToken, actor);
  const newestFirst = [
    "failed_view holder",
    "limit views",
    "view holder",
    "admin_view administrator",
    "owner_view owner",
    "view holder",
    "creation owner",
  ];
  expect(await trail(fixture, urlToken)).toEqual(newestFirst);
  expect((await whole(fixture, urlToken)).map(summarize)).toEqual(newestFirst.toReversed());
});

test("administrators are the owners of their own pushes", async () => {
  await using fixture = await openTestDomain();
  const administrator = signedIn(7, true);
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x" }, administrator);
  await view(fixture, urlToken, administrator);
  expect(await trail(fixture, urlToken)).toEqual(["admin_view owner", "creation owner"]);
});

test("the end is listed before a refusal of the same millisecond", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 1 }, owner);
  for (let opened = 0; opened < 3; opened += 1) await pushes.claimView(urlToken, countEveryone, stranger);
  const newestFirst = ["failed_view holder", "failed_view holder", "limit views", "view holder", "creation owner"];
  expect(await trail(fixture, urlToken)).toEqual(newestFirst);
  expect((await whole(fixture, urlToken)).map(summarize)).toEqual(newestFirst.toReversed());
});

test("an expiry by time is listed from that moment, swept or not", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterDays: 1 }, owner);
  fixture.clock.advance(dayMs - 1);
  expect(await trail(fixture, urlToken)).toEqual(["creation owner"]);
  fixture.clock.advance(1);
  expect(await trail(fixture, urlToken)).toEqual(["limit time", "creation owner"]);
  await view(fixture, urlToken);
  expect(await trail(fixture, urlToken)).toEqual(["failed_view holder", "limit time", "creation owner"]);
});

test("an end by a person is listed once", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  for (const [actor, by] of [
    [owner, "owner"],
    [stranger, "holder"],
  ] as const) {
    const { urlToken } = await pushes.create({ payload: "x", deletableByViewer: true }, owner);
    fixture.clock.advance(1);
    await pushes.expire(urlToken, actor);
    expect(await trail(fixture, urlToken)).toEqual([`expire ${by}`, "creation owner"]);
  }
});

test.each([0, 1, 48, 49, 50, 51, 99, 100, 120])(
  "pages neither omit nor repeat entries with %i refusals after the end",
  async (refusals) => {
    await using fixture = await openTestDomain();
    const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 10 }, owner);
    for (let made = 0; made < 10 + refusals; made += 1) await view(fixture, urlToken);
    const pages: string[] = [];
    for (let page = 1; ; page += 1) {
      const read = await fixture.domain.pushes.trail(urlToken, owner, page);
      pages.push(...(read?.events.map(summarize) ?? []));
      if (read?.hasMore !== true) break;
      expect(read.events).toHaveLength(50);
    }
    const expected = [
      ...Array<string>(refusals).fill("failed_view holder"),
      "limit views",
      ...Array<string>(10).fill("view holder"),
      "creation owner",
    ];
    expect(pages).toEqual(expected);
  },
);

test("the whole trail is exported across batches, with counted entries last", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x" }, owner);
  await fixture.domain.pushes.expire(urlToken, owner);
  for (let made = 0; made < auditEntriesMax + 10; made += 1) await view(fixture, urlToken);
  const events = await whole(fixture, urlToken);
  expect(events).toHaveLength(auditEntriesMax + 1);
  expect(events.at(-1)).toMatchObject({ kind: "failed_view", times: 12 });
  expect(events.slice(0, 2).map(summarize)).toEqual(["creation owner", "expire owner"]);
  const times = events.slice(0, -1).map((event) => event.createdAt);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test("other users get the same answer as for a push that never existed", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x" }, owner);
  const anonymous = await pushes.create({ payload: "x" }, stranger);
  for (const actor of [stranger, signedIn(8), signedIn(9, true)]) {
    for (const token of [urlToken, anonymous.urlToken, "nosuchtoken"]) {
      expect(await pushes.trail(token, actor, 1)).toBeUndefined();
      expect(await pushes.wholeTrail(token, actor)).toBeUndefined();
    }
  }
});
