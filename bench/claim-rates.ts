import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { openBenchHouse } from "./bench-house.ts";
import { type ClaimPattern, seededRandom } from "./claim-choice.ts";
import { median } from "./statistics.ts";
import { StoredPushes } from "./stored-pushes.ts";

export interface RatePlan {
  /** How many pushes are stored, on average over a segment. */
  readonly stored: number;
  readonly segmentClaims: number;
  readonly segments: number;
}

export type ClaimRates = Readonly<Record<ClaimPattern, number>>;

const seed = 20_240_517;

/**
 * Claims a second at one size of the database. A segment claims, then copies the log into the database: its checkpoint
 * is part of its time. Between segments the claimed pushes are replaced, outside of the time.
 */
export async function measureClaimRates(folder: string, plan: RatePlan): Promise<ClaimRates> {
  const house = await openBenchHouse(join(folder, `stored-${plan.stored}`), systemClock);
  const atMost = plan.stored + Math.ceil(plan.segmentClaims / 2);
  const stored = new StoredPushes(house, atMost);
  const random = seededRandom(seed);

  const segment = async (pattern: ClaimPattern) => {
    await stored.fillTo(atMost);
    house.db.truncateLog();
    const tokens = stored.take(pattern, plan.segmentClaims, random);
    const claimMs = await stored.claimAll(tokens);
    const startedAt = performance.now();
    house.db.truncateLog();
    return (tokens.length / (claimMs + performance.now() - startedAt)) * 1_000;
  };

  const rates = { recent: [] as number[], uniform: [] as number[] };
  await segment("recent");
  for (let at = 0; at < plan.segments; at += 1) {
    rates.recent.push(await segment("recent"));
    rates.uniform.push(await segment("uniform"));
  }
  await house.close();
  return { recent: median(rates.recent), uniform: median(rates.uniform) };
}
