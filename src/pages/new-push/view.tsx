import type { KindName } from "../../base/push-kinds.ts";
import type { Policy } from "../../policies/policies.ts";
import { pushLimits } from "../../pushes/pushes.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, type PartProps, pageHref, useMessages, usePage } from "../page.ts";
import { Label } from "../parts/buttons.tsx";
import { PageHeading } from "../parts/card.tsx";
import { Checkbox } from "../parts/fields.tsx";
import { FormMessages, FormNotices } from "../parts/form-messages.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { initialDuration } from "../push-form/controls.tsx";
import { FieldEditorParts } from "../push-form/field-editor.tsx";
import {
  Controls,
  type FilledForm,
  type FormProps,
  type HiddenField,
  HiddenFields,
  summaryOf,
} from "../push-form/fields.tsx";
import { accountField, type PushForm as PushFormModel } from "../push-form/form.ts";
import { LimitControls, MoreOptions, OptionControls } from "../push-form/groups.tsx";
import { type OfferedPresets, PresetChoice } from "../push-form/presets.tsx";
import { ruleHint } from "../push-form/rule-hints.ts";
import type { FormState } from "../take-form.ts";

export interface NewPushForm extends FilledForm {
  /** The browser shall remember the limits and options. */
  readonly remember: boolean;
  /** The forms of the other kinds, to which the script switches without leaving the page. */
  readonly others: readonly FilledForm[];
  /** Why nothing was created. With "unsealed" the form asks whether the browser may send the secret so. */
  readonly state: Omit<FormState, "status" | "problems">;
  /** `accountMark` of the account that the push is for; null: none. */
  readonly account: string | null;
  /** Values of `push[...]` that the form has no controls for. */
  readonly hiddenFields: readonly HiddenField[];
  /** A random text that lets the form be sent again without creating another push; null: nobody is signed in. */
  readonly idempotencyKey: string | null;
}

export interface NewPushModel {
  readonly presets: OfferedPresets;
  /** The form of a kind, for what a preset changes in it. */
  readonly formOf: (kind: KindName) => PushFormModel;
  /** "Seal in this browser" is chosen at first. */
  readonly sealedByDefault: boolean;
  readonly form: NewPushForm;
  /** The kinds that are switched on and allowed, in the order of the tabs. */
  readonly kinds: readonly KindName[];
  /** Rules do not allow some of the kinds that are switched on. */
  readonly hidesKinds: boolean;
  readonly mayCreateWithoutAccount: boolean;
  /** The page also has the parts of the editor of fields, for the script that loads them. */
  readonly hasFieldEditor: boolean;
  /** False: a file push needs an account, and nobody is signed in. */
  readonly mayAttachFiles: boolean;
}

const groups = ["kind", "files", "payload", "options", "sender", "labels", "mail", "limits", "passphrase"] as const;

/**
 * The form that makes a push, in one screen: the secret on one side, on the other one when it expires. It works without
 * scripts; they add the generator and the live count.
 */
export function newPushView(model: NewPushModel, page: PageContext): Page {
  const { nav, newPush, problems, sending } = page.messages;
  const { form } = model;
  const found = summaryOf(groups, form, page);
  const title = found.length > 0 ? `${problems.heading} · ${nav.newPush}` : nav.newPush;
  return (
    <Layout page={page} title={title} width="wide" scripts={["new-push.js"]} isPublic>
      <PageHeading heading={newPush.heading} lead={page.user === null ? newPush.lead : undefined} />
      <div class="card push-card">
        <KindTabs model={model} />
        {model.hidesKinds && (
          <p class="field-hint">{model.kinds.length === 0 ? page.messages.rules.nothing : page.messages.rules.kinds}</p>
        )}
        <FormMessages unanswered={page.user === null ? sending.unansweredAnonymous : sending.unanswered}>
          <FormNotices
            state={form.state}
            problems={found}
            withoutAccountForm={model.mayCreateWithoutAccount ? formId : undefined}
          />
        </FormMessages>
        <PushForm model={model} />
        {form.others.map((other) => (
          <template key={other.kind} data-kind={other.kind}>
            <Content form={other} mayAttachFiles={model.mayAttachFiles} />
            {differsInLimits(form) && <Limits form={other} />}
            <div data-part="options">
              <OptionControls form={other} />
            </div>
          </template>
        ))}
      </div>
      {model.hasFieldEditor && <FieldEditorParts />}
      {page.user === null && <HowItWorks />}
    </Layout>
  );
}

/** Whether any two kinds do. If not, the script leaves the limits as they are when it shows another kind. */
function differsInLimits({ others, ...shown }: NewPushForm): boolean {
  const limitsOf = (form: FilledForm) =>
    JSON.stringify([form.settings.days, form.settings.views, initialDuration(form)]);
  return others.some((other) => limitsOf(other) !== limitsOf(shown));
}

const formId = "push_form";

/**
 * Each tab sends the form, which comes back for another kind with everything that was typed; the script switches without
 * sending (browser/parts/kinds.ts). Enter in a field presses the first button of the form: that must not be a tab.
 */
function KindTabs({ model }: PartProps<NewPushModel>) {
  const page = usePage();
  const { kinds } = page.messages;
  return (
    <>
      <button type="submit" form={formId} class="visually-hidden" tabIndex={-1} aria-hidden="true" />
      <fieldset class="tabs" id="push_kinds">
        <legend class="visually-hidden">{kinds.label}</legend>
        {model.kinds.map((kind) => (
          <button
            key={kind}
            type="submit"
            form={formId}
            formNoValidate
            class="tab"
            name="push[show_kind]"
            value={kind}
            aria-current={kind === model.form.kind ? "true" : undefined}
            data-href={pageHref(page, `/?kind=${kind}`)}
          >
            <Label icon={kind} text={kinds[kind]} />
          </button>
        ))}
      </fieldset>
    </>
  );
}

/**
 * What differs between the kinds is in parts, which the script replaces. Without an account that files need, the form cannot
 * be sent, so its other controls are hidden.
 */
function Content({ form, mayAttachFiles }: FormProps & Pick<NewPushModel, "mayAttachFiles">) {
  const page = usePage();
  const { newPush, nav } = page.messages;
  return (
    <div class="push-content" data-part="content">
      {form.kind === "file" && !mayAttachFiles ? (
        <div class="sign-in-for-files">
          <Notice tone="info" icon="file" heading={newPush.filesSignInHeading} text={newPush.filesSignIn} />
          {page.signIns && (
            <a
              class="button button-primary button-large"
              href={pageHref(page, `/users/sign_in?next=${encodeURIComponent("/?kind=file")}`)}
            >
              {nav.signIn}
            </a>
          )}
        </div>
      ) : (
        <>
          <Controls group="files" form={form} />
          <Controls group="payload" form={form} />
        </>
      )}
    </div>
  );
}

function Limits({ form }: FormProps) {
  return (
    <div data-part="limits">
      <LimitControls form={form} />
    </div>
  );
}

function PushForm({ model }: PartProps<NewPushModel>) {
  const page = usePage();
  const { form, mayAttachFiles, sealedByDefault, presets } = model;
  const { newPush } = page.messages;
  const { idempotencyKey, account, hiddenFields } = form;
  const isSealRequired = form.policy.encryptionRequired;
  return (
    <PostForm id={formId} class="push-form" action="/p" multipart autoComplete="off" keepsTyped>
      {account !== null && <input type="hidden" name={accountField} value={account} />}
      <HiddenFields fields={hiddenFields} />
      <input type="hidden" name="push[kind]" value={form.kind} />
      {idempotencyKey !== null && <input type="hidden" name="idempotency_key" value={idempotencyKey} />}
      <div class="push-content">
        <PresetChoice presets={presets} formOf={({ settings }) => model.formOf(settings.kind ?? form.kind)} />
        <Content form={form} mayAttachFiles={mayAttachFiles} />
        <MoreOptions form={form} />
      </div>
      <div class="push-end">
        <Limits form={form} />
        <Controls group="passphrase" form={form} />
        <SealChoice checked={sealedByDefault} isRequired={isSealRequired} policy={form.policy} />
        {sealedByDefault && !isSealRequired && <UnsealedChoice isShown={form.state.reason === "unsealed"} />}
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
          <Label icon="url" text={newPush.submit} />
          <span class="key-hint" aria-hidden="true" hidden data-scripted>
            Ctrl ↵
          </span>
        </button>
      </div>
    </PostForm>
  );
}

interface SealChoiceProps {
  readonly checked: boolean;
  /** The rules allow nothing else. */
  readonly isRequired: boolean;
  readonly policy: Policy;
}

/** The rules for a passphrase that only the browser can check: the server does not get it. */
const passphraseRules = (policy: Policy, messages: PageContext["messages"]) => ({
  "data-passphrase-min": policy.passphraseMinLength || undefined,
  "data-passphrase-common": policy.passphraseCommonAllowed ? undefined : "refused",
  "data-passphrase-rule": ruleHint("passphrase", policy, messages) || undefined,
});

/** Only owners have labels. */
const labelLimits = ({ labelsTooLong }: PageContext["messages"]["endToEnd"]) => ({
  "data-labels-length": labelsTooLong,
  "data-name-max": pushLimits.nameCharactersMax,
  "data-note-max": pushLimits.noteCharactersMax,
});

/** The choice to seal in the browser, with the texts that its script (browser/parts/sealing.ts) shows. It is not sent. */
function SealChoice({ checked, isRequired, policy }: SealChoiceProps) {
  const page = usePage();
  const { messages, assetUrl } = page;
  const { endToEnd, problems } = messages;
  return (
    <>
      <div
        hidden
        data-scripted
        data-seals={assetUrl("seal.js")}
        data-failed={endToEnd.sealFailed}
        data-length={problems.payload({ max: pushLimits.payloadCharacters.text.max })}
        {...(page.user === null ? {} : labelLimits(endToEnd))}
        {...passphraseRules(policy, messages)}
      >
        <div class="checkbox">
          <input
            type="checkbox"
            id="push_seal"
            checked={checked}
            aria-describedby="push_seal_hint"
            autoComplete="off"
          />
          <div>
            <label for="push_seal">{endToEnd.seal}</label>
            <p class="field-hint" id="push_seal_hint">
              {endToEnd.sealHint} {isRequired && page.messages.rules.encryption}
            </p>
            <p class="field-hint" hidden data-insecure>
              {endToEnd.sealNeedsHttps}
            </p>
          </div>
        </div>
        {page.user !== null && (
          <div class="checkbox seal-labels" hidden data-seals-labels>
            <input type="checkbox" id="push_seal_labels" aria-describedby="push_seal_labels_hint" autoComplete="off" />
            <div>
              <label for="push_seal_labels">{endToEnd.sealLabels}</label>
              <p class="field-hint" id="push_seal_labels_hint">
                {endToEnd.sealLabelsHint}
              </p>
            </div>
          </div>
        )}
        <p class="field-problem" role="alert" hidden data-seal-problem />
      </div>
      <noscript>
        <p class="field-hint">{endToEnd.sealNeedsScript}</p>
      </noscript>
    </>
  );
}

/**
 * Where sealing is the default, a browser that cannot seal asks before the server gets the secret: without scripts at once,
 * otherwise when the script shows it (browser/parts/sealing.ts) or the server has refused the form.
 */
function UnsealedChoice({ isShown }: { readonly isShown: boolean }) {
  const { unsealed } = useMessages().endToEnd;
  const box = (id: string) => (
    <>
      <input type="checkbox" id={id} name="push[unsealed]" value="1" autoComplete="off" />
      <label for={id}>{unsealed}</label>
    </>
  );
  return (
    <>
      <div class="checkbox" hidden={!isShown} data-unsealed>
        {box("push_unsealed")}
      </div>
      {!isShown && (
        <noscript>
          <div class="checkbox">{box("push_unsealed_scriptless")}</div>
        </noscript>
      )}
    </>
  );
}

function HowItWorks() {
  const { newPush } = useMessages();
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
