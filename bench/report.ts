import { writeFileSync } from "node:fs";
import type { Machine } from "./machine.ts";

/** One figure of a benchmark; `wanted` is its goal, if there is one. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly wanted?: { readonly atLeast: number } | { readonly atMost: number };
}

export interface Report {
  readonly benchmark: string;
  readonly short: boolean;
  readonly machine: Machine;
  readonly conditions: readonly string[];
  readonly figures: readonly Figure[];
  /** Problems that make the figures unusable; a missed goal does not. */
  readonly broken: readonly string[];
}

/** Prints the report and optionally writes it as JSON. @returns the exit code: 1 only if something is broken. */
export function publish(report: Report, json: string | undefined): number {
  const { machine } = report;
  console.log(`\n${report.benchmark}${report.short ? " (short: shows only that it runs)" : ""}`);
  console.log(
    `${machine.cores} cores ${machine.processor}, ${machine.memoryGib} GiB, Linux ${machine.kernel}, Node ${machine.node}, ` +
      `${machine.fileSystem}, sync of 4 KiB ${machine.syncMicros} us, load average before ${machine.loadAverage.toFixed(2)}`,
  );
  for (const condition of report.conditions) console.log(condition);
  const width = Math.max(...report.figures.map((figure) => figure.name.length));
  for (const figure of report.figures) {
    console.log(
      `  ${figure.name.padEnd(width)}  ${shown(figure).padStart(16)}  ${report.short ? "" : verdict(figure)}`,
    );
  }
  for (const problem of report.broken) console.error(`BROKEN: ${problem}`);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, undefined, 2)}\n`);
  return report.broken.length === 0 ? 0 : 1;
}

function shown({ value, unit }: Figure): string {
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return `${value.toFixed(digits)} ${unit}`;
}

function verdict({ value, wanted }: Figure): string {
  if (wanted === undefined) return "";
  const met = "atLeast" in wanted ? value >= wanted.atLeast : value <= wanted.atMost;
  const goal = "atLeast" in wanted ? `at least ${wanted.atLeast}` : `at most ${wanted.atMost}`;
  return `wanted ${goal}: ${met ? "met" : "MISSED"}`;
}
