import { MessagePage } from "./message-page.tsx";
import type { Page, PageContext } from "./page.ts";

/** The answer to a robot that makes link previews: the same for every link, so it reveals nothing about this one. */
export function robotView(page: PageContext): Page {
  const { robot } = page.messages;
  return (
    <MessagePage page={{ ...page, selfPath: null }} hasCard icon="shield" heading={robot.heading} lead={robot.text} />
  );
}
