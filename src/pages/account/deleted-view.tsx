import { Layout } from "../layout.tsx";
import { type PageContext, pageHref } from "../page-context.ts";
import { MessageCard } from "../parts/message-card.tsx";
import type { Page } from "../render.ts";

export function deletedView(page: PageContext): Page {
  const { profile, failure } = page.messages;
  return (
    <Layout page={page} title={profile.deleted.title} width="narrow">
      <MessageCard icon="check" heading={profile.deleted.heading}>
        <p>{profile.deleted.text}</p>
        <a class="button" href={pageHref(page, "/")}>
          {failure.home}
        </a>
      </MessageCard>
    </Layout>
  );
}
