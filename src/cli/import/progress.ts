import { join } from "node:path";
import type { CliIo } from "../cli-io.ts";

/** The default path of a report. Its name sorts by time. */
export function reportPath(dataDir: string, now: number): string {
  return join(dataDir, `import-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, "")}.json`);
}

const progressEveryMs = 2_000;

export type Progress = (table: string, read: number, total: number) => void;

/** Prints every few seconds, and at the end of each table. */
export function createProgress(
  io: CliIo,
  print: Progress = (table, read, total) => io.stderr(`${table}: ${read} of ${total}\n`),
): Progress {
  let printedAt = io.monotonicMs();
  return (table, read, total) => {
    const now = io.monotonicMs();
    if (read < total && now - printedAt < progressEveryMs) return;
    printedAt = now;
    print(table, read, total);
  };
}
