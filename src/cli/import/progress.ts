import type { CliIo } from "../cli-io.ts";

const progressEveryMs = 2_000;

export type Progress = (table: string, read: number, total: number) => void;

/** Prints or logs every few seconds, and at the end of each table. */
export function createProgress(io: CliIo, print: Progress): Progress {
  let printedAt = io.monotonicMs();
  return (table, read, total) => {
    const now = io.monotonicMs();
    if (read < total && now - printedAt < progressEveryMs) return;
    printedAt = now;
    print(table, read, total);
  };
}

export function printedProgress(io: CliIo): Progress {
  return (table, read, total) => io.stderr(`${table}: ${read} of ${total}\n`);
}
