import type { FastifyReply, FastifyRequest } from "fastify";
import { sendJson } from "../../http/headers.ts";
import { pageOf, urlTokenOf } from "../../http/parameters.ts";
import { type ApiDeps, type ApiHandler, claim, sendWrongPassphrase, userIdOf } from "../v2/handlers.ts";
import { type Envelope, receiveCreatePush } from "../v2/receive-create-push.ts";
import * as envelopes from "./envelopes.ts";
import {
  presentAudit,
  presentGone,
  presentOwnedPush,
  presentPush,
  presentRevealed,
  presentVersion,
} from "./presenters.ts";

export const version: ApiHandler = (_request, reply, deps) => sendJson(reply, 200, presentVersion(deps.version));

export const createPassword: ApiHandler = (...call) => create(envelopes.passwordEnvelope, ...call);
export const createFilePush: ApiHandler = (...call) => create(envelopes.filePushEnvelope, ...call);
export const createUrl: ApiHandler = (...call) => create(envelopes.urlEnvelope, ...call);

async function create(
  envelope: Envelope,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ApiDeps,
): Promise<FastifyReply> {
  const asked = await receiveCreatePush(request, deps, envelope);
  const push = await deps.pushes.create(asked, request.actor);
  return sendJson(reply, 201, presentOwnedPush(push, request.baseUrl, asked.passphrase ?? ""));
}

/** As this version's users know it, an owner's or administrator's retrieval is logged and not counted. */
export const retrieve: ApiHandler = async (request, reply, deps) => {
  const claimed = await claim(request, deps.pushes, "strangers");
  if (claimed.outcome === "refused") return sendWrongPassphrase(reply);
  if (claimed.outcome === "gone") return sendJson(reply, 200, presentGone(claimed.push, request.baseUrl));
  return sendJson(reply, 200, presentRevealed(claimed.push, claimed, request.baseUrl));
};

export const audit: ApiHandler = async (request, reply, deps) => {
  const entries = await deps.pushes.audit(urlTokenOf(request), request.actor, v1PageOf(request));
  return sendJson(reply, 200, presentAudit(entries));
};

export const expire: ApiHandler = async (request, reply, deps) => {
  const push = await deps.pushes.expire(urlTokenOf(request), request.actor);
  return sendJson(reply, 200, presentPush(push, request.baseUrl));
};

export const listActive: ApiHandler = (request, reply, deps) => list(request, reply, deps, "active");
export const listExpired: ApiHandler = (request, reply, deps) => list(request, reply, deps, "expired");

async function list(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ApiDeps,
  state: "active" | "expired",
): Promise<FastifyReply> {
  const pushes = await deps.pushes.list(userIdOf(request), state, v1PageOf(request));
  return sendJson(
    reply,
    200,
    pushes.map((push) => presentOwnedPush(push, request.baseUrl)),
  );
}

/** In this version pages may be counted from 0 as well. @throws AppError invalid_request. */
function v1PageOf(request: FastifyRequest): number {
  return Reflect.get(Object(request.query), "page") === "0" ? 1 : pageOf(request);
}
