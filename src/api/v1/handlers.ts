import type { FastifyReply, FastifyRequest } from "fastify";
import { sendJson } from "../../http/headers.ts";
import { pageOf, urlTokenOf } from "../../http/parameters.ts";
import {
  type ApiDeps,
  type ApiHandler,
  claimView,
  findPush,
  linksOf,
  listHandlers,
  reserveEcho,
  sendWrongPassphrase,
} from "../v2/handlers.ts";
import { withSentLabels } from "../v2/presenters.ts";
import { type Envelope, receiveCreatePush } from "../v2/receive.ts";
import {
  presentAudit,
  presentGone,
  presentOwnedPush,
  presentPreview,
  presentPush,
  presentRevealed,
  presentVersion,
} from "./presenters.ts";
import { ignoredFields } from "./schemas.ts";

export const version: ApiHandler = (_request, reply, deps) => sendJson(reply, 200, presentVersion(deps.version));

type Wrapper = "password" | "file_push" | "url" | "file";

/** A text push, unless the fields name another kind or contain files. */
const passwordEnvelope: Envelope = {
  wrappers: wrappersAfter("password"),
  mayBeAbsent: false,
  complete: (fields) => (Reflect.get(fields, "kind") === "url" ? notDeletable(known(fields)) : known(fields)),
};

const filePushEnvelope: Envelope = {
  wrappers: wrappersAfter("file_push"),
  mayBeAbsent: false,
  complete: (fields) => ({ ...known(fields), kind: "file" }),
};

const urlEnvelope: Envelope = {
  wrappers: wrappersAfter("url"),
  mayBeAbsent: false,
  complete: (fields) => ({ ...notDeletable(known(fields)), kind: "url" }),
};

/** Some clients send the wrapper of another endpoint. The endpoint determines the kind. */
function wrappersAfter(own: Wrapper): readonly [string, ...string[]] {
  const others = (["password", "file_push", "url", "file"] as const).filter((wrapper) => wrapper !== own);
  return [own, ...others];
}

/** Without the fields that v1 does not know. */
function known(fields: object): object {
  return { ...fields, ...Object.fromEntries(ignoredFields.map((name) => [name, undefined])) };
}

/** In v1, viewers can never delete a url push, regardless of the server's default. */
function notDeletable(fields: object): object {
  return { ...fields, deletable_by_viewer: false };
}

export const createPassword: ApiHandler = (...call) => create(passwordEnvelope, ...call);
export const createFilePush: ApiHandler = (...call) => create(filePushEnvelope, ...call);
export const createUrl: ApiHandler = (...call) => create(urlEnvelope, ...call);

async function create(
  envelope: Envelope,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ApiDeps,
): Promise<FastifyReply> {
  const { wanted, locale } = await receiveCreatePush(request, deps, envelope);
  reserveEcho(reply, wanted);
  const push = withSentLabels(await deps.pushes.create(wanted, request.actor), wanted);
  return sendJson(
    reply,
    201,
    presentOwnedPush(push, { baseUrl: request.pushBaseUrl, locale }, wanted.passphrase ?? ""),
  );
}

/** In v1, a retrieval by the owner or an administrator is logged but not counted. */
export const retrieve: ApiHandler = async (request, reply, deps) => {
  const claimed = await claimView(request, reply, deps, "strangers");
  if (claimed.outcome === "refused") return sendWrongPassphrase(reply);
  if (claimed.outcome === "gone") return sendJson(reply, 200, presentGone(claimed.push, linksOf(request)));
  return sendJson(reply, 200, presentRevealed(claimed.push, claimed, linksOf(request)));
};

export const preview: ApiHandler = async (request, reply, deps) =>
  sendJson(reply, 200, presentPreview(await findPush(request, deps), linksOf(request)));

export const audit: ApiHandler = async (request, reply, deps) => {
  const entries = await deps.pushes.audit(urlTokenOf(request), request.actor, v1PageOf(request));
  return sendJson(reply, 200, presentAudit(entries));
};

export const expire: ApiHandler = async (request, reply, deps) => {
  const push = await deps.pushes.expire(urlTokenOf(request), request.actor);
  return sendJson(reply, 200, presentPush(push, linksOf(request)));
};

export const { listActive, listExpired } = listHandlers(presentOwnedPush, v1PageOf);

/** In v1, page 0 is page 1. @throws AppError invalid_request. */
function v1PageOf(request: FastifyRequest): number {
  return Reflect.get(Object(request.query), "page") === "0" ? 1 : pageOf(request);
}
