import { isFailing, type JobRun, nextRunOf } from "../../database/job-runs.ts";
import { type Column, List } from "../lists/list.tsx";
import { type Page, type PageContext, type PartProps, pageHref, useMessages } from "../page.ts";

import { Card } from "../parts/card.tsx";
import { Fact } from "../parts/fact.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostButton } from "../parts/post-form.tsx";
import { RowTime } from "../parts/times.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths, entryOf } from "./frame.tsx";

export const jobPaths = {
  retryEmails: `${adminPaths.jobs}/retry_emails`,
  retryDeletions: `${adminPaths.jobs}/retry_deletions`,
} as const;

/** Every outcome that the page shows after a button was pressed; it is in the query of the address. */
const outcomes = ["retried", "nothing"] as const;
type Outcome = (typeof outcomes)[number];

/** `GET /admin/jobs` */
export async function showJobs(page: SignedInRequest): Promise<Reply> {
  return page.render(jobsView, await jobsModel(page), { selfPath: adminPaths.jobs });
}

type JobsModel = Awaited<ReturnType<typeof jobsModel>>;

async function jobsModel(page: SignedInRequest) {
  const { jobs, mail, pushes, health, clock } = page.services;
  const [runs, mails, errors, deletions, { processes }] = await Promise.all([
    jobs.list(),
    mail.sizes(),
    mail.errorCounts(),
    pushes.deletionCounts(),
    health(),
  ]);
  return {
    /** Empty until the first heartbeat of a server. */
    runs,
    mails,
    /** The last errors of emails, the most frequent first. */
    errors,
    deletions,
    /** Running processes; without one, no job has a next run. */
    processes,
    outcome: outcomes.find((name) => name === page.query("done")) ?? null,
    nowMs: clock.now(),
  };
}

/** `POST /admin/jobs/retry_emails` */
export async function retryEmails(page: SignedInRequest): Promise<Reply> {
  await page.form();
  const count = await page.services.mail.retryAll(entryOf(page, "retried_mails", ""));
  return back(page, count > 0 ? "retried" : "nothing");
}

/** `POST /admin/jobs/retry_deletions` */
export async function retryDeletions(page: SignedInRequest): Promise<Reply> {
  await page.form();
  const count = await page.services.pushes.retryDeletions(entryOf(page, "retried_deletions", ""));
  return back(page, count > 0 ? "retried" : "nothing");
}

function back(page: SignedInRequest, outcome: Outcome): Reply {
  return page.redirect(`${adminPaths.jobs}?done=${outcome}`);
}

export function jobsView(model: JobsModel, page: PageContext): Page {
  const { admin, formats } = page.messages;
  const { outcome, mails, deletions, errors } = model;
  const texts = { retried: admin.jobRetried, nothing: admin.jobNothing };
  return (
    <AdminFrame page={page} current="jobs" lead={admin.jobsLead}>
      {outcome !== null && (
        <Notice tone={outcome === "nothing" ? "info" : "success"} icon="check" alert text={texts[outcome]} />
      )}
      {/* What waits for the jobs, and what has failed. */}
      <Card id="job_queues" heading={admin.jobQueues}>
        <dl class="facts">
          <Fact label={admin.mailsWaiting} value={formats.number(mails.waiting)} />
          <Fact
            label={admin.mailsFailed}
            value={<a href={pageHref(page, adminPaths.mails)}>{formats.number(mails.failed)}</a>}
          />
          <Fact label={admin.filesToDelete} value={formats.number(deletions.waiting)} />
          <Fact label={admin.deletionsFailed} value={formats.number(deletions.failed)} />
        </dl>
        {errors.length > 0 && (
          <div>
            <h3 class="aside-heading">{admin.emailErrors}</h3>
            <ul class="stack-small">
              {errors.map(({ error, waiting, failed }) => (
                <li key={error}>
                  <span lang="en" dir="ltr">
                    {error}
                  </span>{" "}
                  <span class="field-hint">{admin.emailErrorCounts({ waiting, failed })}</span>
                </li>
              ))}
            </ul>
          </div>
        )}
        <div class="row-actions">
          {mails.failed > 0 && (
            <PostButton action={jobPaths.retryEmails} label={admin.retryEmails} icon="again" look="action" />
          )}
          {deletions.failed > 0 && (
            <PostButton action={jobPaths.retryDeletions} label={admin.retryDeletions} icon="again" look="action" />
          )}
        </div>
      </Card>
      <Card id="job_list" heading={admin.jobList}>
        <JobLists model={model} />
      </Card>
    </AdminFrame>
  );
}

/** The jobs that fail; the others on demand. */
function JobLists({ model }: PartProps<JobsModel>) {
  const { admin } = useMessages();
  const { runs } = model;
  const failing = runs.filter(isFailing);
  const healthy = runs.filter((run) => !isFailing(run));
  if (runs.length === 0) return <p>{admin.noJobs}</p>;
  return (
    <>
      {failing.length > 0 && <JobTable model={{ ...model, runs: failing }} />}
      {healthy.length > 0 && (
        <details class="disclosure">
          <summary>{admin.healthyJobs({ count: healthy.length })}</summary>
          <JobTable model={{ ...model, runs: healthy }} />
        </details>
      )}
    </>
  );
}

function JobTable({ model: { runs, processes, nowMs } }: PartProps<JobsModel>) {
  const { admin, formats } = useMessages();
  const failure: Column<JobRun> = {
    label: admin.jobFailure,
    long: true,
    value: ({ failure, failedAt }) =>
      failedAt !== null && (
        <>
          <code lang="en" dir="ltr">
            {failure}
          </code>{" "}
          <RowTime timeMs={failedAt} nowMs={nowMs} />
        </>
      ),
  };
  return (
    <List<JobRun>
      nowMs={nowMs}
      caption={{ headingId: "job_list" }}
      rows={runs}
      columns={[
        {
          label: admin.jobName,
          long: true,
          value: (run) => (
            <>
              {admin.jobNames[run.name]}{" "}
              <code class="badge" dir="ltr">
                {run.name}
              </code>
              {isFailing(run) && <span class="badge badge-danger">{admin.jobFailing}</span>}
            </>
          ),
        },
        { label: admin.jobInterval, narrow: "hidden", value: ({ everyMs }) => formats.duration(everyMs) },
        { label: admin.jobStarted, narrow: "hidden", time: ({ startedAt }) => startedAt, never: admin.never },
        { label: admin.jobSucceeded, time: ({ succeededAt }) => succeededAt, never: admin.never },
        {
          label: admin.jobDuration,
          narrow: "hidden",
          value: ({ durationMs }) => durationMs !== null && formats.duration(durationMs),
        },
        {
          label: admin.jobNext,
          long: true,
          time: (run) => (processes === 0 ? null : (nextRunOf(run, nowMs) ?? null)),
        },
        ...(runs.some(({ failedAt }) => failedAt !== null) ? [failure] : []),
      ]}
      empty={null}
    />
  );
}
