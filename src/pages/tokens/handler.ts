import type { FastifyReply } from "fastify";
import { AppError } from "../../base/errors.ts";
import { changeOf, proofOffered, refusedChange } from "../factors/changes.ts";
import type { SignedInRequest } from "../request.ts";
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

/** `GET /users/token` */
export function showTokens(page: SignedInRequest): Promise<FastifyReply> {
  return renderTokens(page, 200, { form: emptyForm, problems: {}, made: null });
}

/** `POST /users/token` */
export async function createToken(page: SignedInRequest): Promise<FastifyReply> {
  const fields = await page.form();
  const form = readTokenForm(fields);
  try {
    const answer = await page.services.accounts.createOwnToken(changeOf(page, fields), form.name, limitsOf(form));
    if (answer.outcome !== "made") {
      const { status, message } = refusedChange(page, answer);
      return await renderTokens(page, status, { form, problems: { proof: message }, made: null });
    }
    const { token, apiToken } = answer;
    // Answer without a redirect: the token is not stored, so it can be shown only here.
    return await renderTokens(page, 201, { form: emptyForm, problems: {}, made: { name: apiToken.name, token } });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "unavailable") {
      page.reportUnavailable(error);
      const refusal = page.messages.failure.unavailableText;
      return await renderTokens(page, 503, { form, problems: {}, made: null, refusal });
    }
    if (error.code !== "invalid_fields" || error.fields === undefined) throw error;
    const problems = describeProblems(error.fields, form, page.messages);
    return await renderTokens(page, 422, { form, problems, made: null });
  }
}

/** `POST /users/token/:id/revoke` */
export async function revokeToken(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts } = page.services;
  const { id } = page;
  const userId = page.user.id;
  const revoked = id !== undefined && (await accounts.revokeToken(userId, id, page.clientContext));
  // A second click finds the user's own token revoked already. Another user's token gets the answer of an unknown one.
  const isOwn = revoked || (await accounts.listTokens(userId)).some((token) => token.id === id);
  return isOwn ? page.redirect(tokensPath) : page.notFound();
}

async function renderTokens(
  page: SignedInRequest,
  status: number,
  shown: Pick<TokensModel, "form" | "problems" | "made"> & Partial<Pick<TokensModel, "refusal">>,
): Promise<FastifyReply> {
  const { accounts, clock } = page.services;
  const number = pageNumberOf(page.query("page"));
  const listed = await accounts.listTokenPage(page.user.id, number);
  const proof = await proofOffered(page);
  const model = { refusal: null, ...shown, ...listed, proof, page: number, now: clock.now() };
  return page.render(tokensView, model, { status, selfPath: page.isGet ? tokensPagePath(number) : null });
}
