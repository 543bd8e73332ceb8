import { receiveAnswer } from "../../http/request-fields.ts";
import { nameUnusableFile, pushLimits } from "../../pushes/pushes.ts";
import type { NewAnswer, OpenRequest } from "../../requests/requests.ts";
import { Layout } from "../layout.tsx";
import { MessagePage } from "../message-page.tsx";
import { type Page, type PageContext, type PartProps, pageHref, untranslated, useMessages } from "../page.ts";
import { InputField, TextAreaField } from "../parts/fields.tsx";
import { FormMessages, FormNotices } from "../parts/form-messages.tsx";
import { Notice, problemsAt } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { SendingMeter } from "../parts/sending-meter.tsx";
import { withLineFeeds } from "../push-form/form.ts";
import type { PageRequest, Reply } from "../request.ts";
import { type FormDeclaration, type FormState, takeForm, untouched } from "../take-form.ts";

/** The value of `?done=` after an answer was handed over. */
const sent = "sent";

type AnswerField = "payload" | "files";

interface AnswerModel {
  readonly request: OpenRequest;
  /** As typed; never what the browser has sealed. */
  readonly payload: string;
  readonly state: FormState<AnswerField>;
  readonly filesMax: number;
  readonly bytesMax: number;
}

/** `GET /requests/:token`: for everybody who has the link. */
export async function showRequest(page: PageRequest): Promise<Reply> {
  const request = await findRequest(page);
  if (request === undefined) return renderUnknown(page);
  if (page.query("done") === sent) {
    return page.render(sentView, request, { selfPath: `/requests/${request.urlToken}?done=${sent}` });
  }
  return renderAnswer(page, request, "", untouched);
}

/** The form comes back for the request as it is by then. */
function answerForm(urlToken: string): FormDeclaration<PageRequest, NewAnswer, AnswerField> {
  // A script keeps them chosen.
  const again = ({ isSentByScript, messages }: PageRequest, { files }: NewAnswer) =>
    files !== undefined && !isSentByScript ? { files: messages.newPush.filesAgain } : {};
  return {
    read: () => undefined,
    async receive(page) {
      const { requests, bodyIntake } = page.services;
      const { answer, fileRefusal } = await receiveAnswer(page.request, { requests, bodyIntake }, urlToken);
      return { typed: answer, upload: answer.files?.upload, fileRefusal };
    },
    async show(page, answer, state) {
      const request = await findRequest(page);
      if (request === undefined) return renderUnknown(page);
      const isLost = state.status === 503 || state.status === 422;
      const isEmpty = request.wantsFiles && answer.payload === "" && state.problems.payload !== undefined;
      const problems = {
        ...(isLost && again(page, answer)),
        ...state.problems,
        ...(isEmpty && { payload: page.messages.requests.nothing }),
      };
      return renderAnswer(page, request, answer.isSealed ? "" : answer.payload, { ...state, problems });
    },
    waitText({ messages, services }, error) {
      const { problems, requests, formats } = messages;
      if (error.code !== "bytes_used_up") return problems.tooManyAttempts({ count: error.retryAfterSeconds ?? 60 });
      return requests.bytesUsedUp({ size: formats.bytes(services.config.bytesPerDay.client) });
    },
    tooLarge: ({ messages: { problems, formats }, services: { config } }) => ({
      files: problems.filesTooLarge({ size: formats.bytes(config.files.pushBytesMax) }),
    }),
    describe({ messages: { problems, requests }, services: { config } }, _answer, { payload, files }) {
      return {
        problems: {
          ...(payload && { payload: problems.payload({ max: pushLimits.payloadCharacters.text.max }) }),
          ...(files && {
            files: nameUnusableFile(files)
              ? problems.filesUnusable
              : problems.files({ count: config.files.maxFileUploads }),
          }),
        },
        refusal: payload || files ? null : requests.refused,
      };
    },
  };
}

/** `POST /requests/:token` */
export async function answerRequest(page: PageRequest): Promise<Reply> {
  const request = await findRequest(page);
  if (request === undefined) return renderUnknown(page);
  const { urlToken } = request;
  return takeForm(page, answerForm(urlToken), async (answer) => {
    // Browsers send line ends as CR LF; a key with other line ends is not a valid key.
    const payload = withLineFeeds(answer.payload);
    await page.services.requests.answer(urlToken, { ...answer, payload }, page.actor);
    return page.redirectAfterForm(`/requests/${urlToken}?done=${sent}`);
  });
}

async function findRequest({ urlToken, services }: PageRequest): Promise<OpenRequest | undefined> {
  return urlToken === undefined ? undefined : await services.requests.find(urlToken);
}

function renderUnknown(page: PageRequest): Reply {
  return page.renderPlain(unknownView, { status: 404 });
}

function renderAnswer(page: PageRequest, request: OpenRequest, payload: string, state: FormState<AnswerField>): Reply {
  if (request.state !== "open") return page.render(endedView, payload, { status: page.isGet ? 410 : 422 });
  const { maxFileUploads, pushBytesMax } = page.services.config.files;
  const model = { request, payload, state, filesMax: maxFileUploads, bytesMax: pushBytesMax };
  const path = `/requests/${request.urlToken}`;
  return page.renderForm(answerView, model, { status: state.status, path, keepsTyped: true });
}

type AnswerViewProps = PartProps<AnswerModel>;

function AnswerHeading({ model: { request } }: AnswerViewProps) {
  const { requests: text } = useMessages();
  return (
    <div class="page-heading">
      <h1 translate={untranslated}>
        <bdi>{request.title}</bdi>
      </h1>
      <p class="lead">
        {request.askedBy === null
          ? text.askedByUnknown
          : text.askedBy.parts({ email: <bdi translate={untranslated}>{request.askedBy}</bdi> })}
      </p>
      {request.note !== "" && (
        <p class="whole-note" translate={untranslated}>
          <bdi>{request.note}</bdi>
        </p>
      )}
    </div>
  );
}

function AnswerFields({
  model: {
    request,
    payload,
    state: { problems },
    filesMax,
    bytesMax,
  },
}: AnswerViewProps) {
  const { requests: text, formats } = useMessages();
  return (
    <>
      {request.wantsText && (
        <TextAreaField
          id="payload"
          label={text.text}
          problem={problems.payload}
          value={payload}
          rows={6}
          area={{ spellcheck: false, autoComplete: "off", required: !request.wantsFiles }}
        />
      )}
      {request.wantsFiles && (
        <InputField
          id="files"
          name="files[]"
          label={text.files}
          problem={problems.files}
          hint={text.filesHint({ count: filesMax, size: formats.bytes(bytesMax) })}
          input={{ class: "input input-files", type: "file", multiple: filesMax > 1, required: !request.wantsText }}
        />
      )}
    </>
  );
}

/** The script seals what the form sends (browser/parts/answer-request.ts); without it, the server does. */
function answerView(model: AnswerModel, page: PageContext): Page {
  const { request, filesMax, bytesMax } = model;
  const { messages } = page;
  const { requests: text, problems, formats } = messages;
  const labels = { payload: text.text, files: text.files };
  const found = problemsAt(labels, model.state.problems, messages);
  const max = pushLimits.payloadCharacters.text.max;
  return (
    <Layout page={page} title={text.heading} hasCard width="regular" scripts={["requests.js"]}>
      <AnswerHeading model={model} />
      <FormMessages unanswered={text.unanswered}>
        <FormNotices state={model.state} problems={found} />
      </FormMessages>
      <section class="card">
        <div hidden data-key-check="wrong">
          <Notice tone="danger" icon="key" alert text={text.keyWrong} />
        </div>
        <PostForm
          class="form"
          id="answer"
          action={`/requests/${request.urlToken}`}
          autoComplete="off"
          multipart
          keepsTyped
        >
          <input
            type="hidden"
            name="encryption"
            value=""
            data-recipient={request.recipient}
            data-characters-max={max}
            data-sealing={text.sealing}
            data-nothing={text.nothing}
            data-too-long={problems.tooLong({ max })}
            data-too-many={problems.files({ count: filesMax })}
            data-count-max={filesMax}
            data-too-large={problems.filesTooLarge({ size: formats.bytes(bytesMax) })}
            data-bytes-max={bytesMax}
            data-unreadable={text.fileUnreadable}
          />
          <AnswerFields model={model} />
          <p class="field-problem" role="alert" hidden data-answer-problem />
          <div data-server-seals>
            <Notice tone="warning" icon="alert" text={text.serverSeals} />
          </div>
          <div hidden data-key-check="right">
            <Notice tone="info" icon="shield" text={text.sealsHere} />
          </div>
          <div hidden data-key-check="unchecked">
            <Notice tone="warning" icon="key" text={text.keyUnchecked} />
          </div>
          <p role="status" data-answer-status />
          {request.wantsFiles && <SendingMeter />}
          <div class="form-end">
            <button type="submit" class="button button-primary button-large">
              <span>{text.send}</span>
            </button>
          </div>
        </PostForm>
      </section>
    </Layout>
  );
}

function sentView(request: OpenRequest, page: PageContext): Page {
  const { requests: text } = page.messages;
  return (
    <MessagePage page={page} scripts={["requests.js"]} icon="check" heading={text.sentHeading} lead={text.sentText}>
      {request.state === "open" && (
        <a class="button" href={pageHref(page, `/requests/${request.urlToken}`)} data-keeps-fingerprint>
          {text.again}
        </a>
      )}
    </MessagePage>
  );
}

/** @param typed the text of an answer that came too late: without a script, the browser has it no more. */
function endedView(typed: string, page: PageContext): Page {
  const { requests: text } = page.messages;
  return (
    <MessagePage page={page} icon="clock" heading={text.endedHeading}>
      <p class="lead" data-failure>
        {text.endedText}
      </p>
      {typed !== "" && (
        <div class="form">
          <TextAreaField id="payload" label={text.text} value={typed} rows={6} area={{ readOnly: true }} />
        </div>
      )}
    </MessagePage>
  );
}

function unknownView(page: PageContext): Page {
  const { requests: text } = page.messages;
  return (
    <MessagePage page={page} icon="alert" heading={text.unknownHeading}>
      <p class="lead" data-failure>
        {text.unknownText}
      </p>
    </MessagePage>
  );
}
