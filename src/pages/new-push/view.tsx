import type { KindName } from "../../base/push-kinds.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { Notice, ProblemSummary, problemsAt } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { ByMail } from "./by-mail.tsx";
import { Labels, Lifetime, Options, Passphrase } from "./fields.tsx";
import type { NewPushField, NewPushModel } from "./model.ts";
import { PayloadFields } from "./payload-fields.tsx";

export type { NewPushModel } from "./model.ts";
export { describeProblems, filesTooLarge, initialValues } from "./model.ts";

const fieldIds: Readonly<Record<NewPushField, string>> = {
  kind: "push_kinds",
  payload: "push_payload",
  files: "push_files",
  expireAfterDays: "push_expire_after_days",
  expireAfterViews: "push_expire_after_views",
  passphrase: "push_passphrase",
  retrievalStep: "push_retrieval_step",
  deletableByViewer: "push_deletable_by_viewer",
  name: "push_name",
  note: "push_note",
  notifyEmailsTo: "push_notify_emails_to",
  notifyEmailsToLocale: "push_notify_emails_to_locale",
  notifyOnView: "push_notify_on_view",
};

/** The form that makes a push. It works by itself; scripts add the generator and the live count. */
export function newPushView(model: NewPushModel, page: PageContext): Page {
  const { nav, newPush, problems, failure } = page.messages;
  const found = problemsAt(fieldIds, model.problems, (field) => labelOf(field, model, page), page.messages);
  const title = found.length > 0 ? `${problems.heading} · ${nav.newPush}` : nav.newPush;
  return (
    <Layout page={page} title={title} width="wide" scripts={["new-push.js"]}>
      <div class="page-heading">
        <h1>{newPush.heading}</h1>
        <p class="lead">{newPush.lead}</p>
      </div>
      <div class="columns">
        <div class="card">
          <KindTabs model={model} page={page} />
          {model.unavailable && (
            <Notice tone="danger" icon="clock" alert>
              <p>{failure.unavailableText}</p>
            </Notice>
          )}
          {found.length > 0 && <ProblemSummary heading={problems.heading} problems={found} />}
          {model.kind === "file" && !model.mayAttachFiles ? (
            <SignInForFiles page={page} />
          ) : (
            <PushForm model={model} page={page} />
          )}
        </div>
        <HowItWorks page={page} />
      </div>
    </Layout>
  );
}

/** The label that stands at the field, so that the summary names it by the same messages. */
function labelOf(
  field: NewPushField,
  { kind }: NewPushModel,
  { messages: { newPush, kinds, notices } }: PageContext,
): string {
  switch (field) {
    case "kind":
      return kinds.label;
    case "payload":
      return kind === "file" ? newPush.fileMessage : newPush[kind];
    case "expireAfterDays":
      return newPush.days;
    case "expireAfterViews":
      return newPush.views;
    case "deletableByViewer":
      return newPush.deletable;
    case "notifyEmailsTo":
      return notices.to;
    case "notifyEmailsToLocale":
      return notices.locale;
    case "notifyOnView":
      return notices.onView;
    default:
      return newPush[field];
  }
}

interface Props {
  readonly model: NewPushModel;
  readonly page: PageContext;
}

function KindTabs({ model, page }: Props) {
  const { kinds } = page.messages;
  return (
    <nav class="tabs" id="push_kinds" aria-label={kinds.label}>
      {model.kinds.map((kind: KindName) => (
        <a
          key={kind}
          class="tab"
          href={pageHref(page, `/?kind=${kind}`)}
          aria-current={kind === model.kind ? "page" : undefined}
        >
          <Icon name={kind} />
          <span>{kinds[kind]}</span>
        </a>
      ))}
    </nav>
  );
}

function PushForm({ model, page }: Props) {
  const { messages } = page;
  return (
    <PostForm page={page} class="form" action="/p" multipart autoComplete="off">
      <input type="hidden" name="push[kind]" value={model.kind} />
      <PayloadFields model={model} messages={messages} />
      <Lifetime model={model} messages={messages} />
      <Passphrase model={model} messages={messages} />
      <Options model={model} messages={messages} />
      {page.user !== null && <Labels model={model} messages={messages} />}
      <ByMail model={model} page={page} />
      <div class="form-end">
        <button type="submit" class="button button-primary button-large">
          <Icon name="url" />
          <span>{messages.newPush.submit}</span>
        </button>
      </div>
    </PostForm>
  );
}

function SignInForFiles({ page }: { readonly page: PageContext }) {
  const { newPush, nav } = page.messages;
  return (
    <div class="form">
      <Notice tone="info" icon="file">
        <h2 class="notice-heading">{newPush.filesSignInHeading}</h2>
        <p>{newPush.filesSignIn}</p>
      </Notice>
      <div class="form-end">
        <a
          class="button button-primary button-large"
          href={pageHref(page, `/users/sign_in?next=${encodeURIComponent("/?kind=file")}`)}
        >
          {nav.signIn}
        </a>
      </div>
    </div>
  );
}

function HowItWorks({ page }: { readonly page: PageContext }) {
  const { newPush } = page.messages;
  const points = [
    { icon: "shield", heading: newPush.sealed, text: newPush.sealedText },
    { icon: "eye", heading: newPush.limited, text: newPush.limitedText },
    { icon: "clock", heading: newPush.gone, text: newPush.goneText },
  ] as const;
  return (
    <aside class="aside" aria-labelledby="how_it_works">
      <h2 class="aside-heading" id="how_it_works">
        {newPush.howHeading}
      </h2>
      <ul class="points">
        {points.map(({ icon, heading, text }) => (
          <li key={icon} class="point">
            <span class="point-icon">
              <Icon name={icon} />
            </span>
            <div>
              <h3>{heading}</h3>
              <p>{text}</p>
            </div>
          </li>
        ))}
      </ul>
    </aside>
  );
}
