import { type ListedRequest, requestLimits } from "../../requests/requests.ts";
import { Layout } from "../layout.tsx";
import { type Column, Facts, List, listPath } from "../lists/list.tsx";
import { type Page, type PageContext, pageHref, untranslated, useMessages, usePage } from "../page.ts";
import { ButtonLink, ShowButton } from "../parts/buttons.tsx";
import { PageHeading } from "../parts/card.tsx";
import { Checkbox, Field, NumberField, TextAreaField, TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Notice, problemsAt } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { LocalTime } from "../parts/times.tsx";
import type { FormState } from "../take-form.ts";
import { answersPath, newRequestPath, requestsPath } from "./paths.ts";

interface RequestsModel {
  readonly requests: readonly ListedRequest[];
  readonly number: number;
  readonly hasMore: boolean;
}

export function requestsView({ requests, number, hasMore }: RequestsModel, page: PageContext): Page {
  const { messages } = page;
  const text = messages.requests;
  const newRequest = <ButtonLink to={newRequestPath} label={text.make} look="primary" />;
  return (
    <Layout page={page} title={text.heading} privatePage width="wide">
      <div class="heading-row" data-ends-keys>
        <PageHeading heading={text.heading} lead={text.lead} />
        {requests.length > 0 && newRequest}
      </div>
      <List
        caption={text.heading}
        rows={requests}
        fit="values"
        columns={requestColumns(page)}
        empty={
          <div class="card card-centered">
            <p>{text.none}</p>
            {newRequest}
          </div>
        }
        paging={{ number, hasMore, path: (to) => listPath(requestsPath, { page: to }) }}
      />
    </Layout>
  );
}

function requestColumns(page: PageContext): readonly Column<ListedRequest>[] {
  const { requests: text } = page.messages;
  return [
    {
      label: text.title,
      long: true,
      value: ({ urlToken, title }) => (
        <>
          <span dir="auto" translate={untranslated}>
            {urlToken === null ? title : <a href={pageHref(page, answersPath(urlToken))}>{title}</a>}
          </span>
          {urlToken === null && <p class="field-hint">{text.linkNotStored}</p>}
        </>
      ),
    },
    {
      label: text.state,
      value: ({ state }) => <span class={state === "open" ? "badge badge-active" : "badge"}>{text.states[state]}</span>,
    },
    { label: text.answers, value: ({ answers, answersMax }) => text.answersOf({ used: answers, allowed: answersMax }) },
    { label: text.until, value: ({ expiresAt }) => <LocalTime timeMs={expiresAt} /> },
  ];
}

export function RequestFacts({ request }: { readonly request: ListedRequest }) {
  const page = usePage();
  return <Facts class="row-facts" row={request} columns={requestColumns(page).slice(1)} />;
}

export type RequestField = "title" | "note" | "wantsText" | "wantsFiles" | "answersMax" | "expireAfterDays";

export interface RequestForm {
  readonly title: string;
  readonly note: string;
  readonly wantsText: boolean;
  readonly wantsFiles: boolean;
  /** As typed. */
  readonly answersMax: string;
  readonly expireAfterDays: string;
}

interface NewRequestModel {
  readonly form: RequestForm;
  readonly state: FormState<RequestField>;
  readonly daysMax: number;
  /** What may be asked for. */
  readonly takesText: boolean;
  readonly takesFiles: boolean;
  /** It will have no account: its private link is the only way to the answers. */
  readonly isAnonymous: boolean;
}

interface RequestFormProps extends Pick<NewRequestModel, "form" | "state"> {}

function TitleAndNote({ form, state }: RequestFormProps) {
  const { requests: text } = useMessages();
  return (
    <>
      <TextField
        id="title"
        label={text.title}
        hint={text.titleHint}
        problem={state.problems.title}
        value={form.title}
        required
        focus
      />
      <TextAreaField
        id="note"
        label={text.note}
        hint={text.noteHint}
        problem={state.problems.note}
        value={form.note}
        rows={3}
        area={{ autoComplete: "off" }}
      />
    </>
  );
}

interface WantedKindsProps extends RequestFormProps, Pick<NewRequestModel, "takesText" | "takesFiles"> {}

function WantedKinds({ form, state, takesText, takesFiles }: WantedKindsProps) {
  const { requests: text } = useMessages();
  if (takesText && takesFiles) {
    return (
      <fieldset class="choices">
        <legend class="field-label">{text.wants}</legend>
        {state.problems.wantsText !== undefined && <p class="field-problem">{state.problems.wantsText}</p>}
        <Checkbox id="wants_text" label={text.wantsText} hint={text.wantsTextHint} checked={form.wantsText} />
        <Checkbox id="wants_files" label={text.wantsFiles} hint={text.wantsFilesHint} checked={form.wantsFiles} />
      </fieldset>
    );
  }
  return (
    <>
      <input type="hidden" name="wants_text" value={takesText ? "1" : "0"} />
      <input type="hidden" name="wants_files" value={takesFiles ? "1" : "0"} />
    </>
  );
}

function Limits({ form, state, daysMax }: RequestFormProps & Pick<NewRequestModel, "daysMax">) {
  const { requests: text } = useMessages();
  return (
    <div class="limits">
      <NumberField
        id="answers_max"
        label={text.answersMax}
        problem={state.problems.answersMax}
        value={form.answersMax}
        range={{ min: 1, max: requestLimits.answersMax }}
        required
      />
      <NumberField
        id="expire_after_days"
        label={text.days}
        problem={state.problems.expireAfterDays}
        value={form.expireAfterDays}
        range={{ min: 1, max: daysMax }}
        required
      />
    </div>
  );
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

function ScriptNotices() {
  const { requests: text } = useMessages();
  return (
    <>
      <div data-needs-script>
        <Notice tone="warning" icon="alert" text={text.needsScript} />
      </div>
      <div hidden data-insecure>
        <Notice tone="warning" icon="alert" text={text.needsHttps} />
      </div>
    </>
  );
}

/** The script makes the key when the form is sent (browser/parts/make-request.ts). */
export function newRequestView(
  { form, state, daysMax, takesText, takesFiles, isAnonymous }: NewRequestModel,
  page: PageContext,
): Page {
  const { messages } = page;
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
  return (
    <Layout
      page={page}
      title={text.make}
      privatePage
      width="wide"
      scripts={["new-request.js"]}
      asksFirstAt={newRequestPath}
    >
      <PageHeading heading={text.make} lead={text.lead} />
      <FormNotices state={state} problems={found} />
      <ScriptNotices />
      <section class="card">
        <PostForm class="push-form" action={requestsPath} id="request" autoComplete="off">
          <div class="push-content">
            <TitleAndNote form={form} state={state} />
            <WantedKinds form={form} state={state} takesText={takesText} takesFiles={takesFiles} />
          </div>
          <div class="push-end">
            <Limits form={form} state={state} daysMax={daysMax} />
            <RequestKey isAnonymous={isAnonymous} />
            <input type="hidden" name="recipient" value="" />
            <input type="hidden" name="encryption_check" value="" />
            <input type="hidden" name="identity_sealed" value="" />
            <button type="submit" class="button button-primary button-large" hidden data-scripted>
              {text.submit}
            </button>
          </div>
        </PostForm>
      </section>
    </Layout>
  );
}
