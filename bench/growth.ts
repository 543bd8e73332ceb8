import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureClaimRates } from "./claim-rates.ts";
import { describeMachine } from "./machine.ts";
import { readOptions } from "./options.ts";
import { publish } from "./report.ts";
import { measureSweepLatencies } from "./sweep-latency.ts";

/** Whether a full house is as fast as an empty one, and whether its sweeper can be felt. */

const options = readOptions(process.argv.slice(2));
const segments = { segmentClaims: 2_500, segments: 9 };
const plan = options.short
  ? {
      small: { stored: 300, segmentClaims: 50, segments: 3 },
      large: { stored: 1_200, segmentClaims: 50, segments: 3 },
      sweep: { expired: 500, claimsPerSecond: 500, calmMs: 300, claimsMax: 500 },
    }
  : {
      small: { stored: 10_000, ...segments },
      large: { stored: 1_000_000, ...segments },
      sweep: { expired: 100_000, claimsPerSecond: 2_000, calmMs: 8_000, claimsMax: 60_000 },
    };

const machine = describeMachine();
const folder = mkdtempSync(join(tmpdir(), "sealpush-bench-"));
const sweeping = await measureSweepLatencies(folder, plan.sweep);
const small = await measureClaimRates(folder, plan.small);
const large = await measureClaimRates(folder, plan.large);
rmSync(folder, { recursive: true });

const p99 = { calm: sweeping.calm.percentile(0.99), sweeping: sweeping.sweeping.percentile(0.99) };
const unswept = plan.sweep.expired - sweeping.ended;
process.exitCode = publish(
  {
    benchmark: "Claims in a growing house",
    short: options.short,
    machine,
    conditions: [
      `the domain in one process without HTTP, full durability; one-view pushes, segments of ${plan.small.segmentClaims} ` +
        `claims with a checkpoint each, ${plan.small.segments} of a kind, medians`,
      `sweep: ${plan.sweep.expired} expired pushes beside ${plan.sweep.claimsPerSecond} claims a second, timed from when they were due`,
    ],
    figures: [
      {
        name: "claim rate at the large size against the small, recent",
        value: large.recent / small.recent,
        unit: "x",
        wanted: { atLeast: 0.9 },
      },
      {
        name: "claim rate at the large size against the small, uniform",
        value: large.uniform / small.uniform,
        unit: "x",
      },
      { name: `claims at ${plan.small.stored} stored, 80 % among the newest 5 %`, value: small.recent, unit: "/s" },
      { name: `claims at ${plan.large.stored} stored, 80 % among the newest 5 %`, value: large.recent, unit: "/s" },
      { name: `claims at ${plan.small.stored} stored, uniform`, value: small.uniform, unit: "/s" },
      { name: `claims at ${plan.large.stored} stored, uniform`, value: large.uniform, unit: "/s" },
      {
        name: "p99 of claims during the sweep against before",
        value: p99.sweeping / p99.calm,
        unit: "x",
        wanted: { atMost: 2 },
      },
      { name: "p99 of claims before the sweep", value: p99.calm / 1_000, unit: "ms" },
      { name: "p99 of claims during the sweep", value: p99.sweeping / 1_000, unit: "ms" },
      { name: "claims during the sweep", value: sweeping.sweeping.count, unit: "" },
      { name: "the sweep took", value: sweeping.sweepMs / 1_000, unit: "s" },
    ],
    broken: unswept === 0 ? [] : [`${unswept} expired pushes were not swept`],
  },
  options.json,
);
