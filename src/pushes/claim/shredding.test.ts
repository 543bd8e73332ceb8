import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import {
  countEveryone,
  makeDataDir,
  openTestDomain,
  signedIn,
  stranger,
  TestClock,
  type TestDomain,
} from "../../../test/support/domain.ts";
import { engine } from "../../../test/support/engine.ts";
import { readRows, sqliteOf } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile, pushFiles } from "../../../test/support/files.ts";
import { NeedleFinder } from "../../../test/support/raw-files.ts";
import { SeededNumbers } from "../../../test/support/seeded-numbers.ts";
import { storedIn } from "../../../test/support/stored.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { hourMs, minuteMs } from "../../base/clock.ts";

interface Known {
  readonly urlToken: string;
  readonly expiresAt: number;
  readonly ownerId: number | null;
  viewsLeft: number;
  ended: boolean;
}

/** Two domains on one data folder, as in two processes, and the sealed row secrets that were ever stored in it. */
class ShredFixture {
  readonly dataDir = makeDataDir();
  readonly clock = new TestClock();
  readonly numbers = new SeededNumbers(20_260_115);
  readonly known: Known[] = [];
  readonly finder = new NeedleFinder<Known>();
  domains: TestDomain[] = [];

  async open(): Promise<void> {
    const options = { dataDir: this.dataDir, clock: this.clock };
    this.domains = [await openTestDomain(options), await openTestDomain(options)];
  }

  /** One of the two domains. */
  get domain(): TestDomain {
    const fixture = this.numbers.pick(this.domains);
    if (fixture === undefined) throw new Error("The domains are not open.");
    return fixture;
  }

  get live(): Known[] {
    return this.known.filter((push) => !push.ended);
  }

  async create(count: number): Promise<void> {
    const requests = Array.from({ length: count }, () => {
      const ownerId = this.numbers.below(3) === 0 ? 7 : null;
      const views = 1 + this.numbers.below(3);
      const request = { payload: "x".repeat(this.numbers.below(300) + 1), expireAfterViews: views };
      const days = 1 + this.numbers.below(4);
      const actor = ownerId === null ? stranger : signedIn(ownerId);
      const { pushes } = this.domain.domain;
      return pushes.create({ ...request, expireAfterDays: days, deletableByViewer: true }, actor);
    });
    const made = await Promise.all(requests);
    const { db, vault } = this.domain.domain;
    const query = "SELECT pushes.id AS id, sealed FROM row_secrets JOIN pushes ON row_secret_id = row_secrets.id";
    const rows = await readRows<{ id: number; sealed: Buffer }>(db, query);
    const sealed = new Map(rows.map((row) => [row.id, row.sealed]));
    for (const push of made) {
      const { urlToken, expiresAt, ownerId, expireAfterViews } = push;
      const known: Known = { urlToken, expiresAt, ownerId, viewsLeft: expireAfterViews, ended: false };
      this.known.push(known);
      const key = sealed.get(vault.urlTokens.addressOf(urlToken).pushId);
      if (key === undefined) throw new Error("A push has no row secret.");
      // Without the version and the key id, which are the same in all keys.
      this.finder.add(known, key.subarray(5));
    }
  }

  /** Views, refused views and deletions in random order, concurrently and through both domains. */
  async disturb(count: number): Promise<void> {
    const acts = Array.from({ length: count }, async () => {
      const push = this.numbers.pick(this.known.slice(-1_500));
      const { pushes } = this.domain.domain;
      if (push === undefined) return;
      if (this.numbers.below(6) === 0) {
        await pushes.expire(push.urlToken, stranger);
        push.ended = true;
        return;
      }
      const claim = await pushes.claimView(push.urlToken, countEveryone, stranger);
      if (claim.outcome === "revealed") push.viewsLeft -= 1;
      if (claim.outcome === "gone" || claim.outcome === "unknown" || push.viewsLeft === 0) push.ended = true;
    });
    await Promise.all(acts);
  }

  async sweep(): Promise<number> {
    const report = await makeSweeper(this.domain).sweep();
    for (const push of this.known) if (push.expiresAt <= this.clock.now()) push.ended = true;
    return report.keyRowsTrimmed;
  }

  /** SQLite does this by itself shortly after a key is overwritten. */
  truncateLog(): void {
    const { db } = this.domain.domain;
    if (db.engine === "sqlite") while (!sqliteOf(db).truncateLog());
  }

  /** @returns how many ended and how many live pushes have any part of their key in any file or row. */
  async found(): Promise<{ ended: number; live: number }> {
    let ended = 0;
    let live = 0;
    const found = new Set<Known>();
    for (const bytes of (await storedIn(this.dataDir)).values()) {
      for (const push of this.finder.search(bytes)) found.add(push);
    }
    for (const push of found) {
      if (push.ended) ended += 1;
      else live += 1;
    }
    return { ended, live };
  }
}

test("no file or row contains a sealed key of an ended push; those of live pushes are complete", async () => {
  const fixture = new ShredFixture();
  onTestFinished(() => rmSync(fixture.dataDir, { recursive: true, force: true }));
  await fixture.open();
  let trimmed = 0;
  let foundBeforeTruncation = 0;
  for (let round = 0; round < 6; round += 1) {
    for (let step = 0; step < 8; step += 1) {
      await fixture.create(100);
      await fixture.disturb(150);
      if (step % 3 === 0) fixture.clock.advance(3 * hourMs);
      if (step % 4 === 3) trimmed += await fixture.sweep();
    }
    foundBeforeTruncation += (await fixture.found()).ended;
    fixture.truncateLog();
    expect(await fixture.found()).toEqual({ ended: 0, live: fixture.live.length });
    expect(fixture.live.length).toBeGreaterThan(100);
    fixture.clock.advance(15 * hourMs);
  }
  if (engine === "sqlite") {
    // Prove that the search works: recent ends are still in the log unless it was truncated already.
    expect(foundBeforeTruncation).toBeGreaterThan(0);
    expect(trimmed).toBeGreaterThan(500);
  } else {
    // No row outlives its key, so there is nothing to trim.
    expect([foundBeforeTruncation, trimmed]).toEqual([0, 0]);
  }
  for (const { domain } of fixture.domains) await domain.close();
  expect(await fixture.found()).toEqual({ ended: 0, live: fixture.live.length });

  // The live pushes still open.
  await fixture.open();
  const { pushes } = fixture.domain.domain;
  const claims = fixture.live
    .filter((push) => push.expiresAt > fixture.clock.now())
    .map((push) => pushes.claimView(push.urlToken, countEveryone, stranger));
  expect(new Set((await Promise.all(claims)).map((claim) => claim.outcome))).toEqual(new Set(["revealed"]));
  for (const { domain } of fixture.domains) await domain.close();
});

test("no file or row contains a copy for a repeated claim after its minute, a deletion or an edit", async () => {
  const fixture = new ShredFixture();
  onTestFinished(() => rmSync(fixture.dataDir, { recursive: true, force: true }));
  await fixture.open();
  const { db, pushes } = fixture.domain.domain;
  const owner = signedIn(7);
  const made = await Promise.all(
    Array.from({ length: 300 }, (_, at) => pushes.create({ payload: "x", expireAfterViews: 1 + (at % 3) }, owner)),
  );
  const claims = made.map(({ urlToken }) =>
    pushes.claimView(urlToken, { ...countEveryone, idempotencyKey: `key-of-client-${urlToken}` }, stranger),
  );
  expect((await Promise.all(claims)).every((claim) => claim.outcome === "revealed")).toBe(true);
  const copies = await readRows<{ id: number; sealed: Buffer }>(
    db,
    "SELECT row_secrets.id AS id, sealed FROM row_secrets JOIN claim_retries ON row_secret_id = row_secrets.id",
  );
  expect(copies).toHaveLength(made.length);
  const finder = new NeedleFinder<number>();
  for (const { id, sealed } of copies) finder.add(id, sealed.subarray(5));
  const found = async () => {
    const ids = new Set<number>();
    for (const bytes of (await storedIn(fixture.dataDir)).values()) for (const id of finder.search(bytes)) ids.add(id);
    return ids.size;
  };
  expect(await found()).toBe(made.length);
  for (const [at, { urlToken }] of made.entries()) {
    if (at % 5 === 0) await pushes.expire(urlToken, owner);
    if (at % 5 === 1) await pushes.edit(urlToken, { payload: "changed" }, owner);
  }
  fixture.truncateLog();
  expect(await found()).toBeLessThan(made.length);
  fixture.clock.advance(minuteMs);
  await makeSweeper(fixture.domain).removeExpiredRetries();
  fixture.truncateLog();
  expect(await found()).toBe(0);
  for (const { domain } of fixture.domains) await domain.close();
});

test("no file or row contains the sealed key of a download ticket after its time, a deletion or the removal of its file", async () => {
  const fixture = new ShredFixture();
  onTestFinished(() => rmSync(fixture.dataDir, { recursive: true, force: true }));
  await fixture.open();
  const { db, pushes } = fixture.domain.domain;
  const owner = signedIn(7);
  const views = [1, 2, 3];
  const made = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      pushFiles(pushes, owner, [makeFile("a", "a"), makeFile("b", "b")], { expireAfterViews: views[at % 3] ?? 1 }),
    ),
  );
  for (const { urlToken } of made) await claimFiles(pushes, urlToken, stranger);
  const keys = await readRows<{ id: number; sealed: Buffer }>(
    db,
    "SELECT row_secrets.id AS id, sealed FROM row_secrets JOIN download_tickets ON row_secret_id = row_secrets.id",
  );
  expect(keys).toHaveLength(2 * made.length);
  const finder = new NeedleFinder<number>();
  for (const { id, sealed } of keys) finder.add(id, sealed.subarray(5));
  const found = async () => {
    const ids = new Set<number>();
    for (const bytes of (await storedIn(fixture.dataDir)).values()) for (const id of finder.search(bytes)) ids.add(id);
    return ids.size;
  };
  expect(await found()).toBe(keys.length);
  for (const [at, { urlToken }] of made.entries()) {
    if (at % 5 === 0) await pushes.expire(urlToken, owner);
    if (at % 5 !== 1 || at % 3 === 0) continue;
    const removedFileIds = (await pushes.findEditable(urlToken, owner))?.files.slice(0, 1).map(({ id }) => id) ?? [];
    expect(await pushes.edit(urlToken, { removedFileIds }, owner)).toMatchObject({ outcome: "edited" });
  }
  fixture.truncateLog();
  // Twelve pushes were deleted, and eight lost one of two files.
  expect(await found()).toBe(keys.length - 2 * 12 - 8);
  fixture.clock.advance(15 * minuteMs);
  await makeSweeper(fixture.domain).removeExpiredTickets();
  fixture.truncateLog();
  expect(await found()).toBe(0);
  for (const { domain } of fixture.domains) await domain.close();
});
