import type { Database, InTransaction } from "./database.ts";
import { sql } from "./statement.ts";
import { harmless, integer, nullable, type RowOf, reasons, Table, text, withDefault } from "./table.ts";

/** The background jobs. Every process runs all of them. */
export const jobNames = [
  "heartbeat",
  "requested runs",
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

export function isJobName(name: string): name is JobName {
  return jobNames.some((known) => known === name);
}

const { job, shown } = reasons;

const jobRunColumns = {
  name: harmless(text, job),
  everyMs: harmless(integer, shown),
  startedAt: harmless(nullable(integer), shown),
  succeededAt: harmless(nullable(integer), shown),
  durationMs: harmless(nullable(integer), shown),
  failedAt: harmless(nullable(integer), shown),
  failure: harmless(nullable(text), shown),
};
const jobRuns = new Table("job_runs", jobRunColumns);
/** With the column that only statements use. */
export const requestedRuns = new Table("job_runs", {
  ...jobRunColumns,
  requested: harmless(withDefault(integer, 0), job),
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
const requestRun = sql<[name: string]>("UPDATE job_runs SET requested = 1 WHERE name = ?");
const requestedNames = sql<[], { name: string }>("SELECT name FROM job_runs WHERE requested = 1 ORDER BY name");
const takeRequest = sql<[name: string]>("UPDATE job_runs SET requested = 0 WHERE name = ? AND requested = 1");

export type JobRuns = ReturnType<typeof createJobRuns>;

/** What is known about the background jobs of all processes, and the requests to run one now. */
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

    /**
     * One of the running processes runs the job within about a second.
     * @param together written in the same transaction. @returns false: no server has ever started on this database.
     */
    request: (name: JobName, together: InTransaction): Promise<boolean> =>
      db.write(async (tx) => {
        if ((await tx.run(requestRun, name)) !== 1) return false;
        await together(tx);
        return true;
      }),

    /** The requested jobs that this process must run: of several processes, one gets each request. */
    async takeRequests(): Promise<readonly JobName[]> {
      const taken: JobName[] = [];
      for (const { name } of await db.read.all(requestedNames)) {
        const isTaken = (await db.autocommit({ retry: "whenNotExecuted" }).run(takeRequest, name)) === 1;
        if (isTaken && isJobName(name)) taken.push(name);
      }
      return taken;
    },
  };
}

/** When a job runs next, unless it is still running; undefined: it has never started. */
export function nextRunOf({ startedAt, everyMs }: Pick<JobRun, "startedAt" | "everyMs">, now: number) {
  if (startedAt === null) return undefined;
  const intervals = Math.max(1, Math.ceil((now - startedAt) / everyMs));
  return startedAt + intervals * everyMs;
}
