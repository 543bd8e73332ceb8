import type { FastifyReply } from "fastify";
import type { AdminEntry } from "../../accounts/accounts.ts";
import { brandingParts } from "../../branding/branding.ts";
import { pageOf } from "../../http/parameters.ts";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Pager } from "../parts/pager.tsx";
import { LocalTime } from "../parts/times.tsx";
import type { SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths } from "./frame.tsx";

/** `GET /admin/trail` */
export async function showTrail(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts } = page.services;
  const number = pageOf(page.request);
  const model = { page: number, entries: await accounts.listAdminEntries(number) };
  return page.render(trailView, model, { selfPath: adminPaths.trail });
}

interface TrailModel {
  readonly entries: readonly AdminEntry[];
  readonly page: number;
}

/** Entries on a full page. */
const pageSize = 50;

export function trailView({ entries, page: number }: TrailModel, page: PageContext): Page {
  const { admin } = page.messages;
  const hasMore = entries.length === pageSize;
  const hrefOf = (to: number) => pageHref(page, `${adminPaths.trail}?page=${to}`);
  return (
    <AdminFrame page={page} current="trail" lead={admin.trailLead}>
      {entries.length === 0 ? (
        <p>{admin.noTrail}</p>
      ) : (
        <div class="card table-card">
          <table class="data-table">
            <caption class="visually-hidden">{admin.trail}</caption>
            <thead>
              <tr>
                <th scope="col">{admin.trailAction}</th>
                <th scope="col">{admin.trailBy}</th>
                <th scope="col">{admin.trailAddress}</th>
                <th scope="col">{admin.trailTime}</th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry, at) => (
                <tr key={at}>
                  <th scope="row" dir="auto">
                    {sentenceOf(entry, page)}
                  </th>
                  <td data-label={admin.trailBy}>
                    <bdi>{causeOf(entry, admin.shell)}</bdi>
                  </td>
                  <td data-label={admin.trailAddress}>
                    <bdi dir="ltr">{entry.address}</bdi>
                  </td>
                  <td data-label={admin.trailTime}>
                    <LocalTime timeMs={entry.createdAt} messages={page.messages} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pager messages={page.messages} number={number} hasMore={hasMore} hrefOf={hrefOf} />
    </AdminFrame>
  );
}

/** What the provider does has no user: a sign-on is refused before there is one. The entry has a name instead. */
function causeOf({ action, adminId, adminEmail }: AdminEntry, shell: string): string {
  const isByProvider = action === "refused_sign_on" || action.startsWith("scim_");
  return adminId === null && !isByProvider ? shell : adminEmail;
}

function sentenceOf({ action, subject }: AdminEntry, { messages: { admin } }: PageContext): string {
  const parts = { name: admin.productName, logo: admin.logo, accent: admin.accent, style: admin.style };
  const part = brandingParts.find((name) => name === subject);
  const shownBranding = action === "changed_branding" && part !== undefined ? parts[part] : subject;
  const sentence = admin.trailActions[action];
  return typeof sentence === "string" ? sentence : sentence({ subject: shownBranding });
}
