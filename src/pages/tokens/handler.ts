import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { pageHref } from "../page-context.ts";
import { type PageDeps, pageContext, userOf } from "../page-scope.ts";
import { renderPage } from "../render.ts";
import { type TokensModel, tokensView } from "./view.tsx";

const path = "/users/token";
const nameCharactersMax = 255;

export function registerTokenPages(server: FastifyInstance, deps: PageDeps): void {
  const reading = { access: "page_session", changesState: false } as const;
  const changing = { access: "page_session", changesState: true } as const;
  server.get(path, { config: reading }, (request, reply) =>
    sendTokens(request, reply, deps, 200, { name: "", problem: null, made: null }),
  );
  server.post(path, { config: changing }, (request, reply) => makeToken(request, reply, deps));
  server.post(`${path}/:id/revoke`, { config: changing }, async (request, reply) => {
    const { params } = request;
    const id = typeof params === "object" && params !== null ? Number(Reflect.get(params, "id")) : Number.NaN;
    const revoked = Number.isSafeInteger(id) && (await deps.accounts.revokeToken(userOf(request).id, id));
    if (!revoked) throw new AppError("not_found", "not-found");
    return reply.redirect(pageHref(pageContext(request, deps, null), path), 303);
  });
}

async function makeToken(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const name = typeof form.name === "string" ? form.name.trim() : "";
  try {
    const { token, apiToken } = await deps.accounts.createToken(userOf(request).id, name);
    // Answered at once instead of by a redirect: this answer is the only place the token ever stands.
    return await sendTokens(request, reply, deps, 201, {
      name: "",
      problem: null,
      made: { name: apiToken.name, token },
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_fields") throw error;
    const { problems } = pageContext(request, deps, null).words;
    const problem = problems.tokenName({ max: nameCharactersMax });
    return await sendTokens(request, reply, deps, 422, { name, problem, made: null });
  }
}

async function sendTokens(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  shown: Pick<TokensModel, "name" | "problem" | "made">,
): Promise<FastifyReply> {
  const tokens = await deps.accounts.listTokens(userOf(request).id);
  const selfPath = request.method === "GET" ? path : null;
  return sendPage(reply, status, renderPage(tokensView({ ...shown, tokens }, pageContext(request, deps, selfPath))));
}
