import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo } from "../answers.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, idOf, type PageDeps, pageContext, queryOf, userOf } from "../page-scope.ts";
import {
  describeProblems,
  emptyForm,
  limitsOf,
  pageNumberOf,
  readTokenForm,
  type TokensModel,
  tokensPagePath,
  tokensPath,
} from "./model.ts";
import { tokensView } from "./view.tsx";

export function registerTokenPages(server: FastifyInstance, deps: PageDeps): void {
  const reading = { access: "page_session", changesState: false } as const;
  const changing = { access: "page_session", changesState: true } as const;
  server.get(tokensPath, { config: reading }, (request, reply) =>
    sendTokens(request, reply, deps, 200, { form: emptyForm, problems: {}, made: null }),
  );
  server.get("/api_tokens", { config: { access: "page", changesState: false } }, (request, reply) =>
    goTo(tokensPath, request, reply, deps),
  );
  server.post(tokensPath, { config: changing }, (request, reply) => makeToken(request, reply, deps));
  server.post(`${tokensPath}/:id/revoke`, { config: changing }, async (request, reply) => {
    const id = idOf(request);
    const { id: userId } = userOf(request);
    const revoked = id !== undefined && (await deps.accounts.revokeToken(userId, id, clientContextOf(request)));
    // A second click finds one's own token revoked. Another user's is answered like one that never was.
    const own = revoked || (await deps.accounts.listTokens(userId)).some((token) => token.id === id);
    if (!own) throw new AppError("not_found", "not-found");
    return goTo(tokensPath, request, reply, deps);
  });
}

async function makeToken(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = readTokenForm(await receiveForm(request, deps.bodyBudget));
  try {
    const { id } = userOf(request);
    const { token, apiToken } = await deps.accounts.createToken(
      id,
      form.name,
      limitsOf(form),
      clientContextOf(request),
    );
    // Answered at once instead of by a redirect: this answer is the only place the token ever stands.
    const made = { name: apiToken.name, token };
    return await sendTokens(request, reply, deps, 201, { form: emptyForm, problems: {}, made });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_fields" || error.fields === undefined) throw error;
    const problems = describeProblems(error.fields, form, pageContext(request, deps, null).messages);
    return await sendTokens(request, reply, deps, 422, { form, problems, made: null });
  }
}

async function sendTokens(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  shown: Pick<TokensModel, "form" | "problems" | "made">,
): Promise<FastifyReply> {
  const page = pageNumberOf(queryOf(request, "page"));
  const listed = await deps.accounts.listTokenPage(userOf(request).id, page);
  const selfPath = request.method === "GET" ? tokensPagePath(page) : null;
  const model = { ...shown, ...listed, page, now: deps.clock.now() };
  return sendPage(reply, status, renderPage(tokensView(model, pageContext(request, deps, selfPath))));
}
