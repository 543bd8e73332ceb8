import type { ComponentChildren } from "preact";
import type { Messages } from "../i18n/i18n.ts";
import type { LayoutProps } from "./layout.tsx";
import { MessagePage } from "./message-page.tsx";
import type { Page, PageContext } from "./page.ts";
import { Button } from "./parts/buttons.tsx";
import type { PageRequest, Reply } from "./request.ts";
import { OpenedBefore, OpeningFailed } from "./secret/step-view.tsx";

/** The answer for pushes that expired, were deleted or never existed: the same status and body for all of them. */
export function renderGone(page: PageRequest): Reply {
  return page.renderPlain(goneView, { status: 404, compressible: true });
}

/** For an address of a file in Password Pusher, whatever the file: the address does not name its push. */
export function renderOldFile(page: PageRequest): Reply {
  return page.renderPlain(oldFileView, { status: 410, compressible: true });
}

/**
 * One page for every push that cannot be retrieved, so that it reveals nothing to a stranger. It takes no model and does
 * not repeat the requested address: its bytes are the same for every link.
 */
export function goneView(page: PageContext): Page {
  const { messages } = page;
  return (
    <MessageView page={page} texts={messages.gone}>
      <OpenedBefore counts={false} />
      <Button label={messages.step.showAgain} hidden data-opens-again />
      <OpeningFailed />
    </MessageView>
  );
}

/** As `goneView`, it repeats nothing of the address. */
export function oldFileView(page: PageContext): Page {
  return <MessageView page={page} texts={page.messages.oldFile} />;
}

interface MessageViewProps extends Pick<LayoutProps, "page"> {
  readonly texts: Pick<Messages["gone"], "title" | "heading" | "text" | "advice">;
  readonly children?: ComponentChildren;
}

function MessageView({ page, texts: { title, heading, text, advice }, children }: MessageViewProps) {
  return (
    <MessagePage page={{ ...page, selfPath: null }} title={title} icon="clock" heading={heading} lead={text}>
      {children}
      <p>{advice}</p>
    </MessagePage>
  );
}
