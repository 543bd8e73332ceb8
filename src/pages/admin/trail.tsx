import type { FastifyReply } from "fastify";
import type { AdminEntry } from "../../accounts/accounts.ts";
import { brandingParts } from "../../branding/branding.ts";
import { pageOf } from "../../http/parameters.ts";
import { List, listPath } from "../lists/list.tsx";
import type { Page, PageContext } from "../page.ts";
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
  return (
    <AdminFrame page={page} current="trail" lead={admin.trailLead}>
      <List
        page={page}
        caption={admin.trail}
        rows={entries}
        fit="values"
        columns={[
          { label: admin.trailAction, long: true, value: (entry) => <div dir="auto">{sentenceOf(entry, page)}</div> },
          { label: admin.trailBy, long: true, value: (entry) => <bdi>{causeOf(entry, admin.shell)}</bdi> },
          { label: admin.trailAddress, value: ({ address }) => address && <bdi dir="ltr">{address}</bdi> },
          {
            label: admin.trailTime,
            value: ({ createdAt }) => <LocalTime timeMs={createdAt} messages={page.messages} />,
          },
        ]}
        empty={<p>{admin.noTrail}</p>}
        paging={{
          number,
          hasMore: entries.length === pageSize,
          path: (to) => listPath(adminPaths.trail, { page: to }),
        }}
      />
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
