import type { Command } from "commander";
import { type JobRun, nextRunOf } from "../database/job-runs.ts";
import type { CommandDeps } from "./cli-io.ts";
import { shell, withData } from "./open-domain.ts";

export function addJobsCommands(program: Command, deps: CommandDeps): void {
  const jobs = program.command("jobs").description("Show the server's background jobs, and retry what has failed.");
  addList(jobs, deps);
  addRetries(jobs, deps);
}

const listHeader = ["job", "every ms", "last start", "last success", "took ms", "next run", "last failure", "failure"];

function addList(jobs: Command, { io }: CommandDeps): void {
  jobs
    .command("list")
    .description(
      "List the jobs with their latest runs, in columns separated by tabs, then what waits. Times are in UTC.",
    )
    .option("--json", "one JSON object per line instead of columns")
    .addHelpText("after", `\nRunning servers report every 10 seconds.`)
    .action(async ({ json }: { readonly json?: true }) => {
      await withData(io, async ({ jobs: runs, mail, pushes, health }) => {
        const isRunning = (await health()).processes > 0;
        const now = io.clock.now();
        if (json !== true) io.stdout(`${listHeader.join("\t")}\n`);
        for (const run of await runs.list()) {
          const nextAt = isRunning ? (nextRunOf(run, now) ?? null) : null;
          io.stdout(`${json === true ? JSON.stringify({ ...run, nextAt }) : columnsOf(run, nextAt).join("\t")}\n`);
        }
        const [emails, emailErrors, fileDeletions] = [
          await mail.sizes(),
          await mail.errorCounts(),
          await pushes.deletionCounts(),
        ];
        if (json === true) {
          io.stdout(`${JSON.stringify({ emails, emailErrors, fileDeletions })}\n`);
          return;
        }
        io.stdout(`Emails: ${emails.waiting} waiting, ${emails.failed} failed.\n`);
        for (const { error, waiting, failed } of emailErrors) {
          io.stdout(`  ${waiting} waiting, ${failed} failed: ${error}\n`);
        }
        io.stdout(`Files to delete: ${fileDeletions.waiting} waiting, of which ${fileDeletions.failed} have failed.\n`);
        if (!isRunning) io.stdout("No server is running, so no job is.\n");
      });
    });
}

function columnsOf(run: JobRun, nextAt: number | null): string[] {
  const time = (timeMs: number | null) => (timeMs === null ? "-" : new Date(timeMs).toISOString());
  const { name, everyMs, startedAt, succeededAt, durationMs, failedAt, failure } = run;
  return [
    name,
    String(everyMs),
    time(startedAt),
    time(succeededAt),
    durationMs === null ? "-" : String(durationMs),
    time(nextAt),
    time(failedAt),
    failure ?? "-",
  ];
}

function addRetries(jobs: Command, { io }: CommandDeps): void {
  jobs
    .command("retry-emails")
    .description("Send all failed emails again, whether a server runs or not: the next one sends them.")
    .action(() =>
      withData(io, async ({ accounts, mail }) => {
        const count = await mail.retryAll(accounts.adminEntry("retried_mails", "", shell));
        io.stdout(`${count} failed emails are due now.\n`);
      }),
    );
  jobs
    .command("retry-deletions")
    .description("Make deletions of stored files that have failed due now. The next sweep tries them.")
    .action(() =>
      withData(io, async ({ accounts, pushes }) => {
        const count = await pushes.retryDeletions(accounts.adminEntry("retried_deletions", "", shell));
        io.stdout(`${count} failed deletions are due now.\n`);
      }),
    );
}
