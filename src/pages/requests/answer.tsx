import type { FastifyReply } from "fastify";
import { AppError } from "../../base/errors.ts";
import { receiveAnswer } from "../../http/request-fields.ts";
import { pushLimits } from "../../pushes/pushes.ts";
import type { OpenRequest } from "../../requests/requests.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { keepFirstLineEnd } from "../parts/exact-text.tsx";
import { Field } from "../parts/fields.tsx";
import { MessageCard, Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { PageRequest } from "../request.ts";

/** The value of `?done=` after an answer was handed over. */
const sent = "sent";

interface AnswerModel {
  readonly request: OpenRequest;
  /** As typed; never what the browser has sealed. */
  readonly payload: string;
  readonly problem: string | null;
  readonly filesMax: number;
  readonly bytesMax: number;
}

/** `GET /requests/:token`: for everybody who has the link. */
export async function showRequest(page: PageRequest): Promise<FastifyReply> {
  const request = await findRequest(page);
  if (page.query("done") === sent) {
    return page.render(sentView, request, { selfPath: `/requests/${request.urlToken}?done=${sent}` });
  }
  return renderAnswer(page, request, { payload: "", problem: null }, 200);
}

/** `POST /requests/:token` */
export async function answerRequest(page: PageRequest): Promise<FastifyReply> {
  const request = await findRequest(page);
  const { requests, bodyIntake } = page.services;
  const { answer, fileRefusal } = await receiveAnswer(page.request, { requests, bodyIntake }, request.urlToken);
  try {
    if (fileRefusal !== undefined) throw fileRefusal;
    // Browsers send line ends as CR LF; a key with other line ends is not a valid key.
    const payload = answer.payload.replaceAll("\r\n", "\n");
    await requests.answer(request.urlToken, { ...answer, payload }, page.actor);
    return page.redirect(`/requests/${request.urlToken}?done=${sent}`);
  } catch (error) {
    const { status, problem } = describeRefusal(page, error);
    const typed = answer.isSealed ? "" : answer.payload;
    return renderAnswer(page, await findRequest(page), { payload: typed, problem }, status);
  } finally {
    await answer.files?.upload.abandon();
  }
}

async function findRequest(page: PageRequest): Promise<OpenRequest> {
  const { urlToken } = page;
  const request = urlToken === undefined ? undefined : await page.services.requests.find(urlToken);
  return request ?? page.notFound();
}

/** @throws every error that is not about the answer. */
function describeRefusal(page: PageRequest, error: unknown): { status: number; problem: string } {
  if (!(error instanceof AppError)) throw error;
  const { failure, problems, requests, formats } = page.messages;
  const { bytesPerDay, files } = page.services.config;
  switch (error.code) {
    case "unavailable":
      page.reportUnavailable(error);
      return { status: 503, problem: failure.unavailableText };
    case "bytes_used_up":
      page.waitAfter(error);
      return { status: 429, problem: problems.bytesUsedUp({ size: formats.bytes(bytesPerDay.client) }) };
    case "too_large":
      return { status: 413, problem: problems.filesTooLarge({ size: formats.bytes(files.pushBytesMax) }) };
    case "invalid_fields":
      return { status: 422, problem: requests.refused };
    default:
      throw error;
  }
}

function renderAnswer(
  page: PageRequest,
  request: OpenRequest,
  shown: Pick<AnswerModel, "payload" | "problem">,
  status: number,
): FastifyReply {
  if (request.state !== "open") return page.renderPlain(endedView, { status: page.isGet ? 410 : 422 });
  const { maxFileUploads, pushBytesMax } = page.services.config.files;
  const model = { request, ...shown, filesMax: maxFileUploads, bytesMax: pushBytesMax };
  return page.render(answerView, model, { status, selfPath: page.isGet ? `/requests/${request.urlToken}` : null });
}

/** The script seals what the form sends (browser/parts/answer-request.ts); without it, the server does. */
function answerView({ request, payload, problem, filesMax, bytesMax }: AnswerModel, page: PageContext): Page {
  const { messages } = page;
  const { requests: text, problems, formats } = messages;
  const max = pushLimits.payloadCharacters.text.max;
  return (
    <Layout page={page} title={text.heading} privatePage width="regular" scripts={["requests.js"]}>
      <div class="page-heading">
        <h1 dir="auto" translate={false}>
          {request.title}
        </h1>
        {request.note !== "" && (
          <p class="request-note" dir="auto" translate={false}>
            {request.note}
          </p>
        )}
        <p class="lead">{text.askedLead}</p>
      </div>
      {problem !== null && (
        <Notice tone="danger" icon="alert" alert>
          <p>{problem}</p>
        </Notice>
      )}
      <section class="card">
        <PostForm
          page={page}
          class="form"
          id="answer"
          action={`/requests/${request.urlToken}`}
          autoComplete="off"
          multipart
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
            data-failed={text.refused}
          />
          {request.wantsText && (
            <Field
              id="payload"
              label={text.text}
              control={(attributes) => (
                <textarea
                  {...attributes}
                  class="input"
                  name="payload"
                  rows={6}
                  dir="auto"
                  spellcheck={false}
                  autoComplete="off"
                  required={!request.wantsFiles}
                >
                  {keepFirstLineEnd(payload)}
                </textarea>
              )}
            />
          )}
          {request.wantsFiles && (
            <Field
              id="files"
              label={text.files}
              hint={text.filesHint({ count: filesMax, size: formats.bytes(bytesMax) })}
              control={(attributes) => (
                <input
                  {...attributes}
                  class="input input-files"
                  type="file"
                  name="files[]"
                  multiple={filesMax > 1}
                  required={!request.wantsText}
                />
              )}
            />
          )}
          <p class="field-problem" role="alert" data-answer-problem />
          <div data-server-seals>
            <Notice tone="warning" icon="alert">
              <p>{text.serverSeals}</p>
            </Notice>
          </div>
          <div hidden data-browser-seals>
            <Notice tone="info" icon="shield">
              <p>{text.sealsHere}</p>
            </Notice>
          </div>
          <p role="status" data-answer-status />
          <div class="form-end">
            <button type="submit" class="button button-primary button-large">
              {text.send}
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
    <Layout page={page} title={text.sentHeading} privatePage width="narrow">
      <MessageCard icon="check" heading={text.sentHeading}>
        <p>{text.sentText}</p>
        {request.state === "open" && (
          <a class="button" href={pageHref(page, `/requests/${request.urlToken}`)}>
            {text.again}
          </a>
        )}
      </MessageCard>
    </Layout>
  );
}

function endedView(page: PageContext): Page {
  const { requests: text } = page.messages;
  return (
    <Layout page={page} title={text.endedHeading} privatePage width="narrow">
      <MessageCard icon="clock" heading={text.endedHeading}>
        <p>{text.endedText}</p>
      </MessageCard>
    </Layout>
  );
}
