import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { sql } from "../../src/database/statement.ts";
import { createDomainDestination, type IncomingPush } from "../../src/import/domain-destination.ts";
import { noRelated } from "../../src/import/source-values.ts";
import { importedOptions } from "../../src/pushes/push-options.ts";
import { expectExactViews } from "../support/concurrent-claims.ts";
import { countEveryone, makeDataDir, openTestDomain, signedIn, stranger, type TestDomain } from "../support/domain.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { openTestDatabase } from "../support/postgres/open-database.ts";

const isolations = ["read committed", "repeatable read", "serializable"] as const;
type Isolation = (typeof isolations)[number];

/** A database with this default isolation level. */
async function makeDatabase(isolation: Isolation): Promise<string> {
  const { url } = await makePostgresDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const name = new URL(url).pathname.slice(1);
  await client.query(`ALTER DATABASE ${name} SET default_transaction_isolation TO '${isolation}'`);
  await client.end();
  return url;
}

async function openTwoDomains(url: string): Promise<readonly [TestDomain, TestDomain]> {
  const environment = { DATABASE_URL: url };
  const dataDir = makeDataDir();
  const open = async () => {
    const fixture = await openTestDomain({ dataDir, environment });
    onTestFinished(() => fixture[Symbol.asyncDispose]());
    return fixture;
  };
  return [await open(), await open()];
}

const incomingPush = (sourceId: number, now: number): IncomingPush => ({
  sourceId,
  missingParts: [],
  related: noRelated,
  push: {
    urlToken: `an-imported-link-${sourceId}`,
    kind: "text",
    ownerId: 7,
    name: "n",
    note: "",
    open: { payload: "x", passphrase: "", files: [] },
    end: null,
    expireAfterDays: 7,
    expireAfterViews: 2,
    views: 0,
    refusals: 0,
    ...importedOptions({ deletableByViewer: true, retrievalStep: false }),
    createdAt: now,
    updatedAt: now,
    trail: [],
  },
});

/** A claim waits for a transaction that changes its push, and succeeds once that one has committed. */
async function expectRetriedClaim({ domain }: TestDomain, url: string): Promise<void> {
  const { urlToken } = await domain.pushes.create({ payload: "x", expireAfterViews: 1 }, stranger);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("BEGIN");
    await client.query("UPDATE pushes SET views = views");
    const claimed = domain.pushes.claimView(urlToken, countEveryone, stranger);
    const waiting = "SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid";
    await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1);
    await client.query("COMMIT");
    expect(await claimed).toMatchObject({ outcome: "revealed", payload: "x" });
  } finally {
    await client.end();
  }
}

const conflictsOf = (fixtures: readonly TestDomain[]) =>
  fixtures.reduce((sum, { domain }) => sum + domain.db.counts.conflicts, 0);

describe.each(isolations)("when the server's transactions are %s", (isolation) => {
  it("what a serialized transaction has read still holds when it writes", async () => {
    const url = await makeDatabase(isolation);
    const dbs = [(await openTestDatabase(url)).db, (await openTestDatabase(url)).db];
    const read = sql<[], { highest: number | null }>("SELECT max(deleted_at) AS highest FROM deleted_users");
    const write = sql<[id: number, at: number]>("INSERT INTO deleted_users (user_id, deleted_at) VALUES (?, ?)");
    const units = Array.from({ length: 30 }, (_, id) =>
      dbs[id % 2]?.writeSerialized("accounts", async (tx) => {
        const next = ((await tx.one(read))?.highest ?? 0) + 1;
        await tx.run(write, id, next);
        return next;
      }),
    );
    const numbers = (await Promise.all(units)).map((number) => number ?? 0);
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
  });

  it("a push is retrieved exactly as often as allowed, and conflicting claims are retried to success", async () => {
    const url = await makeDatabase(isolation);
    const fixtures = await openTwoDomains(url);
    for (const [owner, views] of [
      [stranger, 1],
      [signedIn(7), 3],
      [stranger, 5],
    ] as const) {
      await expectExactViews(fixtures, owner, views);
    }
    await expectRetriedClaim(fixtures[0], url);
    const conflicts = conflictsOf(fixtures);
    if (isolation === "read committed") expect(conflicts).toBe(0);
    else expect(conflicts).toBeGreaterThan(0);
  });

  it("concurrent imports of different pushes conflict at most for the first ids", async () => {
    const fixtures = await openTwoDomains(await makeDatabase(isolation));
    const destinations = fixtures.map(({ domain, effects }) =>
      createDomainDestination(domain, effects, "another server"),
    );
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        destinations[at % 2]?.importPush(incomingPush(at, fixtures[0].clock.now())),
      ),
    );
    for (const imported of outcomes) expect(imported).toMatchObject({ outcome: "imported" });
    expect(conflictsOf(fixtures)).toBeLessThan(5);
  });

  it("concurrent edits, deletions and views of one push are all applied", async () => {
    const fixtures = await openTwoDomains(await makeDatabase(isolation));
    const owner = signedIn(7);
    const { urlToken } = await fixtures[0].domain.pushes.create({ payload: "first", expireAfterViews: 20 }, owner);
    const works = Array.from({ length: 30 }, (_, at) => {
      const { pushes } = fixtures[at % 2 === 0 ? 0 : 1].domain;
      return at % 3 === 0
        ? pushes.edit(urlToken, { note: `note ${at}` }, owner).then(({ outcome }) => outcome)
        : pushes.claimView(urlToken, countEveryone, stranger).then(({ outcome }) => outcome);
    });
    const outcomes = await Promise.all(works);
    expect(outcomes.filter((outcome) => outcome === "revealed")).toHaveLength(20);
    const trail = await fixtures[1].domain.pushes.audit(urlToken, owner, 1);
    const kinds = trail.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "view")).toHaveLength(20);
    expect(kinds.filter((kind) => kind === "edit")).toHaveLength(outcomes.filter((o) => o === "edited").length);
  });

  it("concurrent sign-ups for one address, and administrators removing each other, keep the invariants", async () => {
    const fixtures = await openTwoDomains(await makeDatabase(isolation));
    const password = "a long enough password";
    const made = await Promise.allSettled(
      Array.from({ length: 6 }, (_, at) =>
        fixtures[at % 2 === 0 ? 0 : 1].domain.accounts.createUser({ email: "ada@example.com", password, admin: true }),
      ),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const other = await fixtures[0].domain.accounts.createUser({ email: "bob@example.com", password, admin: true });
    const first = await fixtures[0].domain.accounts.findUserByEmail("ada@example.com");
    const removed = await Promise.all([
      fixtures[0].domain.deleteAccount(other.id, null),
      fixtures[1].domain.deleteAccount(first?.id ?? 0, null),
    ]);
    expect(removed.map(({ outcome }) => outcome).sort()).toEqual(["done", "last_admin"]);
  });

  it("two sweepers end and delete each push once", async () => {
    const fixtures = await openTwoDomains(await makeDatabase(isolation));
    const { clock, domain } = fixtures[0];
    for (let at = 0; at < 60; at += 1) await domain.pushes.create({ payload: "x", expireAfterDays: 1 }, stranger);
    const now = clock.now() + 2 * 24 * 60 * 60 * 1_000;
    const ended = await Promise.all(
      [0, 1, 2, 3].map((at) => fixtures[at % 2 === 0 ? 0 : 1].domain.store.upkeep.endDue(now, 20, 0)),
    );
    expect(ended.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(60);
    while ((await domain.store.upkeep.endDue(now, 20, 0)) > 0);
    const removed = await Promise.all(
      [0, 1, 2, 3].map((at) => fixtures[at % 2 === 0 ? 0 : 1].domain.store.upkeep.removeTombstones(now, 60)),
    );
    let sum = removed.reduce((all, count) => all + count, 0);
    for (let more = 1; more > 0; sum += more) more = await domain.store.upkeep.removeTombstones(now, 60);
    expect(sum).toBe(60);
  });
});
