import { Layout } from "../layout.tsx";
import { ConfirmFirst, ViewNotificationBox } from "../new-push/by-mail.tsx";
import { Labels, Lifetime, Options } from "../new-push/fields.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Fact } from "../parts/fact.tsx";
import { Icon } from "../parts/icon.tsx";
import { LocalTime } from "../parts/local-time.tsx";
import { Notice, ProblemSummary, problemsAt } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { ContentFields, type EditProps } from "./content-fields.tsx";
import type { EditField, EditModel } from "./model.ts";

const dashboardPath = "/p";

const fieldIds: Readonly<Record<EditField, string>> = {
  expireAfterDays: "push_expire_after_days",
  expireAfterViews: "push_expire_after_views",
  name: "push_name",
  note: "push_note",
  retrievalStep: "push_retrieval_step",
  deletableByViewer: "push_deletable_by_viewer",
  currentPassphrase: "push_current_passphrase",
  files: "push_files",
  payload: "push_payload",
  kind: "push_payload",
  passphrase: "push_passphrase",
  notifyEmailsTo: "push_notify_on_view",
  notifyEmailsToLocale: "push_notify_on_view",
  notifyOnView: "push_notify_on_view",
};

/** Fields as those of a new push, beside how the push stands. It works without scripts, and shows nothing of the secret. */
export function editView(model: EditModel, page: PageContext): Page {
  const { edit, problems } = page.messages;
  const found = problemsAt(fieldIds, model.problems, (field) => labelOf(field, model, page), page.messages);
  const title = found.length > 0 ? `${problems.heading} · ${edit.title}` : edit.title;
  return (
    <Layout page={page} title={title} privatePage width="wide" scripts={["new-push.js"]}>
      <div class="page-heading">
        <h1>{edit.heading}</h1>
        {model.push.name !== null && (
          <p class="edit-subject" translate={false}>
            <bdi>{model.push.name}</bdi>
          </p>
        )}
        <p class="lead">{edit.lead}</p>
      </div>
      <div class="columns">
        <div class="card">
          <Refusals model={model} page={page} />
          {found.length > 0 && <ProblemSummary heading={problems.heading} problems={found} />}
          <EditForm model={model} page={page} />
        </div>
        <Facts model={model} page={page} />
      </div>
    </Layout>
  );
}

/** What concerns the form as a whole. */
function Refusals({ model, page }: EditProps) {
  const { edit, failure } = page.messages;
  return (
    <>
      {model.unavailable && (
        <Notice tone="danger" icon="clock" alert>
          <p>{failure.unavailableText}</p>
        </Notice>
      )}
      {model.changedMeanwhile && (
        <Notice tone="warning" icon="alert" alert>
          <h2 class="notice-heading">{edit.changedHeading}</h2>
          <p>{edit.changedText}</p>
        </Notice>
      )}
    </>
  );
}

/** The label that stands at the field, so that the summary names it by the same messages. */
function labelOf(field: EditField, { kind, push }: EditModel, { messages }: PageContext): string {
  const { edit, newPush, notices } = messages;
  switch (field) {
    case "kind":
    case "payload":
      return edit.newContent[kind];
    case "files":
      return edit.addFiles;
    case "currentPassphrase":
      return edit.currentPassphrase;
    case "passphrase":
      return push.passphraseRequired ? edit.newPassphrase : newPush.passphrase;
    case "expireAfterDays":
      return newPush.days;
    case "expireAfterViews":
      return newPush.views;
    case "deletableByViewer":
      return newPush.deletable;
    case "notifyEmailsTo":
    case "notifyEmailsToLocale":
    case "notifyOnView":
      return notices.onView;
    default:
      return newPush[field];
  }
}

function EditForm({ model, page }: EditProps) {
  const { messages } = page;
  const { edit } = messages;
  const date = <LocalTime key="date" timeMs={model.push.createdAt} messages={messages} />;
  return (
    <PostForm page={page} class="form" action={`/p/${model.push.urlToken}/edit`} multipart autoComplete="off">
      <div class="edit-limits">
        <Lifetime model={model} messages={messages} hint={edit.limitsHint.parts({ date })} />
      </div>
      <Labels model={model} messages={messages} />
      <Options model={model} messages={messages} />
      <ViewNotifications model={model} page={page} />
      <ContentFields model={model} page={page} />
      <div class="form-end edit-end">
        <button type="submit" class="button button-primary button-large">
          <Icon name="check" />
          <span>{edit.submit}</span>
        </button>
        <a class="button button-large" href={pageHref(page, dashboardPath)}>
          {edit.cancel}
        </a>
      </div>
    </PostForm>
  );
}

/** Where no mails can go there any more, they can still be switched off. */
function ViewNotifications({ model: { mails, push, values }, page }: EditProps) {
  const email = mails.viewsTo ?? (push.notifyOnView ? (page.user?.email ?? null) : null);
  if (email === null && !mails.viewsAfterConfirmation) return null;
  const { messages } = page;
  return (
    <fieldset class="group">
      <legend>{messages.notices.legend}</legend>
      {email !== null && <ViewNotificationBox messages={messages} email={email} checked={values.notifyOnView} />}
      {mails.viewsAfterConfirmation && <ConfirmFirst page={page} />}
    </fieldset>
  );
}

function Facts({ model: { push }, page }: EditProps) {
  const { messages } = page;
  const { edit, kinds } = messages;
  const path = `/p/${push.urlToken}`;
  const facts = [
    { name: edit.kind, value: kinds[push.kind] },
    { name: edit.made, value: <LocalTime timeMs={push.createdAt} messages={messages} /> },
    { name: edit.expires, value: <LocalTime timeMs={push.expiresAt} messages={messages} /> },
    { name: edit.viewsUsed, value: edit.viewsOf({ used: push.views, allowed: push.expireAfterViews }) },
    { name: edit.passphrase, value: push.passphraseRequired ? edit.passphraseSet : edit.passphraseNone },
  ];
  return (
    <aside class="aside edit-aside" aria-labelledby="edit_facts">
      <h2 class="aside-heading" id="edit_facts">
        {edit.factsHeading}
      </h2>
      <dl class="edit-facts">
        {facts.map(({ name, value }) => (
          <Fact key={name} label={name}>
            {value}
          </Fact>
        ))}
      </dl>
      <div class="edit-elsewhere">
        <a class="button" href={pageHref(page, `${path}/audit`)}>
          <Icon name="clock" />
          <span>{edit.audit}</span>
        </a>
        <Confirm
          page={page}
          icon="trash"
          label={edit.end}
          explanation={edit.endText}
          confirm={edit.endConfirm}
          action={`${path}/expire`}
        >
          <input type="hidden" name="next" value={dashboardPath} />
        </Confirm>
      </div>
    </aside>
  );
}
