import type { FastifyReply } from "fastify";
import type { Health } from "../../health.ts";
import type { PushTotals } from "../../pushes/pushes.ts";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { Notice } from "../parts/notice.tsx";
import type { SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths } from "./frame.tsx";

/** `GET /admin` */
export async function showOverview(page: SignedInRequest): Promise<FastifyReply> {
  const { health, pushes, mail, version } = page.services;
  const [healthNow, totals, mails] = await Promise.all([health(), pushes.totals(), mail.sizes()]);
  const model = { version, health: healthNow, pushes: totals, mails };
  return page.render(overviewView, model, { selfPath: adminPaths.overview });
}

interface OverviewModel {
  readonly version: string;
  readonly health: Health;
  readonly pushes: PushTotals;
  readonly mails: { readonly waiting: number; readonly failed: number };
}

export function overviewView({ version, health, pushes, mails }: OverviewModel, page: PageContext): Page {
  const { admin, formats } = page.messages;
  const { bytes, number } = formats;
  return (
    <AdminFrame page={page} current="overview" lead={admin.overviewLead}>
      {health.diskFreeBytes < health.diskFloorBytes && (
        <Notice tone="warning" icon="alert">
          <p>{admin.diskLow({ floor: bytes(health.diskFloorBytes) })}</p>
        </Notice>
      )}
      <dl class="card admin-facts">
        <Fact label={admin.version}>{version}</Fact>
        <Fact label={admin.database}>{health.databaseAnswers ? admin.databaseAnswers : admin.databaseSilent}</Fact>
        <Fact label={admin.databaseSize}>{bytes(health.databaseBytes)}</Fact>
        <Fact label={admin.diskFree}>
          {admin.diskOf({ free: bytes(health.diskFreeBytes), total: bytes(health.diskTotalBytes) })}
        </Fact>
        <Fact label={admin.processes}>{number(health.processes)}</Fact>
        <Fact label={admin.livePushes}>{number(pushes.live)}</Fact>
        <Fact label={admin.endedPushes}>{number(pushes.ended)}</Fact>
        <Fact label={admin.files}>{admin.filesOf({ count: pushes.files, size: bytes(pushes.fileBytes) })}</Fact>
        <Fact label={admin.filesToDelete}>{number(pushes.filesToDelete)}</Fact>
        <Fact label={admin.uploads}>{number(pushes.uploads)}</Fact>
        <Fact label={admin.mailsWaiting}>{number(mails.waiting)}</Fact>
        <Fact label={admin.mailsFailed}>
          <a href={pageHref(page, adminPaths.mails)}>{number(mails.failed)}</a>
        </Fact>
      </dl>
    </AdminFrame>
  );
}
