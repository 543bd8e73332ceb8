import { Layout } from "../layout.tsx";
import { type PageContext, pageHref } from "../page-context.ts";
import { MessageCard } from "../parts/message-card.tsx";
import type { Page } from "../render.ts";

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
