import type { KindName } from "../../base/push-kinds.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Checkbox } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice, ProblemSummary } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { Controls, type FilledForm, summaryOf } from "../push-form/fields.tsx";
import { LimitControls, MoreOptions } from "../push-form/groups.tsx";

export interface NewPushForm extends FilledForm {
  /** The browser shall remember the limits and options. */
  readonly remember: boolean;
}

export interface NewPushModel {
  readonly form: NewPushForm;
  /** The kinds that are switched on, in the order of the tabs. */
  readonly kinds: readonly KindName[];
  /** A random text that lets the form be sent again without creating another push; null: nobody is signed in. */
  readonly idempotencyKey: string | null;
  /** False: a file push needs an account, and nobody is signed in. */
  readonly mayAttachFiles: boolean;
}

const groups = ["kind", "files", "payload", "options", "labels", "mail", "limits", "passphrase"] as const;

/**
 * The form that makes a push, in one screen: the secret on one side, on the other one when it expires. It works without
 * scripts; they add the generator and the live count.
 */
export function newPushView(model: NewPushModel, page: PageContext): Page {
  const { nav, newPush, problems } = page.messages;
  const { form } = model;
  const found = summaryOf(groups, form, page);
  const title = found.length > 0 ? `${problems.heading} · ${nav.newPush}` : nav.newPush;
  return (
    <Layout page={page} title={title} width="wide" scripts={["new-push.js"]}>
      <div class="page-heading">
        <h1>{newPush.heading}</h1>
        {page.user === null && <p class="lead">{newPush.lead}</p>}
      </div>
      <div class="card push-card">
        <KindTabs model={model} page={page} />
        {form.refusal !== null && (
          <Notice tone="danger" icon="clock" alert>
            <p>{form.refusal}</p>
          </Notice>
        )}
        {found.length > 0 && <ProblemSummary heading={problems.heading} problems={found} />}
        {form.kind === "file" && !model.mayAttachFiles ? (
          <SignInForFiles page={page} />
        ) : (
          <PushForm idempotencyKey={model.idempotencyKey} form={form} page={page} />
        )}
      </div>
      {page.user === null && <HowItWorks page={page} />}
    </Layout>
  );
}

function KindTabs({ model, page }: { readonly model: NewPushModel; readonly page: PageContext }) {
  const { kinds } = page.messages;
  return (
    <nav class="tabs" id="push_kinds" aria-label={kinds.label}>
      {model.kinds.map((kind) => (
        <a
          key={kind}
          class="tab"
          href={pageHref(page, `/?kind=${kind}`)}
          aria-current={kind === model.form.kind ? "page" : undefined}
        >
          <Icon name={kind} />
          <span>{kinds[kind]}</span>
        </a>
      ))}
    </nav>
  );
}

function PushForm({
  idempotencyKey,
  form,
  page,
}: Pick<NewPushModel, "form" | "idempotencyKey"> & { readonly page: PageContext }) {
  const { newPush } = page.messages;
  return (
    <PostForm page={page} class="push-form" action="/p" multipart autoComplete="off">
      <input type="hidden" name="push[kind]" value={form.kind} />
      {idempotencyKey !== null && <input type="hidden" name="idempotency_key" value={idempotencyKey} />}
      <div class="push-content">
        <Controls group="files" form={form} page={page} />
        <Controls group="payload" form={form} page={page} />
        <MoreOptions form={form} page={page} />
      </div>
      <div class="push-end">
        <LimitControls form={form} page={page} />
        <Controls group="passphrase" form={form} page={page} />
        {page.user === null && (
          <Checkbox
            id="push_remember"
            name="push[remember]"
            label={newPush.remember}
            hint={newPush.rememberHint}
            checked={form.remember}
          />
        )}
        <button
          type="submit"
          class="button button-primary button-large button-wide"
          aria-keyshortcuts="Control+Enter Meta+Enter"
          data-sends-by-keys
        >
          <Icon name="url" />
          <span>{newPush.submit}</span>
          <span class="key-hint" aria-hidden="true" hidden data-scripted>
            Ctrl ↵
          </span>
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
    <aside class="how" aria-labelledby="how_it_works">
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
