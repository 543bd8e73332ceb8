import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  busyOwner,
  fillDomain,
  intervalMs,
  newest,
  pushWithLongTrail,
} from "../../../test/support/postgres/full-domain.ts";
import { explain, type PlanNode } from "../../../test/support/postgres/plan.ts";
import { type Run, recordRuns } from "../../../test/support/postgres/recording.ts";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres/server.ts";
import { postgresSettings } from "../../../test/support/postgres/settings.ts";
import { pushRow } from "../../../test/support/push-row.ts";
import { dayMs, hourMs } from "../../base/clock.ts";
import { createKeyring } from "../../crypto/keyring.ts";
import type { Database } from "../../database/database.ts";
import { createInspection, readSweepBacklog } from "../../database/inspection.ts";
import { openPostgres } from "../../database/postgres/postgres.ts";
import { rotatedColumns } from "../../tables.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import type { NewTicket } from "./download-tickets.ts";
import type { NewPush } from "./insert-push.ts";
import type { NewLinkDelivery } from "./notifications.ts";
import type { PushStore } from "./push-store.ts";
import { createPushStore } from "./push-store.ts";
import { resealColumn } from "./reseal.ts";
import type { PushRow } from "./tables.ts";
import type { ViewClaim } from "./write-view.ts";

const pushes = 250_000;
const large: readonly string[] = [
  "pushes",
  "audit_entries",
  "row_secrets",
  "payloads",
  "files",
  "link_deliveries",
  "imported_links",
];
/** Pages that one read may touch: the rows before the tenth page of a list, most of them on a page of their own. */
const pagesMax = 1_500;
/** Queries that read all rows: the administrators' overview, and the quota of anonymous pushes every few seconds. */
const counts = /count\(\*\) FROM files|sum\(stored_bytes\)/;

let server: PostgresServer;
let db: Database;
let client: pg.Client;
const runs: Run[] = [];

beforeAll(async () => {
  server = await startPostgres({ settings: { max_wal_size: "4GB", autovacuum: "off", shared_buffers: "256MB" } });
  db = await openPostgres({
    settings: postgresSettings(server.url()),
    monotonicMs: () => performance.now(),
    onStorageFailure(code) {
      throw new Error(`The database failed: ${code}`);
    },
  });
  client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  await fillDomain(client, pushes);
}, 600_000);

afterAll(async () => {
  await client.end();
  await db.close();
  await server[Symbol.asyncDispose]();
});

const searches = (["active", "expired", "all"] as const).flatMap((state) =>
  (["newest", "oldest", "soonest", "latest"] as const).map((order) => ({ state, order })),
);

/** One call of every method, at any depth: a new method does not compile until it is listed here. */
type Exercises<T> = {
  readonly [Name in keyof T]: T[Name] extends (...given: never[]) => unknown
    ? () => Promise<unknown>
    : Exercises<T[Name]>;
};

const audit = (kind: AuditRecord["kind"]): AuditRecord => ({
  kind,
  userId: null,
  address: "192.0.2.1",
  userAgent: "test",
  referrer: "",
  at: newest,
});
/** Neither statement of `findByLink` finds it, so both are recorded. */
const unknownLink = { pushId: 1, check: randomBytes(16), importedDigest: () => randomBytes(32) };

/** A claim of a push that was read as having these values, which may be outdated. */
function claim(pushId: number, hasFiles: boolean, asRead: Partial<PushRow>): ViewClaim {
  const times = { now: newest, blobsDueAt: newest };
  return {
    claimId: pushId + 1,
    ...times,
    counted: true,
    notByOwner: true,
    asRead: { hasFiles, row: pushRow({ id: pushId, updatedAt: newest - (pushes - pushId) * intervalMs, ...asRead }) },
    isImported: false,
    lastViewAt: null,
    audit: audit("view"),
    tickets: hasFiles ? [newTicket(pushId)] : [],
    key: undefined,
  };
}

const newTicket = (id: number): NewTicket => ({
  digest: randomBytes(32),
  fileId: id,
  keySealed: randomBytes(77),
  keyId: 10 * pushes + id,
  expiresAt: newest,
  latestExpiry: newest,
});

function newPush(id: number, ownerId: number | null, files: NewPush["files"] = []): NewPush {
  const times = { createdAt: newest, updatedAt: newest, expiresAt: newest + dayMs };
  const row = pushRow({ id, ownerId, linkCheck: randomBytes(16), ...times });
  const [rowSecretSealed, payloadSealed] = [randomBytes(90), randomBytes(100)];
  return { row, rowSecretSealed, payloadSealed, files, storedBytes: 100, key: undefined };
}

const nothing = () => Promise.resolve();
const linkDelivery = (id: number): NewLinkDelivery => ({
  id,
  ownerId: busyOwner,
  recipientCount: 1,
  detailsSealed: randomBytes(60),
  audit: audit("creation_email_send"),
  day: Math.floor(newest / dayMs),
  dailyMax: 500,
  putEmails: nothing,
});

let nextKeyId = 2 * pushes;

function resumableUpload() {
  nextKeyId += 1;
  return {
    digest: randomBytes(32),
    blobKey: randomBytes(16).toString("hex"),
    fileId: nextKeyId,
    detailsSealed: randomBytes(40),
    keySealed: randomBytes(72),
    keyId: nextKeyId,
    sizeBytes: 10,
    receivedBytes: 0,
    expiresAt: newest + hourMs,
  };
}

function exercisesOf(store: PushStore): Exercises<PushStore> {
  const { lists, adminLists, upkeep } = store;
  const lease = { now: newest, untriedBy: newest, leasedUntil: newest + hourMs };
  const afterSome = newest + 2.5 * dayMs;
  const blobKey = "a-key-of-a-file";
  const change = { pushId: 31, ownerId: busyOwner, sealGeneration: 1, now: newest, note: { sealed: randomBytes(50) } };
  const content = {
    keyCheck: randomBytes(32),
    passphraseSalt: null,
    payloadFormat: "text" as const,
    rowSecretSealed: randomBytes(32),
    payloadSealed: randomBytes(40),
    storedBytes: 40,
    keptFiles: [],
    addedFiles: [],
    removedFileIds: [61],
  };
  const file = {
    id: pushes + 1,
    position: 1,
    blobKey,
    sizeBytes: 10,
    detailsSealed: randomBytes(40),
    keySealed: randomBytes(72),
  };
  return {
    async insertPush() {
      await store.insertPush(newPush(pushes + 1, null), audit("creation"));
      await store.insertPush(newPush(pushes + 2, busyOwner), audit("creation"));
      await store.addUpload(blobKey, newest);
      await store.insertPush(newPush(pushes + 3, busyOwner, [file]), audit("creation"));
      await store.insertPush(newPush(pushes + 4, busyOwner), audit("creation"), {
        linkDelivery: linkDelivery(pushes + 1),
      });
      const key = { userId: busyOwner, digest: randomBytes(32), pushId: pushes + 5, given: 0, arrivedAt: Date.now() };
      await store.insertPush({ ...newPush(pushes + 5, busyOwner), key }, audit("creation"));
    },
    find: () => store.find(unknownLink),
    findById: () => store.findById(1),
    findSealed: () => store.findSealed(unknownLink, () => undefined),
    lastViewAt: () => store.lastViewAt(31),
    files: () => store.files(21),
    async filesOf() {
      expect(await store.filesOf({ row: { id: 21 }, hasFiles: true })).toHaveLength(1);
    },
    async writeView() {
      // Anonymous and owned pushes, with views left, with the last view, with an outdated read, and with files.
      for (const [id, views, ownerId, hasFiles, notifyOnView] of [
        [10, 0, null, false, false],
        [31, 1, busyOwner, false, false],
        [37, 1, 1, false, true],
        [4, 4, null, false, false],
        [19, 4, 21, false, false],
        [34, 2, null, false, false],
        [40, 0, null, true, false],
      ] as const) {
        const claimed = await store.writeView(
          claim(id, hasFiles, { views, expireAfterViews: 5, ownerId, notifyOnView }),
        );
        expect(claimed, `push ${id}`).toBeDefined();
      }
      const key = {
        pushId: 70,
        digest: randomBytes(32),
        secretSealed: randomBytes(77),
        copyId: 20 * pushes,
        expiresAt: newest,
        arrivedAt: Date.now(),
      };
      expect(await store.writeView({ ...claim(70, false, {}), key })).toBeDefined();
    },
    async change() {
      expect(await store.change(change, audit("edit"))).toMatchObject({ id: change.pushId });
      const withContent = { ...change, pushId: 61, content };
      expect(await store.change(withContent, audit("edit"))).toMatchObject({ id: withContent.pushId });
    },
    async end() {
      for (const pushId of [13, 16]) {
        const endRequest = { pushId, endedAt: newest, blobsDueAt: newest, audit: audit("expire") };
        expect(await store.end({ ...endRequest, reason: "owner" })).toBe(true);
        expect(await store.end({ ...endRequest, reason: "time" })).toBe(false);
      }
    },
    recordRefusal: () => store.recordRefusal(2, audit("failed_view")),
    record: () => store.record(1, audit("failed_passphrase")),
    addUpload: () => store.addUpload("another-key", newest),
    renewUploads: () => store.renewUploads([{ blobKey: "another-key", anonymousBytes: 0 }], newest),
    abandonUploads: () => store.abandonUploads(["another-key"]),
    resumableUploads: {
      async add() {
        const bounds = { countMax: 10, bytesMax: 1_000 };
        for (const ownerId of [busyOwner, null]) {
          const upload = { ...resumableUpload(), ownerId, client: ownerId === null ? "192.0.2.1" : "" };
          expect(await store.resumableUploads.add(upload, bounds, newest)).toBe("added");
        }
      },
      find: () => store.resumableUploads.find(randomBytes(32), newest),
      beginRun: () =>
        store.resumableUploads.beginRun({ digest: randomBytes(32), run: 0, blobKey, receivedBytes: 0 }, 1, newest),
      extend: () => store.resumableUploads.extend(randomBytes(32), 1, blobKey, { runUntil: newest, now: newest }),
      release: () => store.resumableUploads.release(randomBytes(32), 1),
      progress: () =>
        store.resumableUploads.progress(
          randomBytes(32),
          1,
          { blobKey, receivedBytes: 0, anonymousBytes: 0, runUntil: null, expiresAt: newest },
          newest,
        ),
      replaceBlob: () => {
        const { digest, keySealed, detailsSealed } = resumableUpload();
        const earlier = { digest, blobKey, rowSecretId: 1 };
        const next = { blobKey, detailsSealed, keySealed, runUntil: newest };
        return store.resumableUploads.replaceBlob(earlier, 1, next, newest);
      },
      async discard() {
        for (const run of [undefined, 1]) await store.resumableUploads.discard(randomBytes(32), run);
      },
    },
    downloadTickets: {
      find: () => store.downloadTickets.find(randomBytes(32), newest),
      wait: () => store.downloadTickets.wait(randomBytes(32)),
      waitingBlobs: () => store.downloadTickets.waitingBlobs(newest, 8),
      resume: () => store.downloadTickets.resume(newest, newest),
      removeExpired: () => store.downloadTickets.removeExpired(newest, { issued: newest, waiting: newest }, 50),
    },
    claimRetries: {
      find: () => store.claimRetries.find(1, randomBytes(32), newest),
      payload: () => store.claimRetries.payload(1),
      repeat: () =>
        store.claimRetries.repeat(1, {
          sealGeneration: 1,
          digest: randomBytes(32),
          now: newest,
          audit: audit("repeated_view"),
          tickets: [],
        }),
      removeExpired: () => store.claimRetries.removeExpired(newest, newest, 50),
    },
    creationKeys: {
      find: () => store.creationKeys.find(busyOwner, randomBytes(32)),
      removeOld: () => store.creationKeys.removeOld(50),
    },
    linkDeliveries: {
      async put() {
        expect(await store.linkDeliveries.put(91, linkDelivery(pushes + 2))).toBe("put");
      },
      ofPush: () => store.linkDeliveries.ofPush(21),
      settle: () => store.linkDeliveries.settle(pushes + 2, 0, "sent", newest),
      putOff: () => store.linkDeliveries.putOff(pushes + 2),
    },
    viewNotifications: {
      async waiting() {
        expect(await store.viewNotifications.waiting(50)).toHaveLength(50);
      },
      async take() {
        for (const notification of await store.viewNotifications.waiting(2))
          await store.viewNotifications.take(notification, nothing);
      },
    },
    lists: {
      async filtered() {
        for (const search of searches) {
          for (const kind of ["qr", null] as const) {
            for (const ownerId of [busyOwner, 500])
              await lists.filtered(ownerId, { ...search, kind }, { now: newest, limit: 51, offset: 450 });
          }
        }
      },
      async summaries() {
        for (const search of searches) {
          const found = await lists.summaries(busyOwner, search, { now: newest, last: null, limit: 250 });
          expect(found).toHaveLength(250);
          await lists.summaries(busyOwner, search, { now: newest, last: found.at(-1) ?? null, limit: 250 });
        }
      },
      labels: () => lists.labels(Array.from({ length: 250 }, (_, at) => at * 1_000 + 1)),
      byIds: () => lists.byIds(Array.from({ length: 51 }, (_, at) => at * 1_000 + 1)),
      lastViews: () => lists.lastViews(Array.from({ length: 51 }, (_, at) => at * 1_000 + 1)),
      trail: () => lists.trail(pushWithLongTrail, 51, 0),
      oldestOfTrail: () => lists.oldestOfTrail(pushWithLongTrail, 50, 0),
      countAfterEnd: () => lists.countAfterEnd(pushWithLongTrail, newest),
      trailFrom: () => lists.trailFrom(pushWithLongTrail, 300, 500),
      foldedTrail: () => lists.foldedTrail(pushWithLongTrail),
    },
    adminLists: {
      before: () => adminLists.before(pushes / 2, 100),
      find: () => adminLists.find(pushes / 2),
      totals: () => adminLists.totals(),
    },
    bulkEndings: {
      start: () =>
        store.bulkEndings.start(
          {
            network: "",
            createdBefore: newest,
            largerThanBytes: 1,
            owners: "owned",
            adminId: null,
            address: "",
            userAgent: "",
            requestedAt: newest,
          },
          async () => undefined,
        ),
      find: () => store.bulkEndings.find(1),
      latest: () => store.bulkEndings.latest(10),
      candidatesAfter: () => store.bulkEndings.candidatesAfter(pushes / 2, 100),
      advance: () =>
        store.bulkEndings.advance(
          newest,
          100,
          () => () => false,
          () => {
            throw new Error("No push was selected.");
          },
        ),
    },
    upkeep: {
      countLive: () => upkeep.countLive(busyOwner, afterSome, 1_001),
      async endOwned() {
        expect(await upkeep.endOwned(busyOwner, afterSome, 50, audit("expire"))).toBe(50);
      },
      async endDue() {
        expect(await upkeep.endDue(afterSome, 50, hourMs)).toBe(50);
      },
      async removeEndedPayloads() {
        expect(await upkeep.removeEndedPayloads(afterSome, 50)).toBe(0);
      },
      removeUnfinishedUploads: () => upkeep.removeUnfinishedUploads(newest, 50),
      async hasFiles() {
        expect(await upkeep.hasFiles()).toBe(true);
      },
      async removeEnded() {
        expect(await upkeep.removeEnded(2, async () => undefined)).toBe(true);
      },
      async removeTombstones() {
        expect(await upkeep.removeTombstones(newest - 5 * dayMs, 50)).toBe(50);
      },
      async purgeOwned() {
        expect(await upkeep.purgeOwned(newest - 5 * dayMs, 50)).toBe(50);
      },
      async abandonOrphans() {
        expect(await upkeep.abandonOrphans(newest, 50)).toBe(50);
      },
      async leaseBlobDeletions() {
        expect(await upkeep.leaseBlobDeletions(lease, 50)).toHaveLength(50);
      },
      bringBlobsForward: () => upkeep.bringBlobsForward(newest, newest + dayMs),
      async deletionCounts() {
        expect(await upkeep.deletionCounts()).toMatchObject({ failed: expect.any(Number) });
      },
      async retryDeletions() {
        expect(await upkeep.retryDeletions(newest, 50, async () => undefined)).toBeLessThanOrEqual(50);
      },
      async blobDeleted() {
        for (const { blobKey } of await upkeep.leaseBlobDeletions(lease, 2)) {
          await upkeep.blobDeleted(blobKey);
        }
      },
      postponeBlobDeletion: () => upkeep.postponeBlobDeletion(blobKey, newest),
      trimRowSecrets: () => upkeep.trimRowSecrets(500),
      anonymousBytes: () => upkeep.anonymousBytes(),
      async releaseOwned() {
        expect(await upkeep.releaseOwned(busyOwner, newest, 50)).toBe(50);
        expect(await upkeep.releaseOwned(501, newest, 50)).toBe(50);
      },
      departedOwners: () => upkeep.departedOwners(0, 50),
      forgetDeparted: () => upkeep.forgetDeparted(newest),
    },
  };
}

test("a push is claimed and ended by its primary key when the statistics know of no live push", async () => {
  await client.query("CREATE DATABASE small");
  const small = await openPostgres({
    settings: postgresSettings(server.url("small")),
    monotonicMs: () => performance.now(),
    onStorageFailure: () => undefined,
  });
  const planner = new pg.Client({ connectionString: server.url("small") });
  await planner.connect();
  const ran: Run[] = [];
  try {
    const store = createPushStore(recordRuns(small, ran));
    for (let id = 1; id <= 200; id += 1) await store.insertPush(newPush(id, null), audit("creation"));
    for (let id = 1; id < 200; id += 1) {
      await store.end({ pushId: id, reason: "owner", endedAt: newest, blobsDueAt: newest, audit: null });
    }
    for (const expireAfterViews of [2, 1]) {
      await store.writeView(claim(200, false, { expireAfterViews, updatedAt: newest }));
    }
    await store.end({ pushId: 200, reason: "time", endedAt: newest, blobsDueAt: newest, audit: null });
    await planner.query("ANALYZE");
    const updates = new Map(ran.filter(({ text }) => text.includes("UPDATE pushes SET")).map((run) => [run.text, run]));
    expect(updates.size).toBe(5);
    for (const run of updates.values()) {
      for (const mode of ["force_custom_plan", "force_generic_plan"] as const) {
        const nodes = await explain(planner, run, mode);
        const indexes = nodes.flatMap(({ table, index }) => (table === "pushes" && index !== undefined ? [index] : []));
        expect(indexes, run.text).toEqual(["pushes_pkey"]);
      }
    }
  } finally {
    await planner.end();
    await small.close();
  }
});

type Exercise = () => Promise<unknown>;
interface Group {
  readonly [name: string]: Exercise | Group;
}

async function runAll(exercises: Group): Promise<void> {
  for (const exercise of Object.values(exercises)) {
    if (typeof exercise === "function") await exercise();
    else await runAll(exercise);
  }
}

describe("with a quarter of a million pushes and three times as many audit entries", { timeout: 600_000 }, () => {
  test("every statement finds its rows by an index, for all parameters", async () => {
    const recorded = recordRuns(db, runs);
    await runAll({ ...exercisesOf(createPushStore(recorded)) });
    await readSweepBacklog(recorded, newest);
    await createInspection(recorded).newestTime();
    // The rows hold random bytes: here every value opens.
    const keyring = { ...createKeyring([randomBytes(32)], { bytes: randomBytes }), open: () => randomBytes(32) };
    for (const column of rotatedColumns) {
      const batches = resealColumn(recorded, keyring, column, 100);
      await batches.next();
      await batches.next();
    }
    expect(new Set(runs.map(({ text }) => text)).size).toBeGreaterThan(50);

    const tablesRead: string[] = [];
    for (const run of distinct(runs)) {
      for (const mode of ["force_custom_plan", "force_generic_plan"] as const) {
        const nodes = await explain(client, run, mode);
        const how = `${mode}: ${run.text}`;
        expect(nodes.filter(isSlow(run.text)), how).toEqual([]);
        if (!counts.test(run.text)) expect(nodes[0]?.pages, how).toBeLessThan(pagesMax);
        tablesRead.push(...nodes.flatMap(({ table }) => table ?? []));
      }
    }
    expect(tablesRead).toEqual(expect.arrayContaining([...large]));
  });

  test("the test detects a missing index", async () => {
    const tombstones = runs.find(({ text }) => /owner_id IS NULL ORDER BY ended_at/.test(text));
    if (tombstones === undefined) throw new Error("No statement reads tombstones.");
    await client.query("DROP INDEX pushes_tombstones");
    const nodes = await explain(client, tombstones, "force_generic_plan");
    expect(nodes.filter(isSlow(tombstones.text))).toHaveLength(1);
  });
});

/** The distinct pairs of statement and parameter list. */
function distinct(all: readonly Run[]): readonly Run[] {
  return [...new Map(all.map((run) => [JSON.stringify(run), run])).values()];
}

function isSlow(text: string): (node: PlanNode) => boolean {
  const watched = counts.test(text) ? large.filter((table) => table !== "files") : large;
  return ({ kind, table }) => kind === "Seq Scan" && table !== undefined && watched.includes(table);
}
