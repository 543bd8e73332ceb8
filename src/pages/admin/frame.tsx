import type { ComponentChildren } from "preact";
import type { Administrator } from "../../accounts/accounts.ts";
import { Layout, type LayoutProps } from "../layout.tsx";
import { type AdminSection, type PageContext, pageHref } from "../page.ts";
import type { SignedInRequest } from "../request.ts";

/** The administrator who acts, for the administrators' audit trail. */
export function administratorOf(page: SignedInRequest): Administrator {
  const { id, email } = page.user;
  return { userId: id, email, address: page.actor.address };
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

/** The rules of the users who are in no group. */
export const otherRulesPath = `${adminPaths.groups}/else/rules`;

interface AdminFrameProps {
  readonly page: PageContext;
  readonly current: AdminSection["name"];
  /** What the page is about; the section by default. */
  readonly heading?: ComponentChildren;
  readonly lead: string;
  readonly scripts?: LayoutProps["scripts"];
  /** See the layout. */
  readonly asksFirstAt?: LayoutProps["asksFirstAt"];
  readonly children: ComponentChildren;
}

/** The layout of every administration page: the links to all of them, and a heading. */
export function AdminFrame({ page, current, heading, lead, scripts = [], asksFirstAt, children }: AdminFrameProps) {
  const { admin } = page.messages;
  return (
    <Layout
      page={page}
      title={admin[current]}
      privatePage
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
      <div class="page-heading">
        <h1>{heading ?? admin[current]}</h1>
        <p class="lead">{lead}</p>
      </div>
      {children}
    </Layout>
  );
}
