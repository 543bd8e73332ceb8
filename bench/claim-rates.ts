import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import type { Database } from "../src/database/database.ts";
import type { SqliteDatabase } from "../src/database/sqlite/sqlite.ts";
import type { Domain } from "../src/domain.ts";
import { openBenchDomain } from "./bench-domain.ts";
import { type ClaimPattern, seededRandom } from "./claim-choice.ts";
import { RowCopies } from "./row-copies.ts";
import { median } from "./statistics.ts";
import { StoredPushes } from "./stored-pushes.ts";

export interface RatePlan {
  /** Pushes in each of the two domains, on average over a segment. */
  readonly sizes: { readonly small: number; readonly large: number };
  /** How many pushes of the large domain are copies of each created one, which are never claimed. */
  readonly copies: number;
  readonly segmentClaims: number;
  readonly warmUpSegments: number;
  readonly segments: number;
}

interface Speed {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

/** Medians over the segments. */
export interface ClaimRates {
  readonly small: Speed;
  readonly large: Speed;
  /** The ratio of the large domain's rate to the small one's, per segment. */
  readonly ratio: number;
  readonly cpuRatio: number;
}

const seed = 20_240_517;
const blockPushes = 1_000;

/**
 * Claims per second in a small and in a large domain. Their segments alternate, so that other load on the machine affects
 * both. A segment claims, then copies the log into the database: the checkpoint is part of its time. Between segments the
 * claimed pushes are replaced, which is not measured.
 */
export async function measureClaimRates(
  folder: string,
  plan: RatePlan,
): Promise<Readonly<Record<ClaimPattern, ClaimRates>>> {
  const domains = {
    small: await openBenchDomain(join(folder, "small"), systemClock),
    large: await openBenchDomain(join(folder, "large"), systemClock),
  };
  const extra = Math.ceil(plan.segmentClaims / 2);
  const stored = {
    small: new StoredPushes(domains.small, plan.sizes.small + extra),
    large: new StoredPushes(domains.large, plan.sizes.large + extra),
  };
  const createdLarge = plan.sizes.large / (1 + plan.copies);
  if (plan.copies > 0) await fillWithCopies(domains.large, stored.large, createdLarge, plan.copies);
  const random = seededRandom(seed);
  const counts = { small: plan.sizes.small + extra, large: createdLarge + extra };
  const segment = (size: "small" | "large", pattern: ClaimPattern) =>
    measureSegment(domains[size], stored[size], {
      fullCount: counts[size],
      pattern,
      claims: plan.segmentClaims,
      random,
    });

  const measure = async (pattern: ClaimPattern): Promise<ClaimRates> => {
    const small: Speed[] = [];
    const large: Speed[] = [];
    for (let at = 0; at < plan.warmUpSegments + plan.segments; at += 1) {
      small.push(await segment("small", pattern));
      large.push(await segment("large", pattern));
    }
    return compare(small.slice(plan.warmUpSegments), large.slice(plan.warmUpSegments));
  };
  const rates = { recent: await measure("recent"), uniform: await measure("uniform") };
  await domains.small.close();
  await domains.large.close();
  return rates;
}

/** Created pushes in blocks, each followed by its copies, so that the claimed ones are spread over all. */
async function fillWithCopies(domain: Domain, stored: StoredPushes, count: number, copies: number): Promise<void> {
  const rows = new RowCopies(sqliteOf(domain.db));
  while (stored.count < count) {
    await stored.fillTo(Math.min(count, stored.count + blockPushes));
    await rows.add(copies);
  }
}

/** Each measurement includes the cost of its own log. */
function truncateLog({ db }: Domain): void {
  sqliteOf(db).truncateLog();
}

export function sqliteOf(db: Database): SqliteDatabase {
  if (!isSqlite(db)) throw new Error("Only SQLite has a log to cut, and rows to copy.");
  return db;
}

function isSqlite(db: Database): db is SqliteDatabase {
  return db.engine === "sqlite";
}

async function measureSegment(
  domain: Domain,
  stored: StoredPushes,
  {
    fullCount,
    pattern,
    claims,
    random,
  }: {
    readonly fullCount: number;
    readonly pattern: ClaimPattern;
    readonly claims: number;
    readonly random: () => number;
  },
): Promise<Speed> {
  await stored.fillTo(fullCount);
  truncateLog(domain);
  const tokens = stored.take(pattern, claims, random);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await stored.claimAll(tokens);
  truncateLog(domain);
  const elapsedMs = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  return { perSecond: (claims / elapsedMs) * 1_000, cpuMicros: (cpu.user + cpu.system) / claims };
}

function compare(small: readonly Speed[], large: readonly Speed[]): ClaimRates {
  const pairs = small.flatMap((speed, at) => {
    const other = large[at];
    return other === undefined ? [] : [{ small: speed, large: other }];
  });
  const middle = (speeds: readonly Speed[]): Speed => ({
    perSecond: median(speeds.map((speed) => speed.perSecond)),
    cpuMicros: median(speeds.map((speed) => speed.cpuMicros)),
  });
  return {
    small: middle(small),
    large: middle(large),
    ratio: median(pairs.map((pair) => pair.large.perSecond / pair.small.perSecond)),
    cpuRatio: median(pairs.map((pair) => pair.large.cpuMicros / pair.small.cpuMicros)),
  };
}
