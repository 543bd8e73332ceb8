import { Layout } from "../layout.tsx";
import { listPath } from "../lists/filters.tsx";
import { type Page, type PageContext, useMessages } from "../page.ts";
import { CopyButton } from "../parts/buttons.tsx";
import { PageHeading } from "../parts/card.tsx";
import { Notice } from "../parts/notice.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { TokenFormCard } from "./form.tsx";
import { TokenList } from "./list.tsx";
import { limitsOf, tokensPath } from "./model.ts";
import { emptyTokenForm, type ShownForm, type TokensModel, tokenFormHandler, tokensOf } from "./take-token.ts";

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
  return page.renderForm(tokensView, model, {
    status: shown.state.status,
    path: listPath(tokensPath, { page: listed.page }),
  });
}

/** The form is posted to `/users/token`; revoking is posted to `/users/token/<id>/revoke`. */
export function tokensView(model: TokensModel, page: PageContext): Page {
  const { tokens } = page.messages;
  return (
    <Layout page={page} title={tokens.heading} width="wide" scripts={["passkeys.js"]} asksFirstAt={tokensPath} isPublic>
      <PageHeading heading={tokens.heading} lead={tokens.lead} />
      {model.made !== null && <MadeToken made={model.made} />}
      <TokenList model={model} />
      <TokenFormCard model={model} />
    </Layout>
  );
}

export function MadeToken({ made }: { readonly made: { readonly name: string; readonly token: string } }) {
  const { tokens } = useMessages();
  return (
    <Notice tone="success" icon="key" heading={tokens.made} text={tokens.madeText}>
      <div class="field">
        <label class="field-label" for="token" dir="auto">
          {made.name}
        </label>
        <div class="input-row">
          <input class="input input-link" id="token" type="text" readOnly value={made.token} dir="ltr" data-select />
          <CopyButton of="token" label={tokens.copyToken} primary />
        </div>
      </div>
    </Notice>
  );
}
