import { AppError, type FieldProblems } from "../../base/errors.ts";
import { isSeen } from "../../base/one-line.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import { readCreateRequest } from "../../http/request-fields.ts";
import { daysDefaultOf, daysMaxOf, type NewRequest, requestLimits } from "../../requests/requests.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, useMessages } from "../page.ts";
import { ShowButton, Submit } from "../parts/buttons.tsx";
import { PageHeading } from "../parts/card.tsx";
import { Checkbox, Field, fieldsOf, NumberField, TextAreaField, TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Notice, problemsAt } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { PageRequest, Reply } from "../request.ts";
import { type FormDeclaration, type FormState, takeForm, untouched } from "../take-form.ts";
import { rememberProof } from "./owner-proof.ts";
import { answersPath, newRequestPath, requestsPath } from "./paths.ts";

const emptyForm: Omit<RequestForm, "expireAfterDays"> = {
  title: "",
  note: "",
  wantsText: true,
  wantsFiles: false,
  answersMax: "1",
};

/** `GET /requests/new` */
export async function showNewRequest(page: PageRequest): Promise<Reply> {
  const expireAfterDays = String(daysDefaultOf(page.services.config));
  return renderForm(page, { ...emptyForm, expireAfterDays }, untouched);
}

type RequestForm = ReturnType<typeof formOf>;
type RequestField = keyof RequestForm;

interface SentRequest {
  readonly form: RequestForm;
  readonly fields: FormFields;
}

const requestForm: FormDeclaration<PageRequest, SentRequest, RequestField> = {
  read: (fields) => ({ form: formOf(fields), fields }),
  show: (page, { form }, state) => renderForm(page, form, state),
  waitText: ({ user, messages: { requests } }) => (user === null ? requests.tooManyAnonymous : requests.tooMany),
  describe(page, { form }, found) {
    const { requests, rules } = page.messages;
    const problems = describeProblems(page, found, form);
    // The script sends the fields that are not in the form.
    const refusal = Object.keys(problems).length === 0 ? requests.needsScript : null;
    return { problems, refusal: found.request === undefined ? refusal : rules.requests };
  },
};

/** `POST /requests`: the browser has made the key and keeps it in the address that this answer leads to. */
export function createRequest(page: PageRequest): Promise<Reply> {
  return takeForm(page, requestForm, async ({ fields }) => {
    // The form was shown to somebody with an account, who expects to find the request there.
    if (page.user === null && fields.owner_proof === undefined) {
      throw new AppError("not_authenticated", "This session has ended.");
    }
    const wanted = readNewRequest(fields);
    const made = await page.services.requests.create(wanted, page.actor);
    if (made.isAnonymous) rememberProof(page, wanted.ownerProof);
    return page.redirect(answersPath(made.urlToken));
  });
}

/** @throws AppError invalid_fields. */
function readNewRequest(fields: FormFields): NewRequest {
  const named = Object.fromEntries(Object.keys(fields).map((name) => [name, textOf(fields, name)]));
  return readCreateRequest({ ...named, note: textOf(fields, "note").replaceAll("\r\n", "\n") });
}

/** As typed. */
function formOf(fields: FormFields) {
  return {
    title: textOf(fields, "title"),
    note: textOf(fields, "note"),
    wantsText: textOf(fields, "wants_text") === "1",
    wantsFiles: textOf(fields, "wants_files") === "1",
    answersMax: textOf(fields, "answers_max"),
    expireAfterDays: textOf(fields, "expire_after_days"),
  };
}

function describeProblems(
  page: PageRequest,
  found: FieldProblems,
  { title, wantsText }: Pick<RequestForm, "title" | "wantsText">,
): Partial<Record<RequestField, string>> {
  const { problems, requests } = page.messages;
  const { titleCharactersMax, noteCharactersMax, answersMax } = requestLimits;
  const daysMax = daysMaxOf(page.services.config);
  const texts: Record<RequestField, string> = {
    title: isSeen(title)
      ? problems.tooLong({ max: titleCharactersMax })
      : problems.payload({ max: titleCharactersMax }),
    note: problems.tooLong({ max: noteCharactersMax }),
    wantsText: wantsText ? problems.kind : requests.wantsNothing,
    wantsFiles: problems.kind,
    answersMax: problems.range({ min: 1, max: answersMax }),
    expireAfterDays: problems.range({ min: 1, max: daysMax }),
  };
  return Object.fromEntries(Object.entries(texts).filter(([name]) => found[name] !== undefined));
}

async function renderForm(page: PageRequest, form: RequestForm, state: FormState<RequestField>): Promise<Reply> {
  const model = await newRequestModel(page, form, state);
  return page.renderForm(newRequestView, model, { status: state.status, path: newRequestPath, keepsTyped: true });
}

type NewRequestModel = Awaited<ReturnType<typeof newRequestModel>>;

async function newRequestModel(page: PageRequest, form: RequestForm, state: FormState<RequestField>) {
  const { config, policies } = page.services;
  const isAnonymous = page.user === null;
  const { kinds, requests } = await policies.of(page.actor.user);
  const takesFiles = kinds.includes("file") && (!isAnonymous || config.files.allowAnonymous);
  const takesText = kinds.includes("text");
  const isAllowed = requests && (takesText || takesFiles);
  return {
    form,
    state: isAllowed ? state : { ...state, refusal: page.messages.rules.requests },
    daysMax: daysMaxOf(config),
    /** What may be asked for. */
    takesText,
    takesFiles,
    /** It will have no account: its private link is the only way to the answers. */
    isAnonymous,
  };
}

function RequestKey({ isAnonymous }: Pick<NewRequestModel, "isAnonymous">) {
  const { requests: text } = useMessages();
  if (isAnonymous) {
    return (
      <>
        <p>{text.keepLink}</p>
        <input type="hidden" name="owner_proof" value="" />
      </>
    );
  }
  return (
    <Field
      id="key_passphrase"
      label={text.passphrase}
      hint={text.passphraseHint}
      control={(attributes) => (
        // Without a name, so that browsers never send it.
        <>
          <div class="input-with-button">
            <input {...attributes} class="input" type="password" dir="auto" autoComplete="new-password" />
            <ShowButton of="key_passphrase" />
          </div>
          <p class="field-problem" role="alert" hidden data-weak-passphrase>
            {text.passphraseWeak}
          </p>
        </>
      )}
    />
  );
}

/** The script makes the key when the form is sent (browser/parts/make-request.ts). */
export function newRequestView(model: NewRequestModel, page: PageContext): Page {
  const { messages } = page;
  const { form, state, takesText, takesFiles } = model;
  const { requests: text } = messages;
  const labels = {
    title: text.title,
    note: text.note,
    wantsText: text.wants,
    wantsFiles: text.wantsFiles,
    answersMax: text.answersMax,
    expireAfterDays: text.days,
  };
  const found = problemsAt(labels, state.problems, messages);
  const field = fieldsOf(labels, form, state.problems);
  return (
    <Layout page={page} title={text.make} width="wide" scripts={["new-request.js"]} asksFirstAt={newRequestPath}>
      <PageHeading heading={text.make} lead={text.lead} />
      <FormNotices state={state} problems={found} />
      <div data-needs-script>
        <Notice tone="warning" icon="alert" text={text.needsScript} />
      </div>
      <div hidden data-insecure>
        <Notice tone="warning" icon="alert" text={text.needsHttps} />
      </div>
      <section class="card" hidden data-scripted>
        <PostForm class="push-form" action={requestsPath} id="request" autoComplete="off">
          <div class="push-content">
            <TextField {...field("title")} hint={text.titleHint} required focus />
            <TextAreaField {...field("note")} hint={text.noteHint} rows={3} area={{ autoComplete: "off" }} />
            {takesText && takesFiles ? (
              <fieldset class="choices">
                <legend class="field-label">{text.wants}</legend>
                {state.problems.wantsText !== undefined && <p class="field-problem">{state.problems.wantsText}</p>}
                <Checkbox id="wants_text" label={text.wantsText} hint={text.wantsTextHint} checked={form.wantsText} />
                <Checkbox
                  id="wants_files"
                  label={text.wantsFiles}
                  hint={text.wantsFilesHint}
                  checked={form.wantsFiles}
                />
              </fieldset>
            ) : (
              <>
                <input type="hidden" name="wants_text" value={takesText ? "1" : "0"} />
                <input type="hidden" name="wants_files" value={takesFiles ? "1" : "0"} />
              </>
            )}
          </div>
          <div class="push-end">
            <div class="limits">
              <NumberField {...field("answersMax")} range={{ min: 1, max: requestLimits.answersMax }} required />
              <NumberField {...field("expireAfterDays")} range={{ min: 1, max: model.daysMax }} required />
            </div>
            <RequestKey isAnonymous={model.isAnonymous} />
            <input type="hidden" name="recipient" value="" />
            <input type="hidden" name="encryption_check" value="" />
            <input type="hidden" name="identity_sealed" value="" />
            <Submit label={text.submit} look="large" />
          </div>
        </PostForm>
      </section>
    </Layout>
  );
}
