import type { FastifyReply } from "fastify";
import type { AdminEntry } from "../../accounts/accounts.ts";
import { brandingParts } from "../../branding/branding.ts";
import { pageOf } from "../../http/parameters.ts";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Pager } from "../parts/pager.tsx";
import { BothTimes } from "../parts/times.tsx";
import type { SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths } from "./frame.tsx";

/** `GET /admin/trail` */
export async function showTrail(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts, clock } = page.services;
  const number = pageOf(page.request);
  const model = { page: number, entries: await accounts.listAdminEntries(number), nowMs: clock.now() };
  return page.render(trailView, model, { selfPath: adminPaths.trail });
}

interface TrailModel {
  readonly entries: readonly AdminEntry[];
  readonly page: number;
  readonly nowMs: number;
}

/** Entries on a full page. */
const pageSize = 50;

export function trailView({ entries, page: number, nowMs }: TrailModel, page: PageContext): Page {
  const { admin } = page.messages;
  const hasMore = entries.length === pageSize;
  const hrefOf = (to: number) => pageHref(page, `${adminPaths.trail}?page=${to}`);
  return (
    <AdminFrame page={page} current="trail" lead={admin.trailLead}>
      {entries.length === 0 ? (
        <p>{admin.noTrail}</p>
      ) : (
        <ol class="card admin-rows">
          {entries.map((entry, at) => (
            <li key={at} class="row">
              <p class="row-title" dir="auto">
                {sentenceOf(entry, page)}
              </p>
              <p class="admin-by">
                <span dir="auto">{entry.adminId === null ? admin.shell : entry.adminEmail}</span>
                {entry.address !== "" && <span dir="ltr">{entry.address}</span>}
                <BothTimes timeMs={entry.createdAt} nowMs={nowMs} messages={page.messages} />
              </p>
            </li>
          ))}
        </ol>
      )}
      <Pager messages={page.messages} number={number} hasMore={hasMore} hrefOf={hrefOf} />
    </AdminFrame>
  );
}

function sentenceOf({ action, subject }: AdminEntry, { messages: { admin } }: PageContext): string {
  const parts = { name: admin.productName, logo: admin.logo, style: admin.style };
  const part = brandingParts.find((name) => name === subject);
  const shownSubject = action === "changed_branding" && part !== undefined ? parts[part] : subject;
  const sentence = admin.trailActions[action];
  return typeof sentence === "string" ? sentence : sentence({ subject: shownSubject });
}
