import type { Reply, SignedInRequest } from "../request.ts";
import { limitsOf, tokensPagePath, tokensPath } from "./model.ts";
import { emptyTokenForm, type ShownForm, tokenFormHandler, tokensOf } from "./take-token.ts";
import { tokensView } from "./view.tsx";

/** `GET /users/token` */
export function showTokens(page: SignedInRequest): Promise<Reply> {
  return renderTokens(page, emptyTokenForm);
}

/** `POST /users/token` */
export const createToken = tokenFormHandler(renderTokens, (page, { form, change }) =>
  page.services.accounts.createOwnToken(change, form.name, limitsOf(form)),
);

/** `POST /users/token/:id/revoke` */
export async function revokeToken(page: SignedInRequest): Promise<Reply> {
  const { accounts } = page.services;
  const { id } = page;
  const userId = page.user.id;
  const revoked = await accounts.revokeToken(userId, id, page.clientContext);
  // A second click finds the user's own token revoked already. Another user's token gets the answer of an unknown one.
  const isOwn = revoked || (await accounts.listTokens(userId)).some((token) => token.id === id);
  return isOwn ? page.redirect(tokensPath) : page.notFound();
}

async function renderTokens(page: SignedInRequest, shown: ShownForm): Promise<Reply> {
  const listed = await tokensOf(page, page.user);
  const model = { path: tokensPath, isService: false, ...shown, ...listed };
  return page.renderForm(tokensView, model, { status: shown.state.status, path: tokensPagePath(listed.page) });
}
