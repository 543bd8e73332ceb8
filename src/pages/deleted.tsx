import { renderGone } from "./gone.tsx";
import { MessagePage } from "./message-page.tsx";
import type { Page, PageContext } from "./page.ts";
import { HomeButton } from "./parts/buttons.tsx";
import type { PageRequest, Reply } from "./request.ts";
import { ownPath } from "./return-path.ts";
import { isOwn } from "./secret/model.ts";

/** `POST /p/:token/expire` */
export async function deletePush(page: PageRequest): Promise<Reply> {
  const { pushes } = page.services;
  const { next } = await page.form();
  const push = await page.findPush();
  // Only owners come from a list of their pushes, and only they may learn that the push had ended already.
  const back = push !== undefined && isOwn(push, page.actor) && typeof next === "string" ? ownPath(next) : null;
  // For everybody else, a push that has ended gets the answer of one that never existed.
  if (push === undefined || (push.expired && back === null)) return renderGone(page);
  if (!push.expired) await pushes.expire(push.urlToken, page.actor);
  return back === null ? page.renderPlain(deletedView) : page.redirect(back);
}

export function deletedView(page: PageContext): Page {
  const { deleted } = page.messages;
  return (
    <MessagePage
      page={page}
      scripts={["deleted.js"]}
      title={deleted.title}
      icon="check"
      heading={deleted.heading}
      lead={deleted.text}
    >
      <HomeButton />
    </MessagePage>
  );
}
