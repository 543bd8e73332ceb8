import { expect, onTestFinished, test } from "vitest";
import { OutcomeUnknownError } from "../../src/database/database.ts";
import type { Actor } from "../../src/pushes/pushes.ts";
import { countEveryone, makeDataDir, openTestDomain, signedIn, stranger, type TestDomain } from "../support/domain.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { claimFiles, makeFile, pushFiles, readDownload } from "../support/files.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

interface Fixture {
  readonly proxy: TcpProxy;
  /** Connected through the proxy. */
  readonly far: TestDomain;
  /** On the same database, without the proxy. */
  readonly near: TestDomain;
}

async function openBoth(): Promise<Fixture> {
  const { url } = await makePostgresDatabase();
  const proxy = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
  const dataDir = makeDataDir();
  const near = await openTestDomain({ dataDir, environment: { DATABASE_URL: url } });
  const far = await openTestDomain({ dataDir, environment: { DATABASE_URL: proxy.url(url) } });
  onTestFinished(async () => {
    await far[Symbol.asyncDispose]();
    await near[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  return { proxy, far, near };
}

/** The next matching statement is executed, and its answer is lost. */
function loseNext(proxy: TcpProxy, statement: RegExp): void {
  let isDone = false;
  proxy.intercept((text) => {
    if (isDone || !statement.test(text)) return "pass";
    isDone = true;
    return "lose answer";
  });
}

const claims = /UPDATE pushes SET views/;
/** The statement that looks up whether a claim was committed. */
const looksItUp = /^SELECT .*[(]last_claim_id = /s;
const inserts = /INSERT INTO pushes/;
const claim = ({ domain }: TestDomain, urlToken: string) => domain.pushes.claimView(urlToken, countEveryone, stranger);
const viewsIn = async ({ domain }: TestDomain) => (await readRows(domain.db, "SELECT views FROM pushes")).at(0)?.views;

test.each([
  ["anonymous", stranger, 1],
  ["anonymous", stranger, 2],
  ["owned", signedIn(7), 1],
  ["owned", signedIn(7), 2],
] as const)(
  "a counted view of an %s push whose database answer was lost is still delivered, once",
  async (_, owner, views) => {
    const { proxy, far, near } = await openBoth();
    const { urlToken } = await near.domain.pushes.create({ payload: "x", expireAfterViews: views }, owner);
    loseNext(proxy, claims);
    expect(await claim(far, urlToken)).toMatchObject({ outcome: "revealed", payload: "x" });
    expect(proxy.lost.answers).toBe(1);
    expect(await viewsIn(near)).toBe(1);
    for (let left = views - 1; left > 0; left -= 1) {
      expect(await claim(near, urlToken)).toMatchObject({ outcome: "revealed" });
    }
    expect(await claim(far, urlToken)).toMatchObject({ outcome: "gone" });
  },
);

test.each([
  ["anonymous", stranger, "unknown"],
  ["owned", signedIn(7), "revealed"],
] as const)(
  'a client that may have used a view of an %s push never gets "gone" when another client takes the last view',
  async (_, owner, expected) => {
    const { proxy, far, near } = await openBoth();
    const { urlToken } = await near.domain.pushes.create({ payload: "x", expireAfterViews: 2 }, owner);
    let isBack = false;
    proxy.intercept((statement) => {
      if (claims.test(statement)) return proxy.lost.answers === 0 ? "lose answer" : "pass";
      return isBack || !looksItUp.test(statement) ? "pass" : "lose request";
    });
    const claiming = claim(far, urlToken).then(
      ({ outcome }) => outcome,
      (error: unknown) => (error instanceof OutcomeUnknownError ? "unknown" : error),
    );
    await expect.poll(() => proxy.lost.requests).toBeGreaterThan(0);
    expect(await claim(near, urlToken)).toMatchObject({ outcome: "revealed" });
    expect(await claim(near, urlToken)).toMatchObject({ outcome: "gone" });
    isBack = true;
    expect(await claiming).toBe(expected);
    expect(await viewsIn(near)).toBe(2);
  },
);

test.each(["lose answer", "lose request"] as const)(
  "views that shared a commit hit by '%s' are delivered and counted once each",
  async (verdict) => {
    const { proxy, far, near } = await openBoth();
    const make = (views: number) => near.domain.pushes.create({ payload: "x", expireAfterViews: views }, stranger);
    const pushes = await Promise.all([1, 1, 1, 2, 2, 2].map(make));
    let lost = 0;
    proxy.intercept((statement) => {
      if (statement !== "COMMIT" || lost > 0) return "pass";
      lost += 1;
      return verdict;
    });
    const outcomes = await Promise.all(pushes.map(({ urlToken }) => claim(far, urlToken)));
    expect(lost).toBe(1);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(pushes.map(() => "revealed"));
    expect(await readRows(near.domain.db, "SELECT DISTINCT views FROM pushes")).toEqual([{ views: 1 }]);
  },
);

test.each(["lose answer", "lose request"] as const)(
  "a view of a push with files hit by '%s' is counted once, and its tickets work",
  async (verdict) => {
    const { proxy, far, near } = await openBoth();
    const { urlToken } = await pushFiles(near.domain.pushes, signedIn(7), [makeFile("plan", "the plan")], {
      expireAfterViews: 1,
    });
    let hasClaimed = false;
    let lost = 0;
    proxy.intercept((statement) => {
      hasClaimed ||= claims.test(statement);
      if (!hasClaimed || statement !== "COMMIT" || lost > 0) return "pass";
      lost += 1;
      return verdict;
    });
    const [file] = await claimFiles(far.domain.pushes, urlToken, stranger);
    expect(lost).toBe(1);
    expect(await viewsIn(near)).toBe(1);
    const download = await near.domain.pushes.openTicket(file?.ticket ?? "", stranger);
    expect(download && (await readDownload(download)).toString()).toBe("the plan");
  },
);

const key = "a-random-key-of-the-client";

test.each(["lose answer", "lose request"] as const)(
  "a view under an idempotency key hit by '%s' is counted once, and the key gets the secret again",
  async (verdict) => {
    const { proxy, far, near } = await openBoth();
    const { urlToken } = await near.domain.pushes.create({ payload: "x", expireAfterViews: 2 }, stranger);
    const claimWith = ({ domain }: TestDomain, idempotencyKey: string) =>
      domain.pushes.claimView(urlToken, { ...countEveryone, idempotencyKey }, stranger);
    let hasClaimed = false;
    let lost = 0;
    proxy.intercept((statement) => {
      hasClaimed ||= claims.test(statement);
      if (!hasClaimed || statement !== "COMMIT" || lost > 0) return "pass";
      lost += 1;
      return verdict;
    });
    const first = await claimWith(far, key).catch((error: unknown) => error);
    expect(lost).toBe(1);
    expect(first instanceof OutcomeUnknownError || (first as { outcome: string }).outcome === "revealed").toBe(true);
    for (const domain of [far, near]) {
      expect(await claimWith(domain, key)).toMatchObject({ outcome: "revealed", payload: "x" });
    }
    expect(await viewsIn(near)).toBe(1);
    expect(await claimWith(near, "a-random-key-of-another")).toMatchObject({ outcome: "revealed", repeated: false });
    expect(await claimWith(near, "a-random-key-of-a-third")).toMatchObject({ outcome: "gone" });
  },
);

test.each(["lose answer", "lose request"] as const)(
  "a push created under an idempotency key and hit by '%s' exists once, and the key gets it again",
  async (verdict) => {
    const { proxy, far, near } = await openBoth();
    const create = ({ domain }: TestDomain) => domain.pushes.create({ payload: "x", idempotencyKey: key }, signedIn(7));
    let hasInserted = false;
    let lost = 0;
    proxy.intercept((statement) => {
      hasInserted ||= inserts.test(statement);
      if (!hasInserted || statement !== "COMMIT" || lost > 0) return "pass";
      lost += 1;
      return verdict;
    });
    const first = await create(far).catch((error: unknown) => error);
    expect(lost).toBe(1);
    const { urlToken } = await create(near);
    const known = first instanceof OutcomeUnknownError ? urlToken : (first as { urlToken: string }).urlToken;
    expect(urlToken).toBe(known);
    expect((await create(far)).urlToken).toBe(urlToken);
    expect(await readRows(near.domain.db, "SELECT count(*) AS pushes FROM pushes")).toEqual([{ pushes: 1 }]);
  },
);

test("a claim that never reached the database is retried and counted once", async () => {
  const { proxy, far, near } = await openBoth();
  const { urlToken } = await near.domain.pushes.create({ payload: "x", expireAfterViews: 3 }, stranger);
  let lost = 0;
  proxy.intercept((statement) => {
    if (!claims.test(statement) || lost === 2) return "pass";
    lost += 1;
    return "lose request";
  });
  expect(await claim(far, urlToken)).toMatchObject({ outcome: "revealed" });
  expect(lost).toBe(2);
  expect(await viewsIn(near)).toBe(1);
});

test("a claim is repeated until the database answers, not only a few times", async () => {
  const { proxy, far, near } = await openBoth();
  const { urlToken } = await near.domain.pushes.create({ payload: "x", expireAfterViews: 1 }, stranger);
  let lost = 0;
  proxy.intercept((statement) => {
    if (!claims.test(statement) || lost === 6) return "pass";
    lost += 1;
    return "lose request";
  });
  expect(await claim(far, urlToken)).toMatchObject({ outcome: "revealed", payload: "x" });
  expect(lost).toBe(6);
  expect(await viewsIn(near)).toBe(1);
});

/** The first claim of the far domain arrives when `deliverLate` is called; its repetition arrives at once. */
async function claimLate({ proxy, far, near }: Fixture, views: number, owner: Actor | null = null): Promise<string> {
  const { urlToken } = await near.domain.pushes.create({ payload: "x", expireAfterViews: views }, owner ?? stranger);
  // Then another statement counts the view.
  if (owner !== null) await changeRows(near.domain.db, "UPDATE pushes SET notify_on_view = 1");
  proxy.intercept((statement) => (claims.test(statement) && proxy.lateCount === 0 ? "deliver late" : "pass"));
  expect(await claim(far, urlToken)).toMatchObject({ outcome: "revealed" });
  expect([proxy.lateCount, await viewsIn(near)]).toEqual([1, 1]);
  return urlToken;
}

test.each([
  ["anonymous", null],
  ["owned", signedIn(7)],
])("a claim of an %s push that arrives after its repetition counts nothing", async (_, owner) => {
  const fixture = await openBoth();
  // More than two: the last view has another guard.
  const urlToken = await claimLate(fixture, 3, owner);
  await fixture.proxy.deliverLate();
  expect(await viewsIn(fixture.near)).toBe(1);
  expect(await claim(fixture.near, urlToken)).toMatchObject({ outcome: "revealed" });
});

test("the known gap of decision 0030: a claim that arrives after its repetition and after another claim counts one view too many, and reveals nothing", async () => {
  const fixture = await openBoth();
  const urlToken = await claimLate(fixture, 4);
  expect(await claim(fixture.near, urlToken)).toMatchObject({ outcome: "revealed" });
  await fixture.proxy.deliverLate();
  // No request was refused, and two were answered, but three of the four views are used.
  expect(await viewsIn(fixture.near)).toBe(3);
  expect(await claim(fixture.near, urlToken)).toMatchObject({ outcome: "revealed" });
  expect(await claim(fixture.near, urlToken)).toMatchObject({ outcome: "gone" });
});

test("a push whose database answer was lost exists once, under the link that is returned", async () => {
  const { proxy, far, near } = await openBoth();
  loseNext(proxy, inserts);
  const { urlToken } = await far.domain.pushes.create({ payload: "x", expireAfterViews: 1 }, signedIn(7));
  expect(proxy.lost.answers).toBe(1);
  expect(await readRows(near.domain.db, "SELECT count(*) AS pushes FROM pushes")).toEqual([{ pushes: 1 }]);
  expect(await claim(near, urlToken)).toMatchObject({ outcome: "revealed", payload: "x" });
});

test("an account whose commit or its answer was lost exists once or not at all", async () => {
  const { proxy, far, near } = await openBoth();
  const makeUser = (email: string) =>
    far.domain.accounts.createUser({ email, password: "a long enough password", admin: false });
  proxy.intercept((statement) => (statement === "COMMIT" ? "lose answer" : "pass"));
  await expect(makeUser("ada@example.com")).rejects.toBeInstanceOf(OutcomeUnknownError);
  proxy.intercept((statement) => (statement === "COMMIT" ? "lose request" : "pass"));
  await expect(makeUser("bob@example.com")).rejects.toBeInstanceOf(OutcomeUnknownError);
  expect(await readRows(near.domain.db, "SELECT email FROM users")).toEqual([{ email: "ada@example.com" }]);
});
