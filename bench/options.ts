import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Takes a few seconds: shows that the benchmark runs, but measures nothing. */
  readonly short: boolean;
  /** The file for the results as JSON, in addition to the printed table. */
  readonly json: string | undefined;
}

export function readOptions(parameters: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...parameters],
    options: { short: { type: "boolean", default: false }, json: { type: "string" } },
  });
  return { short: values.short, json: values.json };
}
