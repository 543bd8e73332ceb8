import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, countRows, readRows } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile, pushFiles } from "../../../test/support/files.ts";
import { open } from "../../../test/support/resumable-uploads.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../base/clock.ts";
import { ClockTrust } from "../../base/clock-trust.ts";
import { type BlobStore, BlobStoreError } from "../../blobs/blob-store.ts";
import { capabilitiesOf } from "../../database/database.ts";
import type { Actor } from "../actor.ts";
import type { CreatePush } from "../push.ts";

const owner = signedIn(7);

const count = (fixture: TestDomain, table: string, where?: string) => countRows(fixture.domain.db, table, where);

const live = (fixture: TestDomain) => count(fixture, "pushes", "ended_at IS NULL");

async function makeMany(
  fixture: TestDomain,
  howMany: number,
  expireAfterDays: number,
  actor = stranger,
): Promise<string[]> {
  const made = Array.from({ length: howMany }, () =>
    fixture.domain.pushes.create({ payload: "x", expireAfterDays }, actor),
  );
  return (await Promise.all(made)).map((push) => push.urlToken);
}

test("ends what is due and nothing else, in bounded batches with rests between", async () => {
  await using fixture = await openTestDomain();
  await makeMany(fixture, 120, 1);
  await makeMany(fixture, 30, 2);
  let ms = 0;
  const rests: number[] = [];
  const batches: number[] = [];
  const { upkeep } = fixture.domain.store;
  const sweeper = makeSweeper(fixture, {
    monotonicMs: () => ms,
    pause: async (rest) => {
      rests.push(rest);
    },
    store: {
      ...fixture.domain.store,
      upkeep: {
        ...upkeep,
        async endDue(now, limit, graceMs) {
          const ended = await upkeep.endDue(now, limit, graceMs);
          if (ended > 0) {
            batches.push(ended);
            ms += 10;
          }
          return ended;
        },
      },
    },
  });
  fixture.clock.advance(dayMs - 1);
  expect(await sweeper.sweep()).toMatchObject({ ended: 0 });
  fixture.clock.advance(1);
  expect(await sweeper.sweep()).toMatchObject({ clockTrusted: true, ended: 120 });
  expect(batches).toEqual([50, 50, 20]);
  // Three times as long as the sweep worked.
  expect(rests.slice(0, 3)).toEqual([30, 30, 30]);
  expect(await live(fixture)).toBe(30);
  expect(await count(fixture, "payloads")).toBe(30);
});

test("destroys nothing until the clock has run ten minutes without a jump", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__PURGE_AFTER: "3 months" } });
  const { pushes } = fixture.domain;
  await makeMany(fixture, 3, 1);
  await pushFiles(pushes, owner, [makeFile("a.txt", "a")]);
  const orphan = await pushes.beginUpload(owner);
  await orphan.addFile(makeFile("b.txt", "b"));
  // A tombstone, an ended push of an owner, files that may still be downloaded, and a file of which more is to come.
  for (const actor of [stranger, owner]) {
    for (const urlToken of await makeMany(fixture, 1, 1, actor)) await pushes.expire(urlToken, actor);
  }
  const viewed = await pushFiles(pushes, owner, [makeFile("c.txt", "c")], { expireAfterViews: 1 });
  await pushes.claimView(viewed.urlToken, countEveryone, stranger);
  const address = await open(pushes, Buffer.from("later"), owner);
  let monotonic = 0;
  const clockTrust = new ClockTrust(fixture.clock, () => monotonic);
  const sweeper = makeSweeper(fixture, { clockTrust });
  const pass = (ms: number) => {
    monotonic += ms;
    fixture.clock.advance(ms);
  };
  const idle = { clockTrusted: false, ended: 0, orphansAbandoned: 0, purged: 0, tombstonesRemoved: 0, blobsDeleted: 0 };

  // The wall clock jumps 20 years ahead; steady minutes follow, but not yet ten.
  fixture.clock.advance(20 * 365 * dayMs);
  for (let minute = 0; minute < 10; minute += 1) {
    expect(await sweeper.sweep()).toMatchObject(idle);
    pass(minuteMs);
  }
  // It jumps back before the tenth minute: nothing that was due is due now.
  fixture.clock.advance(-20 * 365 * dayMs);
  for (let minute = 0; minute < 10; minute += 1) {
    expect(await sweeper.sweep()).toMatchObject(idle);
    pass(minuteMs);
  }
  expect(await sweeper.sweep()).toMatchObject({ ...idle, clockTrusted: true, orphansAbandoned: 1, blobsDeleted: 1 });
  expect(await live(fixture)).toBe(4);
  expect(await pushes.findUpload(address, owner)).toMatchObject({ sizeBytes: 5 });
});

test("an upload whose push is never made is removed after 15 minutes without a byte", async () => {
  await using fixture = await openTestDomain();
  const upload = await fixture.domain.pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a"));
  const sweeper = makeSweeper(fixture);
  for (const [ms, orphansAbandoned] of [
    [15 * minuteMs, 0],
    [1, 1],
  ] as const) {
    fixture.clock.advance(ms);
    expect(await sweeper.sweep()).toMatchObject({ orphansAbandoned, blobsDeleted: orphansAbandoned });
  }
});

test("deletions by a person are carried out even while the clock is not trusted", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a.txt", "a")]);
  await pushes.expire(urlToken, owner);
  const clockTrust = new ClockTrust(fixture.clock, () => 0);
  expect(await makeSweeper(fixture, { clockTrust }).sweep()).toMatchObject({ clockTrusted: false, blobsDeleted: 1 });
});

test("a file that may be deleted after its downloads does not stay longer because the clock was set back", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const sweeper = makeSweeper(fixture);
  fixture.clock.advance(300 * dayMs);
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a.txt", "a")], { expireAfterViews: 1 });
  await pushes.claimView(urlToken, countEveryone, stranger);
  fixture.clock.advance(-300 * dayMs);
  expect(await sweeper.sweep()).toMatchObject({ blobsDeleted: 0 });
  fixture.clock.advance(hourMs);
  expect(await sweeper.sweep()).toMatchObject({ blobsDeleted: 0 });
  fixture.clock.advance(hourMs);
  expect(await sweeper.sweep()).toMatchObject({ blobsDeleted: 1 });
});

test("a tombstone answers for exactly 30 days, whenever the sweeper runs", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const [byTime = ""] = await makeMany(fixture, 1, 1);
  const [byHand = ""] = await makeMany(fixture, 1, 90);
  const start = fixture.clock.now();
  await pushes.expire(byHand, stranger);
  const sweeper = makeSweeper(fixture);
  const answers = async () => [await pushes.find(byTime, stranger), await pushes.find(byHand, stranger)];

  fixture.clock.advance(2 * dayMs);
  const before = await answers();
  expect(before).toMatchObject([
    { expired: true, deleted: false, expiredOn: start + dayMs },
    { expired: true, deleted: true, expiredOn: start },
  ]);
  expect(await sweeper.sweep()).toMatchObject({ ended: 1, tombstonesRemoved: 0 });
  expect(await answers()).toEqual(before);

  fixture.clock.advance(28 * dayMs - 1);
  expect(await sweeper.sweep()).toMatchObject({ tombstonesRemoved: 0 });
  expect(await pushes.find(byHand, stranger)).toBeDefined();
  fixture.clock.advance(1);
  // The push is unknown from now on, although its row still exists.
  expect(await pushes.find(byHand, stranger)).toBeUndefined();
  expect(await pushes.find(byTime, stranger)).toBeDefined();
  expect(await count(fixture, "pushes")).toBe(2);
  fixture.clock.advance(1);
  expect(await sweeper.sweep()).toMatchObject({ tombstonesRemoved: 1 });
  fixture.clock.advance(dayMs);
  expect(await pushes.find(byTime, stranger)).toBeUndefined();
  expect(await sweeper.sweep()).toMatchObject({ tombstonesRemoved: 1 });
  expect(await count(fixture, "pushes")).toBe(0);
});

test("a push that was never swept becomes unknown at the same moment", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const [urlToken = ""] = await makeMany(fixture, 1, 1);
  fixture.clock.advance(31 * dayMs - 1);
  expect(await pushes.find(urlToken, stranger)).toMatchObject({ expired: true });
  fixture.clock.advance(1);
  expect(await pushes.find(urlToken, stranger)).toBeUndefined();
  expect(await pushes.claimView(urlToken, countEveryone, stranger)).toEqual({ outcome: "unknown" });
});

test("owned pushes are kept, or purged with all their data if the operator configures it", async () => {
  await using kept = await openTestDomain();
  await makeMany(kept, 2, 1, owner);
  kept.clock.advance(3_650 * dayMs);
  expect(await makeSweeper(kept).sweep()).toMatchObject({ ended: 2, purged: 0, tombstonesRemoved: 0 });

  await using fixture = await openTestDomain({ environment: { PWP__PURGE_AFTER: "3 months" } });
  const { pushes } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a.txt", "a")], { expireAfterViews: 1 });
  await pushes.claimView(urlToken, countEveryone, stranger);
  await makeMany(fixture, 60, 90, owner);
  const sweeper = makeSweeper(fixture);
  fixture.clock.advance(90 * dayMs);
  expect(await sweeper.sweep()).toMatchObject({ ended: 60, purged: 0, blobsDeleted: 1 });
  expect(await count(fixture, "audit_entries", "push_id = (SELECT min(id) FROM pushes)")).toBe(2);
  fixture.clock.advance(1);
  await sweeper.removeExpiredTickets();
  expect(await sweeper.sweep()).toMatchObject({ purged: 1 });
  fixture.clock.advance(90 * dayMs);
  expect(await sweeper.sweep()).toMatchObject({ purged: 60 });
  for (const table of ["pushes", "payloads", "files", "audit_entries", "blob_deletions"]) {
    expect([table, await count(fixture, table)]).toEqual([table, 0]);
  }
  expect(await pushes.find(urlToken, owner)).toBeUndefined();
});

test("purging an ended push before its downloads may finish does not delete its blob", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__PURGE_AFTER: "1 minute" } });
  const { pushes } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a.txt", "a")], { expireAfterViews: 1 });
  await pushes.claimView(urlToken, countEveryone, stranger);
  fixture.clock.advance(15 * minuteMs);
  const sweeper = makeSweeper(fixture);
  await sweeper.removeExpiredTickets();
  expect(await sweeper.sweep()).toMatchObject({ purged: 1, blobsDeleted: 0 });
  fixture.clock.advance(2 * hourMs);
  expect(await sweeper.sweep()).toMatchObject({ blobsDeleted: 1 });
});

test("a push is not purged while its files may be downloaded or its last claim may be repeated", async () => {
  const environment = { PWP__PURGE_AFTER: "1 minute", PWP__CLAIM_RETRY_SECONDS: "300" };
  await using fixture = await openTestDomain({ environment });
  const { pushes } = fixture.domain;
  const once = { expireAfterViews: 1 };
  const withFile = await pushFiles(pushes, owner, [makeFile("a", "a")], once);
  const [file] = await claimFiles(pushes, withFile.urlToken, stranger);
  const text = await pushes.create({ payload: "x", ...once }, owner);
  const claim = { ...countEveryone, idempotencyKey: "a-random-key-of-the-client" };
  await pushes.claimView(text.urlToken, claim, stranger);
  const sweeper = makeSweeper(fixture);
  fixture.clock.advance(2 * minuteMs);
  expect(await sweeper.sweep()).toMatchObject({ purged: 0 });
  expect(await pushes.openTicket(file?.ticket ?? "", stranger)).toBeDefined();
  expect(await pushes.claimView(text.urlToken, claim, stranger)).toMatchObject({ outcome: "revealed" });
  fixture.clock.advance(15 * minuteMs);
  await sweeper.removeExpiredTickets();
  await sweeper.removeExpiredRetries();
  expect(await sweeper.sweep()).toMatchObject({ purged: 2 });
});

test("a blob that cannot be deleted is retried at growing intervals until the store confirms", async () => {
  await using fixture = await openTestDomain();
  const { pushes, blobs } = fixture.domain;
  const first = await pushFiles(pushes, owner, [makeFile("a.txt", "a")]);
  const second = await pushFiles(pushes, owner, [makeFile("b.txt", "b")]);
  let tries = 0;
  let failing = true;
  const stubborn: BlobStore = {
    ...blobs,
    async delete(key) {
      tries += 1;
      if (failing) throw new Error("the bucket is unavailable");
      await blobs.delete(key);
    },
  };
  const sweeper = makeSweeper(fixture, { blobs: stubborn });
  await pushes.expire(first.urlToken, owner);
  await pushes.expire(second.urlToken, owner);
  const waits: number[] = [];
  for (let attempt = 0; attempt < 16; attempt += 1) {
    const before = tries;
    expect(await sweeper.sweep()).toMatchObject({ blobsDeleted: 0 });
    expect(tries).toBe(before + 2);
    // Not retried before its due time.
    const [due] = await readRows<{ due: number }>(fixture.domain.db, "SELECT min(due_at) AS due FROM blob_deletions");
    const wait = (due?.due ?? 0) - fixture.clock.now();
    fixture.clock.advance(wait - 1);
    await sweeper.sweep();
    expect(tries).toBe(before + 2);
    fixture.clock.advance(1);
    waits.push(wait);
  }
  expect(waits.slice(0, 4)).toEqual([10, 20, 40, 80].map((seconds) => seconds * secondMs));
  expect(waits.at(-1)).toBe(6 * hourMs);
  expect(sweeper.failures).toHaveLength(32);
  failing = false;
  expect(await sweeper.sweep()).toMatchObject({ blobsDeleted: 2 });
  expect(await count(fixture, "blob_deletions")).toBe(0);
});

test("an unreachable store blocks nothing: a few deletions are tried, and the rest becomes due again", async () => {
  await using fixture = await openTestDomain();
  const { pushes, blobs } = fixture.domain;
  for (let index = 0; index < 60; index += 1) {
    const push = await pushFiles(pushes, owner, [makeFile("a.txt", "a")]);
    await pushes.expire(push.urlToken, owner);
  }
  let asked = 0;
  const outOfReach: BlobStore = {
    ...blobs,
    delete: async () => {
      asked += 1;
      throw new BlobStoreError("The object store gave no answer.", "ECONNREFUSED");
    },
  };
  expect(await makeSweeper(fixture, { blobs: outOfReach }).sweep()).toMatchObject({ blobsDeleted: 0 });
  expect(asked).toBe(8);
  fixture.clock.advance(10 * minuteMs);
  expect(await makeSweeper(fixture).sweep()).toMatchObject({ blobsDeleted: 60 });
});

test("one failing blob does not block the others", async () => {
  await using fixture = await openTestDomain();
  const { pushes, blobs, db } = fixture.domain;
  const files = ["a", "b", "c"].map((name) => makeFile(name, name));
  const { urlToken } = await pushFiles(pushes, owner, files);
  const [bad] = await readRows(db, "SELECT blob_key FROM files ORDER BY id");
  await pushes.expire(urlToken, owner);
  const sweeper = makeSweeper(fixture, {
    blobs: {
      ...blobs,
      async delete(key) {
        if (key === bad?.blob_key) throw new Error("not this one");
        await blobs.delete(key);
      },
    },
  });
  expect(await sweeper.sweep()).toMatchObject({ blobsDeleted: 2 });
  expect(await count(fixture, "blob_deletions")).toBe(1);
});

test("a push whose expiry is extended after it was found due is not ended", async () => {
  await using fixture = await openTestDomain();
  const [urlToken = ""] = await makeMany(fixture, 1, 1);
  const { store, db, pushes } = fixture.domain;
  fixture.clock.advance(dayMs);
  const { id, expiresAt } = (await store.find(fixture.domain.vault.urlTokens.addressOf(urlToken))) ?? {
    id: 0,
    expiresAt: 0,
  };
  await changeRows(db, `UPDATE pushes SET expires_at = expires_at + ${dayMs}`);
  const request = { pushId: id, reason: "time", endedAt: expiresAt, blobsDueAt: expiresAt, audit: null } as const;
  expect(await store.end(request)).toBe(false);
  expect(await pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({ outcome: "revealed" });
});

test("a sweep that is asked to stop does so between two batches", async () => {
  await using fixture = await openTestDomain();
  await makeMany(fixture, 120, 1);
  fixture.clock.advance(dayMs);
  const abort = new AbortController();
  const sweeper = makeSweeper(fixture, { pause: async () => abort.abort() });
  expect(await sweeper.sweep(abort.signal)).toMatchObject({ ended: 50 });
  expect(await live(fixture)).toBe(70);
});

test("two concurrent sweepers end each push once and delete each blob once or, harmlessly, twice", async () => {
  await using fixture = await openTestDomain();
  await using beside = await openTestDomain({ dataDir: fixture.dataDir, clock: fixture.clock });
  await makeMany(fixture, 130, 1);
  await pushFiles(fixture.domain.pushes, owner, [makeFile("a", "a")]);
  fixture.clock.advance(8 * dayMs);
  await Promise.all([makeSweeper(fixture).sweep(), makeSweeper(beside).sweep()]);
  expect(await live(fixture)).toBe(0);
  expect(await count(fixture, "blob_deletions")).toBe(0);
  expect(await fixture.domain.store.upkeep.anonymousBytes()).toBe(0);
});

test("a removed push leaves neither its payload nor copies for repeated claims", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 1 }, stranger);
  await pushes.claimView(urlToken, { ...countEveryone, idempotencyKey: "a-random-key-of-the-client" }, stranger);
  const secrets = await readRows(fixture.domain.db, "SELECT sealed FROM row_secrets");
  fixture.clock.advance(31 * dayMs);
  expect(await makeSweeper(fixture).sweep()).toMatchObject({ tombstonesRemoved: 1 });
  expect(await count(fixture, "payloads")).toBe(0);
  expect(await count(fixture, "claim_retries")).toBe(0);
  const left = await readRows(fixture.domain.db, "SELECT sealed FROM row_secrets");
  for (const secret of secrets.filter(({ sealed }) => Buffer.isBuffer(sealed) && sealed.some((byte) => byte !== 0))) {
    expect(left).not.toContainEqual(secret);
  }
});

test("each failing step is reported, and all others run", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__PURGE_AFTER: "1 day" } });
  await pushFiles(fixture.domain.pushes, owner, [makeFile("a.txt", "a")]);
  const deleted = await pushFiles(fixture.domain.pushes, owner, [makeFile("b.txt", "b")]);
  await fixture.domain.pushes.expire(deleted.urlToken, owner);
  const { store } = fixture.domain;
  const fail = () => Promise.reject(new Error("The database is broken."));
  const failed: string[] = [];
  const broken = {
    endDue: fail,
    removeEndedPayloads: fail,
    departedOwners: fail,
    forgetDeparted: fail,
    removeTombstones: fail,
    purgeOwned: fail,
    abandonOrphans: fail,
    trimRowSecrets: fail,
  };
  const report = await makeSweeper(fixture, {
    store: {
      ...store,
      upkeep: { ...store.upkeep, ...broken },
      downloadTickets: { ...store.downloadTickets, waitingBlobs: fail },
    },
    onStepFailed: (step) => failed.push(step),
  }).sweep();
  expect(failed).toEqual([
    "due pushes",
    "payloads",
    "deleted accounts",
    "forgotten accounts",
    "tombstones",
    "purge",
    "uploads",
    "key rows",
    "waiting downloads",
  ]);
  expect(report).toMatchObject({ ended: 0, blobsDeleted: 1 });
});

test("the payload of an anonymous push that a claim has ended is removed soon, on SQLite together with others", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const { payloadsStay } = capabilitiesOf[db.engine];
  const sweeper = makeSweeper(fixture);
  const endOne = async (actor: Actor, request: Partial<CreatePush> = {}) => {
    const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 1, ...request }, actor);
    await pushes.claimView(urlToken, countEveryone, stranger);
  };
  await pushes.create({ payload: "live" }, stranger);
  await endOne(owner);
  await endOne(stranger, { payload: "x".repeat(1_025) });
  expect(await count(fixture, "payloads")).toBe(1);
  await Promise.all(Array.from({ length: 501 }, () => endOne(stranger)));
  expect(await count(fixture, "payloads")).toBe(payloadsStay ? 502 : 1);
  expect(await count(fixture, "pushes", "ended_at IS NOT NULL AND creator_address IS NOT NULL")).toBe(0);
  fixture.clock.advance(minuteMs - 1);
  await sweeper.sweep();
  expect(await count(fixture, "payloads")).toBe(payloadsStay ? 502 : 1);
  fixture.clock.advance(1);
  await sweeper.sweep();
  expect(await count(fixture, "payloads")).toBe(1);

  // After the clock was set back.
  fixture.clock.advance(-dayMs);
  await endOne(stranger);
  fixture.clock.advance(minuteMs);
  await sweeper.sweep();
  expect(await count(fixture, "payloads")).toBe(1);
});
