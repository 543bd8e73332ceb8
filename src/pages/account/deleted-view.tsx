import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { MessageCard } from "../parts/notice.tsx";

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
