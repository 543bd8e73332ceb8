import { parseArgs } from "node:util";

export interface BenchOptions {
  /** A few seconds in all: proves that the benchmark runs, measures nothing. */
  readonly short: boolean;
  /** Where the figures go as JSON, beside the printed table. */
  readonly json: string | undefined;
}

export function readOptions(parameters: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...parameters],
    options: { short: { type: "boolean", default: false }, json: { type: "string" } },
  });
  return { short: values.short, json: values.json };
}
