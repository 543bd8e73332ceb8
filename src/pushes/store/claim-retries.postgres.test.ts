import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, countRows } from "../../../test/support/engine-database.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { minuteMs } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { claimOperations } from "../claim/claim-view.ts";
import { createClaimRetries } from "./claim-retries.ts";
import { createHotPath } from "./push-store.ts";

const key = "a-random-key-of-the-client";
const keyed = { ...countEveryone, idempotencyKey: key };

/** Runs `start` before each transaction of `write` commits, until `start` is done or waits for a lock. */
function interleaved<T>(db: Database, start: () => Promise<T>) {
  let started: Promise<T> | undefined;
  const write: Database["write"] = (work) =>
    db.write(async (tx) => {
      const result = await work(tx);
      let isDone = false;
      started ??= start().finally(() => {
        isDone = true;
      });
      const waits = "datname = current_database() AND wait_event_type = 'Lock'";
      while (!isDone && (await countRows(db, "pg_stat_activity", waits)) === 0);
      return result;
    });
  return { write, started: () => started };
}

const lastView = ({ domain }: TestDomain, urlToken: string) =>
  domain.pushes.claimView(urlToken, countEveryone, stranger);

/** On PostgreSQL each has a statement of its own for the last view. */
const owners = [
  ["an anonymous push", stranger],
  ["an owned push", signedIn(7)],
] as const;

test.each(owners)("a last view of %s during the removal of the last copy leaves no payload", async (_, actor) => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "hunter2", expireAfterViews: 2 }, actor);
  await pushes.claimView(urlToken, keyed, stranger);
  const { write, started } = interleaved(db, () => lastView(fixture, urlToken));
  const retries = createClaimRetries({ read: db.read, write });
  const now = fixture.clock.now() + minuteMs;
  expect(await retries.removeExpired(now, now, 50)).toBe(1);
  expect(await started()).toMatchObject({ outcome: "revealed", payload: "hunter2" });
  expect(await countRows(db, "claim_retries", "row_secret_id IS NOT NULL")).toBe(0);
  expect(await countRows(db, "payloads")).toBe(0);
});

test.each(owners)("a last view of %s during a repeatable view keeps the payload to repeat it", async (_, actor) => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "hunter2", expireAfterViews: 2 }, actor);
  await changeRows(db, "UPDATE pushes SET notify_on_view = 1");
  const { write, started } = interleaved(db, () => lastView(fixture, urlToken));
  const { engine, hot, read, lookUp } = db;
  const hotPath = createHotPath({
    engine,
    hot,
    read,
    lookUp,
    write,
    autocommit: (options) => db.autocommit(options),
    untilKnown: (work) => db.untilKnown(work),
  });
  const deps = pushDepsOf(fixture);
  const { claimView } = claimOperations({ ...deps, store: { ...deps.store, ...hotPath } });
  expect(await claimView(urlToken, keyed, stranger)).toMatchObject({ outcome: "revealed", repeated: false });
  expect(await started()).toMatchObject({ outcome: "revealed", payload: "hunter2" });
  const again = await pushes.claimView(urlToken, keyed, stranger);
  expect(again).toMatchObject({ outcome: "revealed", payload: "hunter2", repeated: true });
});

test("an end while the last copy is being removed leaves no payload", async () => {
  await using fixture = await openTestDomain();
  const { pushes, store, vault, db } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "hunter2", expireAfterViews: 5, expireAfterDays: 1 }, stranger);
  const { pushId } = vault.urlTokens.addressOf(urlToken);
  await pushes.claimView(urlToken, keyed, stranger);
  const now = fixture.clock.now() + 2 * 24 * 60 * minuteMs;
  const request = { pushId, reason: "time", endedAt: now, blobsDueAt: now, audit: null } as const;
  const { write, started } = interleaved(db, () => store.end(request));
  const retries = createClaimRetries({ read: db.read, write });
  expect(await retries.removeExpired(now, now + minuteMs, 50)).toBe(1);
  expect(await started()).toBe(true);
  expect(await countRows(db, "claim_retries")).toBe(0);
  expect(await countRows(db, "payloads")).toBe(0);
});
