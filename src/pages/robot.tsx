import { Layout } from "./layout.tsx";
import type { Page, PageContext } from "./page.ts";
import { MessageCard } from "./parts/notice.tsx";

/** The answer to a robot that makes link previews: the same for every link, so it reveals nothing about this one. */
export function robotView(page: PageContext): Page {
  const { robot } = page.messages;
  return (
    <Layout page={{ ...page, selfPath: null }} title={robot.heading} privatePage hasCard width="narrow">
      <MessageCard icon="shield" heading={robot.heading}>
        <p class="lead">{robot.text}</p>
      </MessageCard>
    </Layout>
  );
}
