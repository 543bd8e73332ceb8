import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { dayMs } from "../../base/clock.ts";
import type { CreatePush, PushSearch } from "../push.ts";
import { foldCase, type SearchLimits, searchLimits, searchOperations } from "./search.ts";

const owner = signedIn(7);
const everything: PushSearch = { state: "all", kind: null, order: "newest", text: "", page: 1 };

async function make(fixture: TestDomain, fields: CreatePush, actor = owner): Promise<string> {
  fixture.clock.advance(1);
  return (await fixture.domain.pushes.create({ payload: "x", ...fields }, actor)).urlToken;
}

async function makeNamed(fixture: TestDomain, count: number, name: (at: number) => string): Promise<void> {
  for (let at = 0; at < count; at += 1) await make(fixture, { name: name(at) });
}

async function found(fixture: TestDomain, search: Partial<PushSearch>): Promise<(string | null)[]> {
  const { pushes } = await fixture.domain.pushes.search(7, { ...everything, ...search });
  return pushes.map((push) => push.name);
}

function searchWith(fixture: TestDomain, limits: Partial<SearchLimits>) {
  return searchOperations(pushDepsOf(fixture), { ...searchLimits, ...limits }).search;
}

test("a search matches names and notes in any case, and only the owner's pushes", async () => {
  await using fixture = await openTestDomain();
  await make(fixture, { name: "VPN Zürich", note: "for Jo" });
  await make(fixture, { name: "Database", note: "STRASSE 5, ＡＢＣ" });
  await make(fixture, {});
  await make(fixture, { name: "VPN of somebody else" }, signedIn(8));
  expect(await found(fixture, { text: "vpn zÜR" })).toEqual(["VPN Zürich"]);
  expect(await found(fixture, { text: "JO" })).toEqual(["VPN Zürich"]);
  expect(await found(fixture, { text: "straße" })).toEqual(["Database"]);
  expect(await found(fixture, { text: "abc" })).toEqual(["Database"]);
  expect(await found(fixture, { text: "somebody" })).toEqual([]);
  expect(await found(fixture, { text: "%" })).toEqual([]);
  expect(await found(fixture, {})).toEqual([null, "Database", "VPN Zürich"]);
});

test("a search passes over a name that was sealed in a browser, and says that it met one", async () => {
  await using fixture = await openTestDomain();
  await make(fixture, { name: "age" });
  expect(await fixture.domain.pushes.search(7, { ...everything, text: "age" })).toMatchObject({
    metSealedLabel: false,
  });
  await make(fixture, { name: "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----" });
  const { pushes, metSealedLabel } = await fixture.domain.pushes.search(7, { ...everything, text: "age" });
  expect(pushes.map(({ name }) => name)).toEqual(["age"]);
  expect(metSealedLabel).toBe(true);
});

test("case folding does not depend on the server's locale", () => {
  for (const [one, other] of [
    ["ΟΔΟΣ", "οδος"],
    ["ﬁle", "FILE"],
    ["é", "e\u0301"],
    ["TITLE", "title"],
  ]) {
    expect(foldCase(one ?? "")).toBe(foldCase(other ?? ""));
  }
});

test("lists are filtered by current state and by kind", async () => {
  await using fixture = await openTestDomain();
  await make(fixture, { name: "short", expireAfterDays: 1 });
  const ended = await make(fixture, { name: "ended" });
  await make(fixture, { name: "address", kind: "url", payload: "https://example.com" });
  const viewed = await make(fixture, { name: "viewed", expireAfterViews: 1 });
  await fixture.domain.pushes.expire(ended, owner);
  await fixture.domain.pushes.claimView(viewed, countEveryone, stranger);
  fixture.clock.advance(dayMs);
  for (const text of ["", "E", "d"]) {
    const states = { active: ["address"], expired: ["viewed", "ended"], all: ["viewed", "address", "ended"] };
    const expected =
      text === "" ? { ...states, expired: [...states.expired, "short"], all: [...states.all, "short"] } : states;
    for (const state of ["active", "expired", "all"] as const) {
      expect([state, text, await found(fixture, { state, text })]).toEqual([state, text, expected[state]]);
    }
    expect(await found(fixture, { kind: "url", text })).toEqual(["address"]);
    expect(await found(fixture, { kind: "url", state: "expired", text })).toEqual([]);
  }
  const { pushes } = await fixture.domain.pushes.search(7, { ...everything, state: "expired" });
  expect(pushes.map(({ endReason, views }) => [endReason, views])).toEqual([
    ["views", 1],
    ["owner", 0],
    ["time", 0],
  ]);
});

test.each(["newest", "oldest", "soonest", "latest"] as const)(
  "a push is among the active ones until the millisecond of its end: %s",
  async (order) => {
    await using fixture = await openTestDomain();
    await make(fixture, { name: "short", expireAfterDays: 1 });
    for (const [ms, active, expired] of [
      [dayMs - 1, ["short"], []],
      [1, [], ["short"]],
    ] as const) {
      fixture.clock.advance(ms);
      for (const text of ["", "short"]) {
        expect(await found(fixture, { order, text, state: "active" })).toEqual(active);
        expect(await found(fixture, { order, text, state: "expired" })).toEqual(expired);
      }
    }
  },
);

test("lists and searches are sorted by creation and by end, in both directions", async () => {
  await using fixture = await openTestDomain();
  for (const [name, expireAfterDays] of [
    ["a", 3],
    ["b", 1],
    ["c", 2],
    ["d", 5],
    ["e", 3],
  ] as const)
    await make(fixture, { name, expireAfterDays });
  const owned = async (name: string) =>
    (await fixture.domain.pushes.search(7, { ...everything, text: name })).pushes[0]?.urlToken ?? "";
  await fixture.domain.pushes.expire(await owned("d"), owner);
  fixture.clock.advance(dayMs + 1_000);
  const sorted = {
    newest: { all: "edcba", active: "eca", expired: "db" },
    oldest: { all: "abcde", active: "ace", expired: "bd" },
    soonest: { all: "dbcae", active: "cae", expired: "db" },
    latest: { all: "eacbd", active: "eac", expired: "bd" },
  };
  for (const order of ["newest", "oldest", "soonest", "latest"] as const) {
    for (const state of ["all", "active", "expired"] as const) {
      expect([order, state, (await found(fixture, { order, state })).join("")]).toEqual([
        order,
        state,
        sorted[order][state],
      ]);
    }
  }
});

test("a search continues after each slice in every order", async () => {
  await using fixture = await openTestDomain();
  for (let at = 0; at < 30; at += 1) await make(fixture, { name: `push ${at}`, expireAfterDays: 1 + (at % 7) });
  fixture.clock.advance(3 * dayMs);
  const search = searchWith(fixture, { turnRowsMax: 4 });
  for (const order of ["newest", "oldest", "soonest", "latest"] as const) {
    const listed = await found(fixture, { order });
    const { pushes } = await search(7, { ...everything, order, text: "push" });
    expect(pushes.map(({ name }) => name)).toEqual(listed);
    expect(new Set(listed).size).toBe(30);
    for (const state of ["active", "expired"] as const) {
      const some = await search(7, { ...everything, order, state, text: "push" });
      expect([order, state, some.pushes.map(({ name }) => name)]).toEqual([
        order,
        state,
        await found(fixture, { order, state }),
      ]);
    }
  }
});

test("each page of a list and of a search starts where the previous one ended", async () => {
  await using fixture = await openTestDomain();
  await makeNamed(fixture, 120, (at) => `push ${at}`);
  const names = Array.from({ length: 120 }, (_, at) => `push ${119 - at}`);
  for (const text of ["", "PUSH"]) {
    expect(await found(fixture, { text })).toEqual(names.slice(0, 50));
    expect(await found(fixture, { text, page: 2 })).toEqual(names.slice(50, 100));
    expect(await found(fixture, { text, page: 3 })).toEqual(names.slice(100));
    expect(await found(fixture, { text, page: 4 })).toEqual([]);
    const more = [1, 2, 3, 4].map((page) => fixture.domain.pushes.search(7, { ...everything, text, page }));
    expect((await Promise.all(more)).map(({ hasMore }) => hasMore)).toEqual([true, true, false, false]);
  }
});

test("a search reads a bounded number of pushes and bytes, reports that it stopped, and lets other requests run in between", async () => {
  await using fixture = await openTestDomain();
  await makeNamed(fixture, 60, (at) => (at === 0 ? "oldest" : `push ${at}`));
  const oldest = { ...everything, text: "oldest" };
  expect(await searchWith(fixture, {})(7, oldest)).toMatchObject({ pushes: [{ name: "oldest" }], stopped: false });
  expect(await searchWith(fixture, { rowsMax: 60 })(7, oldest)).toMatchObject({ stopped: false });
  expect(await searchWith(fixture, { rowsMax: 59 })(7, oldest)).toEqual({
    pushes: [],
    hasMore: false,
    stopped: true,
    metSealedLabel: false,
  });
  expect(await searchWith(fixture, { labelBytesMax: 1_000 })(7, oldest)).toMatchObject({ pushes: [], stopped: true });

  for (const limits of [{ turnRowsMax: 10 }, { turnLabelBytesMax: 450 }]) {
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    expect((await searchWith(fixture, limits)(7, oldest)).pushes).toHaveLength(1);
    clearImmediate(counting);
    expect(turns).toBeGreaterThanOrEqual(6);
  }
});

test("one owner's flood of searches is refused, while another owner's search is answered", async () => {
  await using fixture = await openTestDomain();
  await makeNamed(fixture, 3, (at) => `push ${at}`);
  const search = searchWith(fixture, { perOwnerMax: 2 });
  const text = { ...everything, text: "push" };
  const running = [search(7, text), search(7, text)];
  await expect(search(7, text)).rejects.toMatchObject({ code: "too_many_requests", retryAfterSeconds: 1 });
  expect((await search(8, text)).pushes).toEqual([]);
  for (const { pushes } of await Promise.all(running)) expect(pushes).toHaveLength(3);
  expect((await search(7, text)).pushes).toHaveLength(3);
});
