import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { MessageCard } from "../parts/notice.tsx";

export function closedView(closed: "signing in" | "signing up", page: PageContext): Page {
  const { entry } = page.messages;
  const [heading, text] =
    closed === "signing in"
      ? [entry.closed.heading, entry.closed.text]
      : [entry.signUp.closedHeading, entry.signUp.closed];
  return (
    <Layout page={page} title={heading} width="narrow">
      <MessageCard icon="shield" heading={heading}>
        <p class="lead">{text}</p>
      </MessageCard>
    </Layout>
  );
}
