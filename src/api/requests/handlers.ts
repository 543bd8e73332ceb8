import type { FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { isJsonObject } from "../../http/body/json-reader.ts";
import { receiveBody, refuseFiles } from "../../http/body/receive-body.ts";
import { sendJson } from "../../http/headers.ts";
import { pageOf, requestProofOf, urlTokenOf } from "../../http/parameters.ts";
import { timestamp } from "../../http/present.ts";
import { readCreateRequest, receiveAnswer } from "../../http/request-fields.ts";
import type { ListedRequest, OpenRequest } from "../../requests/requests.ts";
import { type ApiHandler, linksOf } from "../v2/handlers.ts";
import { presentOwnedPush } from "../v2/presenters.ts";
import type { MessageAnswer } from "../v2/schemas.ts";
import type { OwnedRequestAnswer, RequestAnswer, RequestAnswersAnswer } from "./schemas.ts";

export const create: ApiHandler = async (request, reply, { requests, bodyIntake }) => {
  const { value } = await receiveBody(request, bodyIntake, refuseFiles);
  const fields: unknown = Reflect.get(Object(value), "request");
  if (!isJsonObject(fields)) {
    throw new AppError("invalid_request", 'The body must have an object named "request".');
  }
  const made = await requests.create(readCreateRequest(fields), request.actor);
  return sendJson(reply, 201, presentOwned(made, request));
};

export const list: ApiHandler = async (request, reply, { requests }) => {
  const found = await requests.list(request.actor, pageOf(request));
  return sendJson(
    reply,
    200,
    found.map((owned) => presentOwned(owned, request)),
  );
};

export const show: ApiHandler = async (request, reply, { requests }) => {
  const found = await requests.find(urlTokenOf(request));
  if (found === undefined) throw new AppError("not_found", "not-found");
  return sendJson(reply, 200, presentOpen(found));
};

export const showAnswers: ApiHandler = async (request, reply, { requests }) => {
  const found = await requests.findOwned(urlTokenOf(request), request.actor, requestProofOf(request));
  const links = linksOf(request);
  return sendJson(reply, 200, {
    ...presentOwned(found.request, request),
    pushes: found.answers.map((push) => presentOwnedPush(push, links)),
  } satisfies RequestAnswersAnswer);
};

export const close: ApiHandler = async (request, reply, { requests }) => {
  const closed = await requests.close(urlTokenOf(request), request.actor, requestProofOf(request));
  return sendJson(reply, 200, presentOwned(closed, request));
};

export const remove: ApiHandler = async (request, reply, { requests }) => {
  await requests.delete(urlTokenOf(request), request.actor, requestProofOf(request));
  return sendJson(reply, 200, { message: "The request and its answers were deleted." } satisfies MessageAnswer);
};

export const answer: ApiHandler = async (request, reply, { requests, bodyIntake }) => {
  const urlToken = urlTokenOf(request);
  const received = await receiveAnswer(request, { requests, bodyIntake }, urlToken);
  if (received.fileRefusal !== undefined) {
    await received.answer.files?.upload.abandon();
    throw received.fileRefusal;
  }
  await requests.answer(urlToken, received.answer, request.actor);
  return sendJson(reply, 201, { message: "The answer was handed over." } satisfies MessageAnswer);
};

function presentOpen(request: OpenRequest): RequestAnswer {
  return { ...presentCommon(request), asked_by: request.askedBy };
}

/** Clients expect strings, so an unknown link is "". */
function presentCommon(request: Omit<OpenRequest, "askedBy" | "urlToken"> & Pick<ListedRequest, "urlToken">) {
  return {
    url_token: request.urlToken ?? "",
    title: request.title,
    note: request.note,
    wants_text: request.wantsText,
    wants_files: request.wantsFiles,
    state: request.state,
    expires_at: timestamp(request.expiresAt),
    recipient: request.recipient,
  };
}

function presentOwned(owned: ListedRequest, { baseUrl, pushBaseUrl }: FastifyRequest): OwnedRequestAnswer {
  return {
    ...presentCommon(owned),
    created_at: timestamp(owned.createdAt),
    answers: owned.answers,
    answers_max: owned.answersMax,
    encryption_check: owned.encryptionCheck,
    identity_sealed: owned.identitySealed,
    html_url: owned.urlToken === null ? "" : `${pushBaseUrl}/requests/${owned.urlToken}#${owned.fingerprint}`,
    // A gateway has no page of answers.
    answers_url: owned.urlToken === null ? "" : `${baseUrl}/requests/${owned.urlToken}/answers`,
  };
}
