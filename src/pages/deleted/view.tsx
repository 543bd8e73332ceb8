import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { MessageCard } from "../parts/message-card.tsx";

/** After somebody pressed delete. */
export function deletedView(page: PageContext): Page {
  const { deleted, failure } = page.messages;
  return (
    <Layout page={page} title={deleted.title} privatePage width="narrow">
      <MessageCard icon="check" heading={deleted.heading}>
        <p class="lead">{deleted.text}</p>
        <a class="button" href={pageHref(page, "/")}>
          {failure.home}
        </a>
      </MessageCard>
    </Layout>
  );
}
