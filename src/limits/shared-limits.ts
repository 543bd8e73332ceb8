import { clockSpreadMs } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { digest } from "../crypto/digests.ts";
import type { Database } from "../database/database.ts";
import { createInMemoryLimits, remembering, secondsUntil } from "./in-memory-limits.ts";
import type { AmountCounter, Charge, Limit, Limits, SlidingCounter } from "./limits.ts";
import { createRequestCounts } from "./request-counts.ts";
import { chargeSliding, numbersPerMs, oldestRecent, refundSliding, removeExpiredAttempts } from "./store/sliding.ts";
import { chargeWindow, refundWindow, removeExpiredWindows, windowEnd } from "./store/windows.ts";

/**
 * Counts over all processes on one PostgreSQL database. One statement charges an attempt and decides under the lock of the
 * key's row. The tables are unlogged: a charge waits for no disk, and a crash loses only the counters. Keys are stored as
 * digests, so that no address or email is stored in plain text.
 *
 * While the database does not answer, each process counts by itself.
 */
export function createSharedLimits(db: Database, random: Random, onUnanswered: (error: unknown) => void): Limits {
  const own = createInMemoryLimits();
  /** Asks the database, or this process alone while the database does not answer. */
  const answered = async <T>(atDatabase: () => Promise<T>, inMemory: () => Promise<T>): Promise<T> => {
    try {
      return await atDatabase();
    } catch (error) {
      onUnanswered(unansweredOrThrow(error));
      return await inMemory();
    }
  };
  const shared = (limit: Limit, atDatabase: AmountCounter, inMemory: AmountCounter): AmountCounter => ({
    charge: (key, now, amount) =>
      answered(
        () => atDatabase.charge(`${limit.name} ${key}`, now, amount),
        () => inMemory.charge(key, now, amount),
      ),
  });
  const sharedSliding = (limit: Limit, atDatabase: SlidingCounter, inMemory: SlidingCounter): SlidingCounter => ({
    ...shared(limit, atDatabase, inMemory),
    isUnused: (key, now) =>
      answered(
        () => atDatabase.isUnused(`${limit.name} ${key}`, now),
        () => inMemory.isUnused(key, now),
      ),
  });
  const refundOf = (refund: () => Promise<unknown>) => async () => {
    try {
      await refund();
    } catch (error) {
      // The attempt was correct, so it succeeds, although it stays counted.
      onUnanswered(unansweredOrThrow(error));
    }
  };
  const owed = createOwedRefunds(onUnanswered);
  return {
    inWindows: (limit) => countingLocally(limit, shared(limit, windowsAt(db, limit, refundOf), own.inWindows(limit))),
    sliding: (limit) => sharedSliding(limit, slidingAt({ db, random, owed }, limit), own.sliding(limit)),
    requests: createRequestCounts(db),
    async removeExpired(now, rowsMax) {
      const before = now - clockSpreadMs;
      const windows = await db.autocommit({ retry: "whenNotExecuted" }).run(removeExpiredWindows, before, rowsMax);
      return windows + (await db.autocommit({ retry: "whenNotExecuted" }).run(removeExpiredAttempts, before, rowsMax));
    },
  };
}

/** @returns the error if it means that the database does not answer; others are bugs and are thrown. */
export function unansweredOrThrow(error: unknown): AppError {
  if (error instanceof AppError && error.code === "unavailable") return error;
  throw error;
}

type RefundOf = (refund: () => Promise<unknown>) => () => Promise<void>;

function windowsAt(db: Database, { max, windowMs }: Limit, refundOf: RefundOf): AmountCounter {
  const autocommit = db.autocommit({ retry: "whenNotExecuted" });
  return {
    async charge(key, now, amount = 1): Promise<Charge> {
      // The statement compares only with what a window has counted already.
      if (amount > max) return { outcome: "refused", retryAfterSeconds: secondsUntil(now + windowMs, now) };
      const row = digest(key);
      const charged = await autocommit.one(chargeWindow, row, now, now + windowMs, amount, max);
      if (charged === undefined) {
        const endsAt = (await db.read.one(windowEnd, row))?.endsAt ?? now;
        return { outcome: "refused", retryAfterSeconds: secondsUntil(endsAt, now) };
      }
      const refund = refundOf(() => autocommit.run(refundWindow, amount, row, charged.startedAt, amount));
      return { outcome: "charged", refund };
    },
  };
}

/** Reserves `reservedAtOnce` in the shared window and counts it locally until the window may have ended. */
function countingLocally(limit: Limit, shared: AmountCounter): AmountCounter {
  const { reservedAtOnce = 0, windowMs } = limit;
  if (reservedAtOnce === 0) return shared;
  const takenByKey = remembering<{ amount: number; readonly at: number }>(limit);

  function takenFor(key: string, now: number): { amount: number; readonly at: number } {
    const known = takenByKey.get(key);
    // The shared window may have begun up to its length earlier; the rest of an old one is small.
    if (known !== undefined && now >= known.at && now < known.at + windowMs) return known;
    const taken = { amount: 0, at: now };
    takenByKey.put(key, taken, now);
    return taken;
  }

  return {
    async charge(key, now, amount = 1): Promise<Charge> {
      if (amount >= reservedAtOnce) return await shared.charge(key, now, amount);
      const taken = takenFor(key, now);
      if (taken.amount < amount) {
        const more = await shared.charge(key, now, reservedAtOnce);
        // Near the end of the window, the exact amount may still fit.
        if (more.outcome === "refused") return await shared.charge(key, now, amount);
        taken.amount += reservedAtOnce;
      }
      taken.amount -= amount;
      return {
        outcome: "charged",
        async refund() {
          taken.amount += amount;
        },
      };
    },
  };
}

interface SlidingDeps {
  readonly db: Database;
  readonly random: Random;
  readonly owed: OwedRefunds;
}

/** Attempts have numbers, so that statements whose answers were lost run again: no lost answer leaves an attempt counted. */
function slidingAt({ db, random, owed }: SlidingDeps, { max, windowMs }: Limit): SlidingCounter {
  const autocommit = db.autocommit({ retry: "idempotent" });
  const recentAt = (now: number) => [now - windowMs, now + clockSpreadMs] as const;
  const oldestAt = async (row: Buffer, now: number) =>
    (await db.read.one(oldestRecent, row, ...recentAt(now)))?.oldest ?? undefined;
  return {
    isUnused: async (key, now) => (await oldestAt(digest(key), now)) === undefined,
    async charge(key, now): Promise<Charge> {
      const row = digest(key);
      const attempt = [now, random.bytes(4).readUInt32BE() % numbersPerMs] as const;
      const refund = async () => {
        await autocommit.run(refundSliding, ...attempt, row, ...attempt);
      };
      const recent = recentAt(now);
      let charged: unknown;
      try {
        charged = await autocommit.one(chargeSliding, row, ...attempt, now + windowMs, ...recent, ...recent, max);
      } catch (error) {
        // It may have been charged, and is charged again in memory.
        owed.owe(refund);
        throw error;
      }
      owed.pay();
      if (charged === undefined) {
        const oldest = (await oldestAt(row, now)) ?? now;
        return { outcome: "refused", retryAfterSeconds: secondsUntil(oldest + windowMs, now) };
      }
      return { outcome: "charged", refund: () => owed.tryNow(refund) };
    },
  };
}

const owedMax = 10_000;

type OwedRefunds = ReturnType<typeof createOwedRefunds>;

/**
 * Refunds that the database has not confirmed. They run again as soon as it answers: a right attempt must not count as a
 * wrong one for a minute.
 */
function createOwedRefunds(onUnanswered: (error: unknown) => void) {
  const owed = new Set<() => Promise<void>>();

  function owe(refund: () => Promise<void>): void {
    if (owed.size < owedMax) owed.add(refund);
  }

  async function tryNow(refund: () => Promise<void>): Promise<void> {
    try {
      await refund();
    } catch (error) {
      onUnanswered(unansweredOrThrow(error));
      owe(refund);
    }
  }

  return {
    owe,
    tryNow,
    /** Starts all again, without waiting for them. */
    pay(): void {
      for (const refund of [...owed]) {
        owed.delete(refund);
        tryNow(refund).catch(onUnanswered);
      }
    },
  };
}
