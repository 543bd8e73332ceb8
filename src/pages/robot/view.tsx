import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { MessageCard } from "../parts/message-card.tsx";

/** What a robot that unfurls links gets: true of every link, telling nothing of this one. */
export function robotView(page: PageContext): Page {
  const { robot } = page.messages;
  return (
    <Layout page={{ ...page, selfPath: null }} title={robot.heading} privatePage width="narrow">
      <MessageCard icon="shield" heading={robot.heading}>
        <p class="lead">{robot.text}</p>
      </MessageCard>
    </Layout>
  );
}
