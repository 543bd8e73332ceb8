import type { ComponentChildren } from "preact";
import type { AdminEntry, Administrator } from "../../accounts/accounts.ts";
import type { InTransaction } from "../../database/database.ts";
import type { Group } from "../../policies/policies.ts";
import { Layout, type LayoutProps } from "../layout.tsx";
import { type AdminSection, type PageContext, pageHref, untranslated, usePage } from "../page.ts";
import { PageHeading } from "../parts/card.tsx";
import type { SignedInRequest } from "../request.ts";

/** The administrator who acts, for the administrators' audit trail. */
export function administratorOf(page: SignedInRequest): Administrator {
  const { id, email } = page.user;
  return { userId: id, email, address: page.actor.address };
}

/** The entry of the administrators' audit trail for what the request does. */
export function entryOf(page: SignedInRequest, action: AdminEntry["action"], subject: string): InTransaction {
  return page.services.accounts.adminEntry(action, subject, administratorOf(page));
}

/** The group of the path. @throws AppError not_found. */
export async function getGroup(page: SignedInRequest): Promise<Group> {
  return (await page.services.groups.find(page.id)) ?? page.notFound();
}

export const adminPath = "/admin";

/** The addresses that other pages link to. */
export const adminPaths = {
  overview: adminPath,
  users: `${adminPath}/users`,
  sessions: `${adminPath}/sessions`,
  groups: `${adminPath}/groups`,
  pushes: `${adminPath}/pushes`,
  mails: `${adminPath}/mails`,
  jobs: `${adminPath}/jobs`,
  settings: `${adminPath}/settings`,
  rules: `${adminPath}/rules`,
  presets: `${adminPath}/presets`,
  theme: `${adminPath}/look`,
  trail: `${adminPath}/trail`,
} as const;

export function groupPath(groupId: number): string {
  return `${adminPaths.groups}/${groupId}`;
}

/** The pages of a group, and where each is below the group's own. */
const groupTabs = { members: "", rules: "/rules", presets: "/presets", tokens: "/tokens" } as const;

/** The group that a page is about, and which of its pages that is. */
export interface GroupTab {
  /** undefined: the users who are in no group, who have rules only. */
  readonly id: number | undefined;
  readonly name: string;
  readonly current: keyof typeof groupTabs;
}

/** The rules of the users who are in no group. */
export const otherRulesPath = `${adminPaths.groups}/else/rules`;

interface AdminFrameProps {
  readonly page: PageContext;
  readonly current: AdminSection["name"];
  /** What the page is about; the group or the section by default. */
  readonly heading?: ComponentChildren;
  readonly group?: GroupTab;
  readonly lead: ComponentChildren;
  readonly scripts?: LayoutProps["scripts"];
  /** See the layout. */
  readonly asksFirstAt?: LayoutProps["asksFirstAt"];
  readonly children: ComponentChildren;
}

/** The layout of every administration page: the links to all of them, and a heading. */
export function AdminFrame(frame: AdminFrameProps) {
  const { page, current, group, heading, lead, scripts = [] } = frame;
  const { asksFirstAt, children } = frame;
  const { admin } = page.messages;
  const groupName = <bdi translate={group?.id === undefined ? undefined : untranslated}>{group?.name}</bdi>;
  return (
    <Layout
      page={page}
      title={admin[current]}
      width="wide"
      scripts={scripts}
      styles={["admin.css"]}
      {...(asksFirstAt !== undefined && { asksFirstAt })}
    >
      <nav class="segments section-tabs" aria-label={admin.sections}>
        {page.adminSections.map(({ name, path }) => (
          <a key={name} href={pageHref(page, path)} aria-current={name === current ? "page" : undefined}>
            {admin[name]}
          </a>
        ))}
      </nav>
      <PageHeading heading={heading ?? (group && groupName) ?? admin[current]} lead={lead} />
      {group?.id !== undefined && <GroupTabs id={group.id} current={group.current} />}
      {children}
    </Layout>
  );
}

function GroupTabs({ id, current }: Omit<GroupTab, "name"> & { readonly id: number }) {
  const page = usePage();
  const { admin } = page.messages;
  const text = admin.groupsPage;
  const labels = { members: text.members, rules: admin.rules, presets: admin.presets, tokens: text.service.heading };
  return (
    <nav class="segments section-tabs" aria-label={text.pages}>
      {(Object.keys(groupTabs) as GroupTab["current"][]).map((tab) => (
        <a
          key={tab}
          href={pageHref(page, `${groupPath(id)}${groupTabs[tab]}`)}
          aria-current={tab === current ? "page" : undefined}
        >
          {labels[tab]}
        </a>
      ))}
    </nav>
  );
}
