import type { Messages } from "../../i18n/i18n.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import type { IconName } from "../parts/icon.tsx";
import { MessageCard } from "../parts/message-card.tsx";

export interface FailureModel {
  /** HTTP status of the answer. */
  readonly status: number;
  /** The value of X-Request-Id, by which an operator finds the log line. */
  readonly requestId: string;
  /** For 429: seconds until another try makes sense, at least 1. */
  readonly retryAfterSeconds: number;
}

interface Explanation {
  readonly icon: IconName;
  readonly heading: string;
  readonly text: string;
}

function explain({ status, retryAfterSeconds }: FailureModel, { failure }: Messages): Explanation {
  switch (status) {
    case 401:
    case 403:
      return { icon: "shield", heading: failure.forbidden, text: failure.forbiddenText };
    case 404:
      return { icon: "alert", heading: failure.notFound, text: failure.notFoundText };
    case 413:
      return { icon: "file", heading: failure.tooLarge, text: failure.tooLargeText };
    case 429:
      return { icon: "clock", heading: failure.tooMany, text: failure.tooManyText({ count: retryAfterSeconds }) };
    case 503:
      return { icon: "clock", heading: failure.unavailable, text: failure.unavailableText };
    default:
      return status >= 500
        ? { icon: "alert", heading: failure.internal, text: failure.internalText }
        : { icon: "alert", heading: failure.badRequest, text: failure.badRequestText };
  }
}

/** Any request that was refused or failed, in messages for people: no details, one reference. */
export function failureView(model: FailureModel, page: PageContext): Page {
  const { failure } = page.messages;
  const { icon, heading, text } = explain(model, page.messages);
  return (
    <Layout page={page} title={heading} privatePage width="narrow">
      <MessageCard icon={icon} heading={heading}>
        <p class="lead">{text}</p>
        <p class="reference">{failure.reference({ id: model.requestId })}</p>
        <a class="button" href={pageHref(page, "/")}>
          {failure.home}
        </a>
      </MessageCard>
    </Layout>
  );
}
