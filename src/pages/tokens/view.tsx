import type { Words } from "../../words/words.ts";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page-context.ts";
import { Confirm } from "../parts/confirm.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Field } from "../parts/field.tsx";
import { LocalTime } from "../parts/local-time.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { Page } from "../render.ts";

/** Times in milliseconds since the epoch. */
export interface TokenRow {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export interface TokensModel {
  /** As typed, when the form is sent back. */
  readonly name: string;
  readonly problem: string | null;
  /** A token just made: the only time it can be shown. */
  readonly made: { readonly name: string; readonly token: string } | null;
  readonly tokens: readonly TokenRow[];
}

/** Field `name` is posted to `/users/token`; revoking is posted to `/users/token/<id>/revoke`. */
export function tokensView(model: TokensModel, page: PageContext): Page {
  const { tokens } = page.words;
  return (
    <Layout page={page} title={tokens.heading} width="regular">
      <div class="page-heading">
        <h1>{tokens.heading}</h1>
        <p class="lead">{tokens.lead}</p>
      </div>
      {model.made !== null && <MadeToken made={model.made} words={page.words} />}
      <section class="card" aria-labelledby="make">
        <h2 class="section-heading" id="make">
          {tokens.make}
        </h2>
        <PostForm page={page} class="form" action="/users/token">
          <Field
            id="name"
            label={tokens.name}
            hint={tokens.nameHint}
            problem={model.problem ?? undefined}
            control={(attributes) => (
              <input
                {...attributes}
                class="input"
                type="text"
                name="name"
                value={model.name}
                dir="auto"
                required
                autoComplete="off"
              />
            )}
          />
          <div class="form-end">
            <button type="submit" class="button button-primary">
              {tokens.submit}
            </button>
          </div>
        </PostForm>
      </section>
      <section class="card" aria-labelledby="list">
        <h2 class="section-heading" id="list">
          {tokens.list}
        </h2>
        {model.tokens.length === 0 ? (
          <p>{tokens.none}</p>
        ) : (
          <ul class="rows">
            {model.tokens.map((token) => (
              <Row key={token.id} token={token} page={page} />
            ))}
          </ul>
        )}
      </section>
    </Layout>
  );
}

function MadeToken({
  made,
  words,
}: {
  readonly made: { readonly name: string; readonly token: string };
  readonly words: Words;
}) {
  const { tokens } = words;
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
          <CopyButton words={words} of="token" label={tokens.copyToken} primary />
        </div>
      </div>
    </Notice>
  );
}

function Row({ token, page }: { readonly token: TokenRow; readonly page: PageContext }) {
  const { words } = page;
  const { tokens } = words;
  return (
    <li class="row">
      <div class="row-main">
        <h3 class="row-title" dir="auto">
          {token.name}
        </h3>
        <span class={token.revokedAt === null ? "badge badge-active" : "badge"}>
          {token.revokedAt === null ? tokens.active : tokens.revoked}
        </span>
      </div>
      <dl class="row-facts">
        <div>
          <dt>{tokens.created}</dt>
          <dd>
            <LocalTime timeMs={token.createdAt} words={words} />
          </dd>
        </div>
        <div>
          <dt>{tokens.lastUsed}</dt>
          <dd>{token.lastUsedAt === null ? tokens.never : <LocalTime timeMs={token.lastUsedAt} words={words} />}</dd>
        </div>
      </dl>
      {token.revokedAt === null && (
        <Confirm
          page={page}
          icon="trash"
          label={tokens.revoke}
          accessibleLabel={tokens.revokeOne({ name: token.name })}
          explanation={tokens.revokeText}
          confirm={tokens.revokeConfirm}
          action={`/users/token/${token.id}/revoke`}
        />
      )}
    </li>
  );
}
