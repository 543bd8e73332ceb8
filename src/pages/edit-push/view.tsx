import { asksForPassphrase, type OwnedPush } from "../../pushes/pushes.ts";
import { dashboardPath } from "../dashboard/filter.ts";
import { shownName } from "../dashboard/push-parts.tsx";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, type PartProps, untranslated, useMessages, usePage } from "../page.ts";
import { ButtonLink, Submit } from "../parts/buttons.tsx";
import { Fact } from "../parts/fact.tsx";
import { FormMessages, FormNotices } from "../parts/form-messages.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm, PostForm } from "../parts/post-form.tsx";
import { LocalTime } from "../parts/times.tsx";
import {
  Controls,
  type FilledForm,
  type FormProps,
  type HiddenField,
  HiddenFields,
  mayHaveFiles,
  summaryOf,
} from "../push-form/fields.tsx";
import { LabelControls, LimitControls, MoreOptions } from "../push-form/groups.tsx";
import type { FormState } from "../take-form.ts";

interface EditModel {
  readonly form: FilledForm;
  readonly urlToken: string;
  /** As it is stored now, whatever was typed; null: nobody is signed in, so nothing of it is shown. */
  readonly push: OwnedPush | null;
  readonly hiddenFields: readonly HiddenField[];
  readonly state: Omit<FormState, "status" | "problems">;
}

const groups = [
  "labels",
  "files",
  "payload",
  "options",
  "sender",
  "mail",
  "limits",
  "currentPassphrase",
  "passphrase",
] as const;

/** The fields of a new push, and facts about the push. It works without scripts, and shows nothing of the secret. */
export function editView(model: EditModel, page: PageContext): Page {
  const { edit, problems, sending } = page.messages;
  const { form, push } = model;
  const path = `/p/${model.urlToken}`;
  const found = summaryOf(groups, form, page);
  const title = found.length > 0 ? `${problems.heading} · ${edit.title}` : edit.title;
  return (
    <Layout page={page} title={title} width="wide" scripts={["new-push.js"]} styles={["edit-push.css"]}>
      <div class="page-heading">
        <h1>{edit.heading}</h1>
        {push !== null && push.name !== null && (
          <p class="edit-subject" translate={untranslated}>
            <bdi>{shownName(push, page.messages)}</bdi>
          </p>
        )}
        <p class="lead">{edit.lead}</p>
      </div>
      {push !== null && <Facts push={push} />}
      <div class="card push-card">
        <FormMessages unanswered={sending.unansweredEdit}>
          <FormNotices state={model.state} problems={found} />
        </FormMessages>
        <EditForm model={model} />
      </div>
      {push !== null && (
        <div class="page-actions">
          <ButtonLink to={`${path}/audit`} label={edit.audit} icon="clock" />
          <Confirm
            icon="trash"
            label={edit.end}
            explanation={edit.endText}
            confirm={edit.endConfirm}
            action={`${path}/expire`}
            next={dashboardPath}
          />
        </div>
      )}
    </Layout>
  );
}

/** The same columns as the form of a new push: the secret on one side, on the other one when it expires. */
function EditForm({ model: { form, urlToken, push, hiddenFields } }: PartProps<EditModel>) {
  const { edit } = useMessages();
  const date = push && <LocalTime key="date" timeMs={push.createdAt} />;
  const isSealed = Boolean(form.edited?.push.endToEnd);
  return (
    <PostForm class="push-form edit-form" action={`/p/${urlToken}/edit`} multipart autoComplete="off" keepsTyped>
      <HiddenFields fields={[{ name: "kind", value: form.kind }, ...hiddenFields]} />
      {push === null &&
        form.removedFileIds.map((id) => <input key={id} type="hidden" name="push[remove_files][]" value={id} />)}
      <div class="push-content">
        <LabelControls form={form} />
        <ContentControls form={form} />
        <MoreOptions form={form} />
      </div>
      <div class="push-end">
        <LimitControls form={form} hint={date === null ? undefined : edit.limitsHint.parts({ date })} />
        {!isSealed && (
          <>
            <Controls group="currentPassphrase" form={form} />
            <PassphraseControls form={form} />
          </>
        )}
        <div class="form-end edit-end">
          <Submit label={edit.submit} icon="check" aria-keyshortcuts="Control+Enter Meta+Enter" data-sends-by-keys />
          <ButtonLink to={dashboardPath} label={edit.cancel} />
        </div>
      </div>
    </PostForm>
  );
}

/** What only the key of the push decrypts. None of it is shown: each field takes a replacement. */
function ContentControls({ form }: FormProps) {
  const { endToEnd } = useMessages();
  if (form.edited?.push.endToEnd) {
    return <Notice tone="info" icon="key" text={endToEnd.notEditable} />;
  }
  return (
    <>
      <Controls group="files" form={form} />
      <Controls group="payload" form={form} />
    </>
  );
}

/** Few edits change a passphrase: its fields are folded unless something is wrong or set there. */
function PassphraseControls({ form }: FormProps) {
  const page = usePage();
  const { edit } = page.messages;
  const controls = <Controls group="passphrase" form={form} />;
  if (!form.edited?.push.passphraseRequired) return controls;
  const isOpen = summaryOf(["passphrase"], form, page).length > 0 || form.values.removePassphrase;
  return (
    <details class="disclosure" open={isOpen}>
      <summary>{edit.changePassphrase}</summary>
      <div class="stack-small">
        {controls}
        <p class="field-hint">{mayHaveFiles(form) ? edit.protectedWholeFiles : edit.protectedWhole}</p>
      </div>
    </details>
  );
}

function Facts({ push }: { readonly push: OwnedPush }) {
  const { edit, kinds } = useMessages();
  const facts = [
    { name: edit.kind, value: kinds[push.kind] },
    { name: edit.made, value: <LocalTime timeMs={push.createdAt} /> },
    { name: edit.expires, value: <LocalTime timeMs={push.expiresAt} /> },
    { name: edit.viewsUsed, value: edit.viewsOf({ used: push.views, allowed: push.expireAfterViews }) },
    { name: edit.passphrase, value: asksForPassphrase(push) ? edit.passphraseSet : edit.passphraseNone },
  ];
  return (
    <section aria-labelledby="edit_facts">
      <h2 class="visually-hidden" id="edit_facts">
        {edit.factsHeading}
      </h2>
      <dl class="facts facts-inline" id="edit_stored" data-stored>
        {facts.map(({ name, value }) => (
          <Fact key={name} label={name} value={value} />
        ))}
      </dl>
    </section>
  );
}
