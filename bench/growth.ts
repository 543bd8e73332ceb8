import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureClaimRates } from "./claim-rates.ts";
import { measureLogPages } from "./log-pages.ts";
import { describeMachine } from "./machine.ts";
import { readOptions } from "./options.ts";
import { measurePostgresGrowth } from "./postgres-growth.ts";
import { publish } from "./report.ts";
import { measureSweepLatencies } from "./sweep-latency.ts";

/** Compares a full domain with an empty one, and measures the effect of the sweeper on claims. */

const options = readOptions(process.argv.slice(2));
const plan = options.short
  ? {
      rates: { sizes: { small: 300, large: 1_200 }, copies: 0, segmentClaims: 50, warmUpSegments: 0, segments: 3 },
      sweep: { expired: 500, claimsPerSecond: 500, calmMs: 300, claimsMax: 500 },
      serializedWritesMs: 200,
      log: { stored: 300, rounds: 3 },
    }
  : {
      rates: {
        sizes: { small: 10_000, large: 1_000_000 },
        copies: 0,
        segmentClaims: 2_500,
        warmUpSegments: 8,
        segments: 12,
      },
      sweep: { expired: 100_000, claimsPerSecond: 2_000, calmMs: 10_000, claimsMax: 60_000 },
      serializedWritesMs: 5_000,
      log: { stored: 20_000, rounds: 15 },
    };

const machine = describeMachine();
const folder = mkdtempSync(join(tmpdir(), "sealpush-bench-"));
const { recent, uniform } = await measureClaimRates(folder, plan.rates);
const logPages = await measureLogPages(folder, plan.log.stored, plan.log.rounds);
const sweeping = await measureSweepLatencies(folder, plan.sweep);
const onPostgres = await measurePostgresGrowth(folder, { ...plan.rates, serializedWritesMs: plan.serializedWritesMs });
rmSync(folder, { recursive: true });

const { small, large } = plan.rates.sizes;
const p99 = { calm: sweeping.calm.percentile(0.99), sweeping: sweeping.sweeping.percentile(0.99) };
const unswept = plan.sweep.expired - sweeping.ended;
process.exitCode = publish(
  {
    benchmark: "Claims in a growing domain",
    short: options.short,
    machine,
    conditions: [
      "the domain in one process without HTTP, full durability, 64 claims at a time of one-view pushes; two domains whose " +
        `segments take turns, ${plan.rates.segmentClaims} claims and a checkpoint each, ${plan.rates.segments} of a kind, medians`,
      `sweep: ${plan.sweep.expired} expired pushes beside ${plan.sweep.claimsPerSecond} claims a second, timed from when they were due`,
      "PostgreSQL: the bare statements of claims on 10 connections, fsync and synchronous_commit on, no checkpoint asked for",
    ],
    figures: [
      { name: "recent: claim rate, large against small", value: recent.ratio, unit: "x", wanted: { atLeast: 0.9 } },
      { name: "recent: CPU per claim, large against small", value: recent.cpuRatio, unit: "x" },
      { name: `recent: claims at ${small} stored`, value: recent.small.perSecond, unit: "/s" },
      { name: `recent: claims at ${large} stored`, value: recent.large.perSecond, unit: "/s" },
      { name: `recent: CPU per claim at ${small} stored`, value: recent.small.cpuMicros, unit: "us" },
      { name: `recent: CPU per claim at ${large} stored`, value: recent.large.cpuMicros, unit: "us" },
      { name: "uniform: claim rate, large against small", value: uniform.ratio, unit: "x", wanted: { atLeast: 0.8 } },
      { name: `uniform: claims at ${small} stored`, value: uniform.small.perSecond, unit: "/s" },
      { name: `uniform: claims at ${large} stored`, value: uniform.large.perSecond, unit: "/s" },
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
      { name: "pages in the log for 64 creates", value: logPages.create, unit: "", wanted: { atMost: 30 } },
      { name: `pages in the log for 64 claims at ${plan.log.stored} stored`, value: logPages.claim, unit: "" },
      ...onPostgres,
    ],
    broken: unswept === 0 ? [] : [`${unswept} expired pushes were not swept`],
  },
  options.json,
);
