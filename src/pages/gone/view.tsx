import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { MessageCard } from "../parts/message-card.tsx";

/**
 * Opened up, run out, deleted or never there: one page for all, so that it tells a stranger nothing. It takes no model
 * and does not repeat the address that was asked for: its bytes are the same for every link.
 */
export function goneView(page: PageContext): Page {
  const { gone } = page.messages;
  return (
    <Layout page={{ ...page, selfPath: null }} title={gone.title} privatePage width="narrow">
      <MessageCard icon="clock" heading={gone.heading}>
        <p class="lead">{gone.text}</p>
        <p>{gone.advice}</p>
      </MessageCard>
    </Layout>
  );
}
