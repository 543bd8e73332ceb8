import { expect, test } from "vitest";
import type { Actor } from "../../src/pushes/pushes.ts";
import { countEveryone, openTestDomain, stranger, type TestDomain } from "../support/domain.ts";
import { engine } from "../support/engine.ts";
import { readRows } from "../support/engine-database.ts";
import { makeFolder } from "../support/folders.ts";
import { findDamage } from "../support/integrity-checks.ts";
import { keyEnvironment } from "../support/master-keys.ts";
import { roundsOf } from "../support/rounds.ts";
import { soon, spawnOpenDomains } from "../support/spawn-domain.ts";

const racers = 50;
const rounds = roundsOf(30);

const claim = async (fixture: TestDomain, urlToken: string, actor: Actor = stranger) =>
  (await fixture.domain.pushes.claimView(urlToken, countEveryone, actor)).outcome;

const claimMany = (fixture: TestDomain, urlToken: string, times: number) =>
  Promise.all(Array.from({ length: times }, () => claim(fixture, urlToken)));

const revealed = (outcomes: readonly string[]) => outcomes.filter((outcome) => outcome === "revealed").length;

async function viewsOf(fixture: TestDomain, urlToken: string): Promise<number | undefined> {
  const { db, vault } = fixture.domain;
  const query = "SELECT views FROM pushes WHERE id = ?";
  const [row] = await readRows<{ views: number }>(db, query, vault.urlTokens.addressOf(urlToken).pushId);
  return row?.views;
}

test.each([1, 5])(
  "one process: 50 concurrent requests for a push of %i views retrieve it exactly that often",
  async (views) => {
    await using fixture = await openTestDomain();
    for (let round = 0; round < rounds; round += 1) {
      const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: views }, stranger);
      const outcomes = await claimMany(fixture, urlToken, racers);
      expect([round, revealed(outcomes)]).toEqual([round, views]);
      expect(outcomes.filter((outcome) => outcome === "gone")).toHaveLength(racers - views);
      expect(await viewsOf(fixture, urlToken)).toBe(views);
    }
  },
);

// More of them on PostgreSQL: four-processes.postgres.test.ts.
test.each(engine === "postgres" ? [] : [1, 5])(
  "two processes: 50 concurrent requests for a push of %i views retrieve it exactly that often",
  async (views) => {
    const domains = await spawnOpenDomains(2, makeFolder());
    const tokens = await domains[0]?.ask({ do: "create", count: rounds, views });
    expect(tokens).toHaveLength(rounds);
    for (const urlToken of tokens ?? []) {
      const at = soon();
      const asked = domains.map((domain) => domain.ask({ do: "claim", urlToken, times: racers / 2 }, at));
      const outcomes = (await Promise.all(asked)).flat();
      expect(revealed(outcomes)).toBe(views);
      expect(outcomes.filter((outcome) => outcome === "gone")).toHaveLength(racers - views);
    }
  },
);

test("two processes that retrieve repeatedly share the views, and each view is delivered once", async () => {
  const dataDir = makeFolder();
  const domains = await spawnOpenDomains(2, dataDir);
  const [urlToken = ""] = (await domains[0]?.ask({ do: "create", count: 1, views: 100 })) ?? [];
  const at = soon();
  const asked = domains.map((domain) => domain.ask({ do: "claim", urlToken, times: 90, oneByOne: true }, at));
  const outcomes = (await Promise.all(asked)).flat();
  expect(revealed(outcomes)).toBe(100);
  expect(outcomes.filter((outcome) => outcome === "gone")).toHaveLength(80);
});

test("two processes: if there are fewer retrievals than views, all succeed", async () => {
  const dataDir = makeFolder();
  const domains = await spawnOpenDomains(2, dataDir);
  const [urlToken = ""] = (await domains[0]?.ask({ do: "create", count: 1, views: 100 })) ?? [];
  const at = soon();
  const asked = domains.map((domain) => domain.ask({ do: "claim", urlToken, times: 40 }, at));
  expect(revealed((await Promise.all(asked)).flat())).toBe(80);
  await using fixture = await openTestDomain({ dataDir });
  expect(await viewsOf(fixture, urlToken)).toBe(80);
});

test("no retrieval succeeds after an acknowledged deletion, and each one before it is counted", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  let cutShort = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { urlToken } = await pushes.create(
      { payload: "x", expireAfterViews: 100, deletableByViewer: true },
      stranger,
    );
    let acknowledged = false;
    let late = 0;
    const ask = async () => {
      const asksAfter = acknowledged;
      const outcome = await claim(fixture, urlToken);
      if (asksAfter && outcome === "revealed") late += 1;
      return outcome;
    };
    const claims = Array.from({ length: round % 20 }, ask);
    const deletion = pushes.expire(urlToken, stranger).then(() => {
      acknowledged = true;
      return Promise.all(Array.from({ length: 10 }, ask));
    });
    claims.push(...Array.from({ length: 20 }, ask));
    const after = await deletion;
    const before = await Promise.all(claims);
    expect(after).toEqual(Array(10).fill("gone"));
    expect(late).toBe(0);
    expect(await viewsOf(fixture, urlToken)).toBe(revealed(before));
    if (revealed(before) < before.length) cutShort += 1;
  }
  expect(cutShort).toBeGreaterThan(0);
});

test("a concurrent deletion in another process: either the last view or the deletion ends the push, and nothing succeeds after it", async () => {
  const dataDir = makeFolder();
  const [claiming, deleting] = await spawnOpenDomains(2, dataDir);
  if (claiming === undefined || deleting === undefined) throw new Error("There are not two processes.");
  const tokens = await claiming.ask({ do: "create", count: rounds, views: 1 });
  for (const urlToken of tokens) {
    const at = soon();
    const [outcomes, deletion] = await Promise.all([
      claiming.ask({ do: "claim", urlToken, times: 5 }, at),
      deleting.ask({ do: "expire", urlToken }, at),
    ]);
    expect([revealed(outcomes), deletion[0]]).toEqual(revealed(outcomes) === 0 ? [0, "deleted"] : [1, "ended before"]);
    expect(await claiming.ask({ do: "claim", urlToken, times: 3 })).toEqual(["gone", "gone", "gone"]);
  }
});

test("of 50 concurrent wrong passphrases five are checked, and the recipient's correct one is still accepted", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const passphrase = "the right one";
  const { urlToken } = await pushes.create({ payload: "x", passphrase, expireAfterViews: 1 }, stranger);
  const guess = (word: string, client: string) =>
    pushes.claimView(urlToken, { passphrase: word, ...countEveryone }, { ...stranger, client });
  const guesses = Array.from({ length: racers }, (_, at) => guess(`wrong ${at}`, "guesser"));
  const recipients = Array.from({ length: 5 }, () => guess(passphrase, "recipient"));
  const outcomes = (await Promise.all(guesses)).map((one) => one.outcome);
  expect(outcomes.filter((outcome) => outcome === "wrong_passphrase").length).toBeLessThanOrEqual(5);
  expect(outcomes.filter((outcome) => outcome === "too_many_attempts")).toHaveLength(racers - 5);
  expect(revealed((await Promise.all(recipients)).map((one) => one.outcome))).toBe(1);
});

test("ten processes that open the same new folder at once agree on everything", async () => {
  const domains = await spawnOpenDomains(10, makeFolder());
  for (let round = 0; round < 4; round += 1) {
    const dataDir = makeFolder();
    const at = soon();
    await Promise.all(domains.map((domain) => domain.ask({ do: "open", dataDir, environment: {} }, at)));
    const made = await Promise.all(domains.map((domain) => domain.ask({ do: "create", count: 10, views: 1 })));
    const tokens = made.flat();
    expect(new Set(tokens).size).toBe(100);
    await using fixture = await openTestDomain({ dataDir });
    const outcomes = await Promise.all(tokens.map((urlToken) => claim(fixture, urlToken)));
    expect(revealed(outcomes)).toBe(100);
    expect(await findDamage(dataDir)).toEqual([]);
  }
});

test("while another process rotates the keys, every claim succeeds and is counted once", async () => {
  const dataDir = makeFolder();
  const [old] = await spawnOpenDomains(1, dataDir, keyEnvironment("first"));
  const tokens = (await old?.ask({ do: "create", count: 1_000, views: 1 })) ?? [];
  await old?.ask({ do: "close" }).catch(() => undefined);
  const domains = await spawnOpenDomains(2, dataDir, keyEnvironment("second", "first"));
  const [rotating, claiming] = domains;
  if (rotating === undefined || claiming === undefined) throw new Error("There are not two processes.");
  const at = soon();
  const rotation = rotating.ask({ do: "rotate" }, at);
  const asked = tokens.map((urlToken) => claiming.ask({ do: "claim", urlToken, times: 2 }, at));
  for (const outcomes of await Promise.all(asked)) expect([...outcomes].sort()).toEqual(["gone", "revealed"]);
  expect(await rotation).toHaveLength(1);
});
