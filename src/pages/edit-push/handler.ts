import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError, unreachable } from "../../base/errors.ts";
import { receiveBody } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import type { EditablePush, EditOutcome } from "../../pushes/pushes.ts";
import { goTo } from "../answers.ts";
import { renderGone } from "../gone.tsx";
import { FormFiles } from "../new-push/form-files.ts";
import { formOf, offeredMails, type PushFields } from "../new-push/handler.ts";
import { filesTooLarge } from "../new-push/model.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext, tokenOf } from "../page-scope.ts";
import { PageRequest } from "../request.ts";
import {
  describeEditProblems,
  type EditProblems,
  type EditState,
  editModel,
  mayHaveFiles,
  untouched,
} from "./model.ts";
import { readEdit, valuesOf } from "./read-form.ts";
import { editView } from "./view.tsx";

/** `/p/:token/edit`: what its owner may change of a living push. Others, and everybody after its end, find nothing. */
export function registerEditPages(server: FastifyInstance, deps: PageDeps): void {
  const showing = { access: "page_session", changesState: false } as const;
  const saving = { access: "page_session", changesState: true, formInParts: true } as const;
  server.get("/p/:token/edit", { config: showing }, (request, reply) => show(request, reply, deps));
  server.post("/p/:token/edit", { config: saving }, (request, reply) => save(request, reply, deps));
}

async function findEditable(request: FastifyRequest, deps: PageDeps): Promise<EditablePush | undefined> {
  const token = tokenOf(request);
  return token === undefined ? undefined : await deps.pushes.findEditable(token, request.actor);
}

async function show(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const editable = await findEditable(request, deps);
  if (editable === undefined) return renderGone(new PageRequest(request, reply, deps));
  return sendForm(request, reply, deps, editable, 200, untouched(editable));
}

/** A form that was sent, for sending it back. */
interface Sent {
  readonly editable: EditablePush;
  readonly fields: PushFields;
  readonly hasFiles: boolean;
}

async function save(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const editable = await findEditable(request, deps);
  if (editable === undefined) throw new AppError("not_found", "not-found");
  const files = new FormFiles(deps.pushes, request.actor);
  try {
    const fields = formOf(await receiveBody(request, deps.bodyBudget, files.take));
    const { upload, refusal } = files;
    const sent = { editable, fields, hasFiles: upload !== undefined || refusal !== undefined };
    try {
      if (refusal !== undefined) throw refusal;
      const values = valuesOf(fields, editable);
      if (values.removePassphrase && values.passphrase !== "") {
        const problems = { passphrase: pageContext(request, deps, null).messages.edit.passphraseEither };
        return await sendBack(request, reply, deps, sent, { status: 422, problems });
      }
      const wanted = readEdit(fields, values, editable);
      const { urlToken } = editable.push;
      const edited = await deps.pushes.edit(urlToken, { ...wanted, ...(upload && { upload }) }, request.actor);
      return await answer(request, reply, deps, sent, edited);
    } catch (error) {
      return await refuse(request, reply, deps, sent, error);
    }
  } finally {
    await files.end();
  }
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  sent: Sent,
  edited: EditOutcome,
): Promise<FastifyReply> {
  const context = pageContext(request, deps, null);
  const { edit, problems } = context.messages;
  const refused = (status: number, currentPassphrase: string) =>
    sendBack(request, reply, deps, sent, { status, problems: { currentPassphrase } });
  switch (edited.outcome) {
    case "edited":
      return goTo(`/p/${sent.editable.push.urlToken}/preview`, request, reply, deps);
    case "passphrase_required": {
      const withFiles = mayHaveFiles({ kind: sent.editable.push.kind, files: sent.editable.files });
      return refused(422, withFiles ? edit.passphraseNeededFiles : edit.passphraseNeeded);
    }
    case "wrong_passphrase":
      return refused(422, edit.wrongPassphrase);
    case "too_many_attempts":
      reply.header("retry-after", String(edited.retryAfterSeconds));
      return refused(429, problems.tooManyAttempts({ count: edited.retryAfterSeconds }));
    case "changed_meanwhile":
      return sendBack(request, reply, deps, sent, { status: 409, changedMeanwhile: true });
    case "gone":
    case "unknown":
      return renderGone(new PageRequest(request, reply, deps));
    default:
      return unreachable(edited);
  }
}

async function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  sent: Sent,
  error: unknown,
): Promise<FastifyReply> {
  if (!(error instanceof AppError)) throw error;
  const { messages } = pageContext(request, deps, null);
  const model = editModel(sent.editable, untouched(sent.editable), shownTo(request, deps));
  switch (error.code) {
    case "unavailable":
      deps.events.refusedUnavailable({ requestId: request.id, method: request.method, route: "/p/:token/edit" }, error);
      reply.header("retry-after", String(error.retryAfterSeconds ?? 1));
      return await sendBack(request, reply, deps, sent, { status: 503, unavailable: true });
    case "too_large": {
      const max = model.limits.payloadCharactersMax;
      const problems = sent.hasFiles ? filesTooLarge(model, messages) : { payload: messages.problems.tooLong({ max }) };
      return await sendBack(request, reply, deps, sent, { status: 413, problems });
    }
    case "invalid_fields": {
      const found = error.fields ?? {};
      const filesOff = sent.hasFiles && !deps.config.kinds.file.enabled;
      const problems = filesOff ? { files: messages.edit.filesOff } : describeEditProblems(found, model, messages);
      return await sendBack(request, reply, deps, sent, { status: 422, problems });
    }
    default:
      throw error;
  }
}

function shownTo(request: FastifyRequest, { config }: PageDeps) {
  return { config, mails: offeredMails(request, config) };
}

/** With everything that was entered, beside how the push stands by now. */
async function sendBack(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  { fields, hasFiles }: Sent,
  shown: { status: number; problems?: EditProblems; unavailable?: boolean; changedMeanwhile?: boolean },
): Promise<FastifyReply> {
  const editable = await findEditable(request, deps);
  if (editable === undefined) return renderGone(new PageRequest(request, reply, deps));
  const { status, problems = {}, unavailable = false, changedMeanwhile = false } = shown;
  const state = { values: valuesOf(fields, editable), problems, unavailable, changedMeanwhile, filesLost: hasFiles };
  return sendForm(request, reply, deps, editable, status, state);
}

function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  editable: EditablePush,
  status: number,
  state: EditState,
): FastifyReply {
  const selfPath = request.method === "GET" ? `/p/${editable.push.urlToken}/edit` : null;
  const model = editModel(editable, state, shownTo(request, deps));
  return sendPage(reply, status, renderPage(editView(model, pageContext(request, deps, selfPath))));
}
