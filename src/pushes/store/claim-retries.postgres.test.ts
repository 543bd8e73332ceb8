import { expect, test } from "vitest";
import { countEveryone, openTestDomain, stranger } from "../../../test/support/domain.ts";
import { countRows } from "../../../test/support/engine-database.ts";
import { minuteMs } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { createClaimRetries } from "./claim-retries.ts";

test("an end while the last copy is being removed leaves no payload", async () => {
  await using fixture = await openTestDomain();
  const { pushes, store, vault, db } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "hunter2", expireAfterViews: 5, expireAfterDays: 1 }, stranger);
  const { pushId } = vault.urlTokens.addressOf(urlToken);
  await pushes.claimView(urlToken, { ...countEveryone, idempotencyKey: "a-random-key-of-the-client" }, stranger);
  const now = fixture.clock.now() + 2 * 24 * 60 * minuteMs;
  const request = { pushId, reason: "time", endedAt: now, blobsDueAt: now, audit: null } as const;
  let ending: Promise<boolean> | undefined;
  /** Starts the end before the removal commits, and waits until it is done or waits for a lock. */
  const write: Database["write"] = (work) =>
    db.write(async (tx) => {
      const result = await work(tx);
      let ended = false;
      ending = store.end(request).finally(() => {
        ended = true;
      });
      const waits = "datname = current_database() AND wait_event_type = 'Lock'";
      while (!ended && (await countRows(db, "pg_stat_activity", waits)) === 0);
      return result;
    });
  const retries = createClaimRetries({ engine: db.engine, read: db.read, write });
  expect(await retries.removeExpired(now, now + minuteMs, 50)).toBe(1);
  expect(await ending).toBe(true);
  expect(await countRows(db, "claim_retries")).toBe(0);
  expect(await countRows(db, "payloads")).toBe(0);
});
