import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureClaimRates } from "./claim-rates.ts";
import { describeMachine } from "./machine.ts";
import { readOptions } from "./options.ts";
import { type Figure, publish } from "./report.ts";

/** Claims among ten million stored pushes on SQLite. Most are copies: creating them all would take an hour. */

const options = readOptions(process.argv.slice(2));
const plan = options.short
  ? { sizes: { small: 300, large: 12_000 }, copies: 9, segmentClaims: 50, warmUpSegments: 0, segments: 3 }
  : { sizes: { small: 10_000, large: 10_000_000 }, copies: 99, segmentClaims: 2_500, warmUpSegments: 4, segments: 8 };

const machine = describeMachine();
const folder = mkdtempSync(join(tmpdir(), "sealpush-bench-"));
const { recent, uniform } = await measureClaimRates(folder, plan);
rmSync(folder, { recursive: true });

const { small, large } = plan.sizes;
process.exitCode = publish(
  {
    benchmark: "Claims among ten million pushes",
    short: options.short,
    machine,
    conditions: [
      "the domain in one process without HTTP, full durability, 64 claims at a time of one-view pushes; two domains whose " +
        `segments take turns, ${plan.segmentClaims} claims and a checkpoint each, ${plan.segments} of a kind, medians`,
      `of ${large} stored pushes, ${large / (1 + plan.copies)} were created and may be claimed, in blocks between copies`,
    ],
    figures: Object.entries({ recent, uniform }).flatMap(([pattern, rates]): Figure[] => [
      { name: `${pattern}: claim rate, large against small`, value: rates.ratio, unit: "x" },
      { name: `${pattern}: CPU per claim, large against small`, value: rates.cpuRatio, unit: "x" },
      { name: `${pattern}: claims at ${small} stored`, value: rates.small.perSecond, unit: "/s" },
      { name: `${pattern}: claims at ${large} stored`, value: rates.large.perSecond, unit: "/s" },
      { name: `${pattern}: CPU per claim at ${small} stored`, value: rates.small.cpuMicros, unit: "us" },
      { name: `${pattern}: CPU per claim at ${large} stored`, value: rates.large.cpuMicros, unit: "us" },
    ]),
    broken: [],
  },
  options.json,
);
