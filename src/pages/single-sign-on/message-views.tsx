import { signInPath } from "../../http/authentication.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { MessageCard } from "../parts/notice.tsx";

export interface LeaveModel {
  readonly provider: string;
  /** At the provider. */
  readonly url: string;
}

/**
 * Between this server and the provider. A page and not a redirect: browsers hold `form-action` against every redirect
 * that follows a form, the provider's own ones to others too, which no policy could name beforehand.
 */
export function leaveView({ provider, url }: LeaveModel, page: PageContext): Page {
  const { singleSignOn } = page.messages;
  const heading = singleSignOn.leaving({ name: provider });
  return (
    <Layout page={page} title={heading} privatePage width="narrow" leadsTo={url}>
      <MessageCard icon="hand" heading={heading}>
        <p class="lead">{singleSignOn.leavingText}</p>
        <a class="button button-primary" href={url}>
          <Icon name="external" />
          <span>{singleSignOn.continueTo({ name: provider })}</span>
        </a>
      </MessageCard>
    </Layout>
  );
}

/** Why a single sign-on ended without a session. What the provider wrote is never repeated. */
export type SignOnProblem =
  | "denied"
  | "invalid"
  | "unverified_email"
  | "no_account"
  | "linked_elsewhere"
  | "unreachable";

export interface ProblemModel {
  readonly problem: SignOnProblem;
  readonly provider: string;
}

interface Explanation {
  readonly icon: IconName;
  readonly heading: string;
  readonly text: string;
}

function explain({ problem, provider: name }: ProblemModel, { singleSignOn: messages }: Messages): Explanation {
  switch (problem) {
    case "denied":
      return { icon: "hand", heading: messages.denied, text: messages.deniedText({ name }) };
    case "invalid":
      return { icon: "clock", heading: messages.invalid, text: messages.invalidText };
    case "unverified_email":
      return { icon: "shield", heading: messages.unverified, text: messages.unverifiedText({ name }) };
    case "no_account":
      return { icon: "shield", heading: messages.noAccount, text: messages.noAccountText({ name }) };
    case "linked_elsewhere":
      return { icon: "shield", heading: messages.linkedElsewhere, text: messages.linkedElsewhereText({ name }) };
    case "unreachable":
      return { icon: "clock", heading: messages.unreachable({ name }), text: messages.unreachableText };
  }
}

export function problemView(model: ProblemModel, page: PageContext): Page {
  const { icon, heading, text } = explain(model, page.messages);
  return (
    <Layout page={page} title={heading} privatePage width="narrow">
      <MessageCard icon={icon} heading={heading}>
        <p class="lead">{text}</p>
        {page.user === null ? (
          <a class="button" href={pageHref(page, signInPath)}>
            {page.messages.singleSignOn.backToSignIn}
          </a>
        ) : (
          <a class="button" href={pageHref(page, "/")}>
            {page.messages.failure.home}
          </a>
        )}
      </MessageCard>
    </Layout>
  );
}
