import type { AdminEntry } from "../../accounts/accounts.ts";
import { brandingParts } from "../../branding/branding.ts";
import { pageOf } from "../../http/parameters.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { ruleNames } from "../../policies/policies.ts";
import { List } from "../lists/list.tsx";
import type { Page, PageContext } from "../page.ts";
import { EmailAddress } from "../parts/email-address.tsx";
import { LocalTime } from "../parts/times.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths } from "./frame.tsx";

/** `GET /admin/trail` */
export async function showTrail(page: SignedInRequest): Promise<Reply> {
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
        caption={admin.trail}
        rows={entries}
        class="admin-trail"
        columns={[
          { label: admin.trailAction, long: true, value: (entry) => <div dir="auto">{sentenceOf(entry, page)}</div> },
          {
            label: admin.trailBy,
            long: true,
            value: (entry) => (
              <bdi>
                <EmailAddress email={causeOf(entry, admin.shell)} />
              </bdi>
            ),
          },
          { label: admin.trailAddress, value: ({ address }) => address && <bdi dir="ltr">{address}</bdi> },
          {
            label: admin.trailTime,
            value: ({ createdAt }) => <LocalTime timeMs={createdAt} />,
          },
        ]}
        empty={<p>{admin.noTrail}</p>}
        at={{ path: adminPaths.trail }}
        paging={{ number, hasMore: entries.length === pageSize }}
      />
    </AdminFrame>
  );
}

/** What the provider does has no user: a sign-on is refused before there is one. The entry has a name instead. */
function causeOf({ action, adminId, adminEmail }: AdminEntry, shell: string): string {
  const isByProvider = action === "refused_sign_on" || action.startsWith("scim_");
  return adminId === null && !isByProvider ? shell : adminEmail;
}

function sentenceOf({ action, subject }: AdminEntry, { messages }: PageContext): string {
  const sentence = messages.admin.trailActions[action];
  return typeof sentence === "string" ? sentence : sentence({ subject: shownSubject(action, subject, messages) });
}

function shownSubject(action: AdminEntry["action"], subject: string, messages: Messages): string {
  const { admin } = messages;
  if (action === "changed_rules") return shownRules(subject, messages);
  if (action !== "changed_branding") return subject.replace("sharesActivity: true", admin.groupsPage.sharesActivity);
  const parts = { name: admin.productName, logo: admin.logo, accent: admin.accent, style: admin.style };
  const part = brandingParts.find((name) => name === subject);
  return part === undefined ? subject : parts[part];
}

/** Entries have the names of rules and JSON (`describeChange`), so that each reader gets them in their own language. */
function shownRules(subject: string, { admin, kinds, problems }: Messages): string {
  const { fields, yes, no } = admin.rulesPage;
  const signUp = { "sign-up: open": admin.steps.openSignUp, "sign-up: closed": admin.steps.closeSignUp }[subject];
  if (signUp !== undefined) return signUp;
  return subject.replaceAll(/(\w+): (\S+) → ([^\s;]+)/g, (written: string, name: string, ...values: string[]) => {
    const rule = ruleNames.find((known) => known === name);
    if (rule === undefined) return written;
    const shown = (value = "") => {
      if (value === "null") return "–";
      // As the form shows it: the box is on where common passphrases are refused.
      if (value === "true" || value === "false")
        return (value === "true") === (rule !== "passphraseCommonAllowed") ? yes : no;
      const parts = value.replaceAll(/[[\]"]/g, "").split(",");
      return parts.map((part) => Object.entries(kinds).find(([kind]) => kind === part)?.[1] ?? part).join(", ");
    };
    return problems.of({ field: fields[rule], problem: `${shown(values[0])} → ${shown(values[1])}` });
  });
}
