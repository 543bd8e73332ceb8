import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The cores of server and load generator; undefined: not pinned. */
export interface Cores {
  readonly server: number | undefined;
  readonly load: number | undefined;
  /** For the report. */
  readonly sentence: string;
}

/** On one core, the server and its load would slow each other down. */
export function assignCores(): Cores {
  const cores = availableParallelism();
  const taskset = spawnSync("taskset", ["-c", "0", "true"]).status === 0;
  if (taskset && cores >= 2) {
    return { server: 0, load: 1, sentence: "server pinned to core 0, load generator to core 1" };
  }
  const reason = taskset ? `only ${cores} core` : "no taskset";
  return { server: undefined, load: undefined, sentence: `NOT pinned to different cores (${reason})` };
}

/** The command line that starts Node on a core. */
export function nodeOn(core: number | undefined, parameters: readonly string[]): readonly [string, string[]] {
  const node = process.execPath;
  return core === undefined ? [node, [...parameters]] : ["taskset", ["-c", String(core), node, ...parameters]];
}
