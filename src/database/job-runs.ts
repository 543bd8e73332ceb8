import type { Database } from "./database.ts";
import { sql } from "./statement.ts";
import { harmless, integer, nullable, type RowOf, reasons, Table, text } from "./table.ts";

/** The background jobs. Every process runs all of them. */
export const jobNames = [
  "heartbeat",
  "database clock",
  "sweep",
  "claim retries",
  "download tickets",
  "mail",
  "view notifications",
  "bulk endings",
  "theme",
  "failed emails",
  "unused links",
  "sessions",
  "limits",
  "sign-on steps",
  "old requests",
] as const;

export type JobName = (typeof jobNames)[number];

const { job, shown } = reasons;

export const jobRuns = new Table("job_runs", {
  name: harmless(text, job),
  everyMs: harmless(integer, shown),
  startedAt: harmless(nullable(integer), shown),
  succeededAt: harmless(nullable(integer), shown),
  durationMs: harmless(nullable(integer), shown),
  failedAt: harmless(nullable(integer), shown),
  failure: harmless(nullable(text), shown),
});

/**
 * The latest runs of a job over all processes. null: never. `durationMs`: of the latest success. `failure`: the class and
 * the code of an error, never its message, which may quote data.
 */
export type JobRun = Omit<RowOf<typeof jobRuns>, "name"> & { readonly name: JobName };

/** Each part stays that of the latest run, whichever process reports first. */
const isLater = (column: string) => `coalesce(excluded.${column}, 0) > coalesce(known.${column}, 0)`;
const latest = (column: string, by: string) =>
  `${column} = CASE WHEN ${isLater(by)} THEN excluded.${column} ELSE known.${column} END`;
const recordRun = sql<
  [
    name: string,
    everyMs: number,
    startedAt: number | null,
    succeededAt: number | null,
    durationMs: number | null,
    failedAt: number | null,
    failure: string | null,
  ]
>(
  `INSERT INTO job_runs AS known (${jobRuns.columnNames.join(", ")}) VALUES (?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (name) DO UPDATE SET every_ms = excluded.every_ms, ${latest("started_at", "started_at")},
     ${latest("succeeded_at", "succeeded_at")}, ${latest("duration_ms", "succeeded_at")},
     ${latest("failed_at", "failed_at")}, ${latest("failure", "failed_at")}`,
);
const allRuns = jobRuns.select("ORDER BY name");

export type JobRuns = ReturnType<typeof createJobRuns>;

/** What is known about the background jobs of all processes. */
export function createJobRuns(db: Database) {
  return {
    /** @param runs in any order. All processes write them in the same order, which prevents deadlocks. */
    async record(runs: readonly JobRun[]): Promise<void> {
      if (runs.length === 0) return;
      const ordered = runs.toSorted((one, other) => (one.name < other.name ? -1 : 1));
      await db.write(async (tx) => {
        for (const { name, everyMs, startedAt, succeededAt, durationMs, failedAt, failure } of ordered) {
          await tx.run(recordRun, name, everyMs, startedAt, succeededAt, durationMs, failedAt, failure);
        }
      });
    },

    /** In the order of `jobNames`; empty before the first start of a server. */
    async list(): Promise<readonly JobRun[]> {
      const rows = (await db.read.all(allRuns)).map((row) => jobRuns.decode(row));
      return jobNames.flatMap((name) => {
        const row = rows.find((candidate) => candidate.name === name);
        return row === undefined ? [] : [{ ...row, name }];
      });
    },
  };
}

export function isFailing({ failedAt, succeededAt }: Pick<JobRun, "failedAt" | "succeededAt">): boolean {
  return failedAt !== null && failedAt >= (succeededAt ?? 0);
}

/** When a job runs next, unless it is still running; undefined: it has never started. */
export function nextRunOf({ startedAt, everyMs }: Pick<JobRun, "startedAt" | "everyMs">, now: number) {
  if (startedAt === null) return undefined;
  const intervals = Math.max(1, Math.ceil((now - startedAt) / everyMs));
  return startedAt + intervals * everyMs;
}
