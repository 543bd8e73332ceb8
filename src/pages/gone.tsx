import type { FastifyReply } from "fastify";
import { Layout } from "./layout.tsx";
import type { Page, PageContext } from "./page.ts";
import { MessageCard } from "./parts/notice.tsx";
import type { PageRequest } from "./request.ts";

/** The answer for pushes that expired, were deleted or never existed: the same status and body for all of them. */
export function renderGone(page: PageRequest): FastifyReply {
  return page.renderPlain(goneView, { status: 404, compressible: true });
}

/**
 * One page for every push that cannot be retrieved, so that it reveals nothing to a stranger. It takes no model and does
 * not repeat the requested address: its bytes are the same for every link.
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
