import type { FastifyReply } from "fastify";
import type { Messages } from "../i18n/i18n.ts";
import { Layout } from "./layout.tsx";
import type { Page, PageContext } from "./page.ts";
import { MessageCard } from "./parts/notice.tsx";
import type { PageRequest } from "./request.ts";

/** The answer for pushes that expired, were deleted or never existed: the same status and body for all of them. */
export function renderGone(page: PageRequest): FastifyReply {
  return page.renderPlain(goneView, { status: 404, compressible: true });
}

/** For an address of a file in Password Pusher, whatever the file: the address does not name its push. */
export function renderOldFile(page: PageRequest): FastifyReply {
  return page.renderPlain(oldFileView, { status: 410, compressible: true });
}

/**
 * One page for every push that cannot be retrieved, so that it reveals nothing to a stranger. It takes no model and does
 * not repeat the requested address: its bytes are the same for every link.
 */
export function goneView(page: PageContext): Page {
  return messageView(page, page.messages.gone);
}

/** As `goneView`, it repeats nothing of the address. */
export function oldFileView(page: PageContext): Page {
  return messageView(page, page.messages.oldFile);
}

type GoneTexts = Pick<Messages["gone"], "title" | "heading" | "text" | "advice">;

function messageView(page: PageContext, { title, heading, text, advice }: GoneTexts): Page {
  return (
    <Layout page={{ ...page, selfPath: null }} title={title} privatePage width="narrow">
      <MessageCard icon="clock" heading={heading}>
        <p class="lead">{text}</p>
        <p>{advice}</p>
      </MessageCard>
    </Layout>
  );
}
