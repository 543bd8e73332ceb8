import { join } from "node:path";
import type { CliIo } from "../cli-io.ts";

/** A file name that sorts by time. */
export function reportPath(dataDir: string, now: number): string {
  return join(dataDir, `import-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, "")}.json`);
}

const progressEveryMs = 2_000;

export function createProgress(io: CliIo): (table: string, read: number, total: number) => void {
  let toldAt = io.monotonicMs();
  return (table, read, total) => {
    const now = io.monotonicMs();
    if (read < total && now - toldAt < progressEveryMs) return;
    toldAt = now;
    io.stderr(`${table}: ${read} of ${total}\n`);
  };
}

const problemLinesMax = 50;

/** There may be as many as rows: the report has them all. */
export function createProblemLines(io: CliIo, path: string | undefined) {
  let problems = 0;
  return {
    problem(line: string) {
      problems += 1;
      if (problems <= problemLinesMax) io.stderr(`${line}\n`);
    },
    end() {
      const more = problems - problemLinesMax;
      if (more <= 0) return;
      io.stderr(
        `and ${more} more${path === undefined ? ", which --report FILE would hold" : ", all in the report"}.\n`,
      );
    },
  };
}
