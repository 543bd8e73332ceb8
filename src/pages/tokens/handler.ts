import type { FastifyReply } from "fastify";
import type { ProtectedChange } from "../../accounts/accounts.ts";
import { changeOf, proofOffered, refusedChange } from "../factors/changes.ts";
import type { SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, refused, takeForm, untouched } from "../take-form.ts";
import {
  describeProblems,
  emptyForm,
  limitsOf,
  pageNumberOf,
  readTokenForm,
  type TokenField,
  type TokenForm,
  type TokensModel,
  tokensPagePath,
  tokensPath,
} from "./model.ts";
import { tokensView } from "./view.tsx";

/** `GET /users/token` */
export function showTokens(page: SignedInRequest): Promise<FastifyReply> {
  return renderTokens(page, emptyForm, untouched);
}

interface SentToken {
  readonly form: TokenForm;
  readonly change: ProtectedChange;
}

const tokenForm: FormDeclaration<SignedInRequest, SentToken, TokenField> = {
  read: (fields, page) => ({ form: readTokenForm(fields), change: changeOf(page, fields) }),
  show: (page, { form }, state) => renderTokens(page, form, state),
  describe: (page, { form }, found) => describeProblems(found, form, page.messages),
};

/** `POST /users/token` */
export function createToken(page: SignedInRequest): Promise<FastifyReply> {
  return takeForm(page, tokenForm, async ({ form, change }) => {
    const answer = await page.services.accounts.createOwnToken(change, form.name, limitsOf(form));
    if (answer.outcome !== "made") {
      const { status, message } = refusedChange(page, answer);
      return refused({ proof: message }, { status });
    }
    const { token, apiToken } = answer;
    // Answer without a redirect: the token is not stored, so it can be shown only here.
    return await renderTokens(page, emptyForm, { ...untouched, status: 201 }, { name: apiToken.name, token });
  });
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
  form: TokenForm,
  state: FormState<TokenField>,
  made: TokensModel["made"] = null,
): Promise<FastifyReply> {
  const { accounts, clock } = page.services;
  const number = pageNumberOf(page.query("page"));
  const listed = await accounts.listTokenPage(page.user.id, number);
  const proof = await proofOffered(page);
  const own = { path: tokensPath, isService: false };
  const model = { ...own, form, state, made, ...listed, proof, page: number, now: clock.now() };
  return page.renderForm(tokensView, model, { status: state.status, path: tokensPagePath(number) });
}
