import type { ComponentChildren } from "preact";
import { Layout } from "../layout.tsx";
import { type PageContext, pageHref } from "../page.ts";

export const adminPath = "/admin";

export const adminPaths = {
  overview: adminPath,
  users: `${adminPath}/users`,
  pushes: `${adminPath}/pushes`,
  mails: `${adminPath}/mails`,
  settings: `${adminPath}/settings`,
  theme: `${adminPath}/look`,
  trail: `${adminPath}/trail`,
} as const;

export type AdminPageName = keyof typeof adminPaths;

export interface AdminFrameProps {
  readonly page: PageContext;
  readonly current: AdminPageName;
  readonly lead: string;
  readonly children: ComponentChildren;
}

/** The frame of every page of administration: where one is, and where else one can go. */
export function AdminFrame({ page, current, lead, children }: AdminFrameProps) {
  const { admin } = page.messages;
  return (
    <Layout page={page} title={admin[current]} privatePage width="wide">
      <nav class="segments admin-sections" aria-label={admin.sections}>
        {Object.entries(adminPaths).map(([name, path]) => (
          <a key={name} href={pageHref(page, path)} aria-current={name === current ? "page" : undefined}>
            {admin[name as AdminPageName]}
          </a>
        ))}
      </nav>
      <div class="page-heading">
        <h1>{admin[current]}</h1>
        <p class="lead">{lead}</p>
      </div>
      {children}
    </Layout>
  );
}
