import { pageHref, useMessages, usePage } from "../page.ts";
import { Icon } from "./icon.tsx";

/** The frame of a message that a script fills and shows above a form that was not accepted. */
export function UnsentNotice() {
  const { sending } = useMessages();
  return (
    <div class="notice notice-danger" role="alert" tabIndex={-1} data-focus>
      <Icon name="alert" />
      <div class="notice-text">
        <h2 class="notice-heading">{sending.failedHeading}</h2>
        <p />
        <p class="page-actions" />
      </div>
    </div>
  );
}

/**
 * What browser/parts/ask-first.ts says instead of sending a form of this page. Without scripts the Back button shows the form
 * again, if its page was rendered with `keepsTyped`.
 * @param at the path of this page, for GET.
 */
export function AsksFirst({ at }: { readonly at: string }) {
  const page = usePage();
  const { sending } = page.messages;
  return (
    <template
      data-asks-at={pageHref(page, at)}
      data-kept={sending.kept}
      data-unanswered-heading={sending.unansweredHeading}
      data-unanswered={sending.unsent}
      data-failed-heading={sending.failedHeading}
      data-failed={sending.failed({ status: "{status}" })}
      data-step-heading={page.user === null ? undefined : sending.stepHeading}
      data-step={page.user === null ? undefined : sending.step}
    >
      <UnsentNotice />
    </template>
  );
}
