import type { ClaimRefusal, LinkToConfirm } from "../../accounts/accounts.ts";
import { signOnSettingsPath } from "../../accounts/accounts.ts";
import { signInPath } from "../../http/authentication.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { FormPage } from "../form-page.tsx";
import { Layout } from "../layout.tsx";
import { MessagePage } from "../message-page.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { ButtonLink, FormEnd, Label, Submit } from "../parts/buttons.tsx";
import { Card, PageHeading } from "../parts/card.tsx";
import { Fact } from "../parts/fact.tsx";
import { CodeField, PasswordField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import type { IconName } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { StaySignedIn } from "../parts/stay-signed-in.tsx";
import { LocalTime } from "../parts/times.tsx";
import type { FormState } from "../take-form.ts";

interface LeaveModel {
  readonly provider: string;
  /** The address at the provider. */
  readonly url: string;
}

/**
 * The page between this server and the provider. It is not a redirect, because browsers apply `form-action` to every
 * redirect after a form, also to the provider's own redirects, which no policy can name in advance.
 */
export function leaveView({ provider, url }: LeaveModel, page: PageContext): Page {
  const { singleSignOn } = page.messages;
  const heading = singleSignOn.leaving({ name: provider });
  return (
    <MessagePage page={page} leadsTo={url} icon="hand" heading={heading} lead={singleSignOn.leavingText}>
      <a class="button button-primary" href={url}>
        <Label icon="external" text={singleSignOn.continueTo({ name: provider })} />
      </a>
    </MessagePage>
  );
}

export interface SignOnModel {
  readonly provider: string;
  /** The path of this server to continue at, as `ownPath` returned it. */
  readonly next: string | null;
  readonly signedOut: boolean;
  /** How long a session lasts without activity if its user stays signed in. */
  readonly idleSeconds: number;
}

/** The sign-in page where single sign-on is the only way in. The fields `next` and `stay_signed_in` are posted to `/users/auth/oidc`. */
export function signOnView({ provider: name, next, signedOut, idleSeconds }: SignOnModel, page: PageContext): Page {
  const { singleSignOn } = page.messages;
  const heading = signedOut ? singleSignOn.signedOut : singleSignOn.only({ name });
  return (
    <FormPage
      page={page}
      heading={heading}
      lead={signedOut ? singleSignOn.signedOutText({ name }) : singleSignOn.onlyText({ name })}
      isPublic
    >
      <PostForm class="form" action="/users/auth/oidc" next={next}>
        <StaySignedIn checked={false} idleSeconds={idleSeconds} />
        <Submit label={singleSignOn.continueWith({ name })} icon="hand" look="wide" />
      </PostForm>
    </FormPage>
  );
}

/** Why a single sign-on failed. Texts of the provider are never shown, but the claim that was refused. */
export type SignOnProblem = "denied" | "invalid" | "no_account" | "linked_elsewhere" | "unreachable" | ClaimRefusal;

interface ProblemModel {
  readonly problem: SignOnProblem;
  readonly provider: string;
  /** Single sign-on is the only way in. */
  readonly only: boolean;
}

interface Explanation {
  readonly icon: IconName;
  readonly heading: string;
  readonly text: string;
  /** For the administrator. */
  readonly detail?: string;
}

function explain({ problem, provider: name, only }: ProblemModel, { singleSignOn: messages }: Messages): Explanation {
  if (typeof problem === "object") return explainRefusal(problem, name, messages);
  const unreachableText = only ? messages.unreachableOnly : messages.unreachableText;
  const explanations: Readonly<Record<typeof problem, Explanation>> = {
    denied: { icon: "hand", heading: messages.denied, text: messages.deniedText({ name }) },
    invalid: { icon: "clock", heading: messages.invalid, text: messages.invalidText },
    no_account: { icon: "shield", heading: messages.noAccount, text: messages.noAccountText({ name }) },
    linked_elsewhere: {
      icon: "shield",
      heading: messages.linkedElsewhere,
      text: messages.linkedElsewhereText({ name }),
    },
    unreachable: { icon: "clock", heading: messages.unreachable({ name }), text: unreachableText },
  };
  return explanations[problem];
}

/** Names the claim: users can tell their administrator what the provider has to send. */
function explainRefusal(
  { because, claim, value }: ClaimRefusal,
  name: string,
  messages: Messages["singleSignOn"],
): Explanation {
  const texts: Readonly<Record<ClaimRefusal["because"], string>> = {
    unverified_email: messages.unverifiedText({ name }),
    domain: messages.refusedDomain,
    guest: messages.refusedGuest,
    unknown_groups: messages.unknownGroups({ name }),
    not_in_group: messages.notInGroup,
    not_fresh: messages.notFresh({ name }),
  };
  return {
    icon: "shield",
    heading: because === "unverified_email" ? messages.unverified : messages.noAccount,
    text: texts[because],
    detail: value === null ? messages.claimAbsent({ name, claim }) : messages.claimSent({ name, claim, value }),
  };
}

export function problemView(model: ProblemModel, page: PageContext): Page {
  const { icon, heading, text, detail } = explain(model, page.messages);
  return (
    <MessagePage page={page} icon={icon} heading={heading} lead={text}>
      {detail !== undefined && <p dir="auto">{detail}</p>}
      {page.user === null ? (
        <ButtonLink to={signInPath} label={page.messages.singleSignOn.backToSignIn} />
      ) : (
        <ButtonLink to="/" label={page.messages.failure.home} />
      )}
    </MessagePage>
  );
}

/** The page for the code that was mailed instead of a fresh sign-on. */
export const signOnCodePath = `${signOnSettingsPath}/code`;

interface CodeModel {
  readonly provider: string;
  readonly email: string;
  readonly state: FormState<"code">;
}

/** The field `code` is posted to `signOnCodePath`. */
export function codeView({ provider: name, email, state }: CodeModel, page: PageContext): Page {
  const { singleSignOn } = page.messages;
  return (
    <FormPage page={page} heading={singleSignOn.prove} lead={singleSignOn.codeLead({ name, email })} state={state}>
      <PostForm class="form" action={signOnCodePath} autoComplete="off">
        <CodeField
          of="digits"
          id="code"
          label={singleSignOn.code}
          hint={singleSignOn.codeHint}
          problem={state.problems.code}
          focus
        />
        <Submit label={singleSignOn.codeSubmit} look="wide" />
      </PostForm>
    </FormPage>
  );
}

export const confirmLinkPath = "/users/auth/oidc/confirm";

/** Takes the request for a mailed link. */
export const mailLinkPath = `${confirmLinkPath}/mail`;

interface ConfirmLinkModel {
  readonly provider: string;
  readonly link: LinkToConfirm;
  readonly state: FormState<"password">;
  /** The token of the mailed link; "": none. */
  readonly mailed: string;
  /** A link has just been mailed. */
  readonly isMailed: boolean;
  /** Single sign-on is the only way in. */
  readonly only: boolean;
}

/** The fields `password`, if a password is required, and `token` are posted to `confirmLinkPath`. */
export function confirmLinkView(model: ConfirmLinkModel, page: PageContext): Page {
  const { singleSignOn } = page.messages;
  const { provider: name, link, state, mailed, only } = model;
  const { providerEmail, accountEmail, by } = link;
  const asks = by === "password" || by === "sign_in";
  const otherWay = `${signInPath}?next=${encodeURIComponent(confirmLinkPath)}`;
  return (
    <FormPage
      page={page}
      heading={singleSignOn.confirm}
      lead={singleSignOn.confirmLead({ name, providerEmail, accountEmail })}
    >
      <p>{singleSignOn.confirmWhy({ name })}</p>
      <FormNotices state={state} />
      {model.isMailed && (
        <Notice tone="success" icon="check" alert text={singleSignOn.mailLinkSent({ accountEmail })} />
      )}
      {by === "consent" && <p>{singleSignOn.consent}</p>}
      {by === "mailed" && <p>{singleSignOn.consentMailed}</p>}
      {/* For an account without a password. */}
      {by === "sign_in" && !only && <p>{singleSignOn.signInFirst}</p>}
      {by === "sign_in" && only && !link.mails && <p>{singleSignOn.noProof}</p>}
      {by !== "sign_in" && (
        <PostForm class="form" action={confirmLinkPath}>
          {by === "mailed" && <input type="hidden" name="token" value={mailed} />}
          {by === "password" && (
            <>
              <input type="hidden" autoComplete="username" value={accountEmail} />
              <PasswordField
                id="password"
                label={singleSignOn.password}
                problem={state.problems.password}
                focus={state.problems.password !== undefined}
              />
            </>
          )}
          <Submit label={singleSignOn.confirmSubmit} look="wide" />
        </PostForm>
      )}
      {asks && link.mails && (
        <PostForm class="form" action={mailLinkPath}>
          <p class="field-hint">{singleSignOn.mailLinkText({ accountEmail })}</p>
          <Submit label={singleSignOn.mailLink} look="alternative" />
        </PostForm>
      )}
      {asks && !only && (
        <ButtonLink to={otherWay} label={singleSignOn.signInOtherwise} look={by === "sign_in" ? "primary" : "plain"} />
      )}
    </FormPage>
  );
}

interface SignOnSettingsModel {
  readonly provider: string;
  /** When each linked identity was linked, newest first; milliseconds since the epoch. */
  readonly linkedAt: readonly number[];
  /** False: the user can sign in by single sign-on only. */
  readonly hasPassword: boolean;
  /** Single sign-on is the only way in. */
  readonly only: boolean;
  /** Set after a fresh sign-on. */
  readonly isProved: boolean;
  /** The path of this server to go to after a fresh sign-on. */
  readonly next: string | null;
  readonly state: FormState<"password">;
}

/** Posts to `<path>/link` to link an identity, and the field `password` to `<path>/unlink` to unlink it. */
export function signOnSettingsView(model: SignOnSettingsModel, page: PageContext): Page {
  const { singleSignOn } = page.messages;
  const name = model.provider;
  return (
    <Layout page={page} title={singleSignOn.heading} width="narrow">
      <PageHeading heading={singleSignOn.heading} lead={singleSignOn.lead({ name })} />
      <FormNotices state={model.state} />
      <Card id="linked" heading={model.linkedAt.length > 0 ? singleSignOn.linked({ name }) : singleSignOn.notLinked}>
        {model.linkedAt.length > 0 ? (
          <>
            <dl class="facts">
              {model.linkedAt.map((timeMs) => (
                <Fact key={timeMs} label={singleSignOn.linkedSince} value={<LocalTime timeMs={timeMs} />} />
              ))}
            </dl>
            {model.hasPassword ? (
              <details class="confirm" open={model.state.problems.password !== undefined}>
                <summary class="button button-quiet-danger">
                  <Label icon="trash" text={singleSignOn.unlink} />
                </summary>
                <PostForm class="form" action={`${signOnSettingsPath}/unlink`}>
                  <p>{singleSignOn.unlinkText({ name: name })}</p>
                  <PasswordField
                    id="password"
                    label={singleSignOn.yourPassword}
                    problem={model.state.problems.password}
                    focus={model.state.problems.password !== undefined}
                  />
                  <FormEnd label={singleSignOn.unlinkConfirm} look="danger" />
                </PostForm>
              </details>
            ) : (
              <Notice tone="info" icon="key" text={model.only ? singleSignOn.onlyWayInHere : singleSignOn.onlyWayIn} />
            )}
          </>
        ) : (
          <PostForm class="form" action={`${signOnSettingsPath}/link`}>
            <p>{singleSignOn.linkText({ name })}</p>
            <FormEnd label={singleSignOn.link({ name })} icon="url" />
          </PostForm>
        )}
      </Card>
      {/* For changes that need a fresh sign-on. */}
      {model.linkedAt.length > 0 && (
        <Card id="prove" heading={singleSignOn.prove}>
          {model.isProved ? (
            <Notice tone="success" icon="check" text={singleSignOn.proved} />
          ) : (
            <PostForm class="form" action={`${signOnSettingsPath}/again`} next={model.next}>
              <p>{singleSignOn.proveText({ name })}</p>
              <FormEnd label={singleSignOn.proveSubmit({ name })} look="plain" />
            </PostForm>
          )}
        </Card>
      )}
      <p>
        <a href={pageHref(page, "/users/edit")}>{singleSignOn.backToAccount}</a>
      </p>
    </Layout>
  );
}
