import { Layout } from "../layout.tsx";
import { type Page, type PageContext, useMessages } from "../page.ts";
import { CopyButton } from "../parts/buttons.tsx";
import { PageHeading } from "../parts/card.tsx";
import { Notice } from "../parts/notice.tsx";
import { TokenFormCard } from "./form.tsx";
import { TokenList } from "./list.tsx";
import { tokensPath } from "./model.ts";
import type { TokensModel } from "./take-token.ts";

/** The form is posted to `/users/token`; revoking is posted to `/users/token/<id>/revoke`. */
export function tokensView(model: TokensModel, page: PageContext): Page {
  const { tokens } = page.messages;
  return (
    <Layout page={page} title={tokens.heading} width="wide" scripts={["passkeys.js"]} asksFirstAt={tokensPath}>
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
    <Notice tone="success" icon="key">
      <h2 class="notice-heading">{tokens.made}</h2>
      <p>{tokens.madeText}</p>
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
