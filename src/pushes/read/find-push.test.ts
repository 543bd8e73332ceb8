import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { dayMs } from "../../base/clock.ts";

const owner = signedIn(7);

async function makeMany(fixture: TestDomain, count: number, expireAfterDays: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let made = 0; made < count; made += 1) {
    fixture.clock.advance(1);
    tokens.push((await fixture.domain.pushes.create({ payload: "x", expireAfterDays }, owner)).urlToken);
  }
  return tokens;
}

async function listed(fixture: TestDomain, state: "active" | "expired", page = 1): Promise<(string | null)[]> {
  return [...(await fixture.domain.pushes.list(7, state, page))].map((push) => push.urlToken);
}

test("a list contains only the owner's pushes, newest first, 50 per page", async () => {
  await using fixture = await openTestDomain();
  const tokens = (await makeMany(fixture, 120, 7)).reverse();
  await fixture.domain.pushes.create({ payload: "x" }, signedIn(8));
  await fixture.domain.pushes.create({ payload: "x" }, stranger);
  expect(await listed(fixture, "active", 1)).toEqual(tokens.slice(0, 50));
  expect(await listed(fixture, "active", 2)).toEqual(tokens.slice(50, 100));
  expect(await listed(fixture, "active", 3)).toEqual(tokens.slice(100));
  expect(await listed(fixture, "active", 4)).toEqual([]);
  expect(await listed(fixture, "expired")).toEqual([]);
});

test("the lists are split by the current state, swept or not", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const [short = ""] = await makeMany(fixture, 1, 1);
  const [viewed = "", deleted = "", alive = ""] = await makeMany(fixture, 3, 7);
  await pushes.expire(deleted, owner);
  for (let view = 0; view < 5; view += 1) await pushes.claimView(viewed, countEveryone, stranger);
  expect([await listed(fixture, "active"), await listed(fixture, "expired")]).toEqual([
    [alive, short],
    [deleted, viewed],
  ]);
  fixture.clock.advance(dayMs);
  expect([await listed(fixture, "active"), await listed(fixture, "expired")]).toEqual([
    [alive],
    [deleted, viewed, short],
  ]);
  const [, , swept] = await pushes.list(7, "expired", 1);
  expect(swept).toMatchObject({ urlToken: short, expired: true, deleted: false });
});

test("the audit trail is listed for the owner, oldest first, 50 per page", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 60 }, owner);
  for (let view = 0; view < 60; view += 1) {
    fixture.clock.advance(1_000);
    await pushes.claimView(urlToken, countEveryone, { ...stranger, userAgent: `agent ${view}` });
  }
  const first = await pushes.audit(urlToken, owner, 1);
  const second = await pushes.audit(urlToken, owner, 2);
  expect(first.map((entry) => entry.kind)).toEqual(["creation", ...Array(49).fill("view")]);
  expect(second.map((entry) => entry.userAgent)).toEqual(Array.from({ length: 11 }, (_, at) => `agent ${49 + at}`));
  expect(second.at(-1)).toEqual({
    kind: "view",
    address: stranger.address,
    userAgent: "agent 59",
    referrer: "",
    createdAt: fixture.clock.now(),
    updatedAt: fixture.clock.now(),
    times: 1,
  });
  await expect(pushes.audit(urlToken, stranger, 1)).rejects.toMatchObject({ code: "not_authenticated" });
  await expect(pushes.audit(urlToken, signedIn(9, true), 1)).rejects.toMatchObject({ code: "forbidden" });
  await expect(pushes.audit("nosuchtoken", owner, 1)).rejects.toMatchObject({ code: "not_found" });
});

test("finding a push counts and writes nothing, and shows labels only to the owner", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x", name: "VPN", note: "for Jo", passphrase: "p" }, owner);
  const { transactions } = db.counts;
  expect(await pushes.find(urlToken, owner)).toMatchObject({ name: "VPN", note: "for Jo", passphraseRequired: true });
  for (const actor of [stranger, signedIn(8), signedIn(9, true)]) {
    expect(await pushes.find(urlToken, actor)).toMatchObject({ name: null, note: null, viewsRemaining: 5 });
  }
  expect(await pushes.find("nosuchtoken", owner)).toBeUndefined();
  expect(await pushes.find(urlToken.toUpperCase(), owner)).toBeUndefined();
  expect(db.counts.transactions).toBe(transactions);
});
