import type { ComponentChildren } from "preact";
import { type ApiToken, allScopes } from "../../accounts/accounts.ts";
import { type PageContext, pageHref } from "../page.ts";
import { Pager } from "../parts/pager.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { RelativeTime } from "../parts/times.tsx";
import { scopeWords } from "./form.tsx";
import { type TokensModel, tokensPagePath, tokensPath } from "./model.ts";

interface Props {
  readonly model: TokensModel;
  readonly page: PageContext;
}

type State = "active" | "expired" | "revoked";

function stateOf({ revokedAt, expiresAt }: ApiToken, now: number): State {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && now >= expiresAt ? "expired" : "active";
}

export function TokenList({ model, page }: Props) {
  const { tokens } = page.messages;
  return (
    <section class="card" aria-labelledby="list">
      <h2 class="section-heading" id="list">
        {tokens.list}
      </h2>
      {model.tokens.length === 0 && model.page === 1 && <p>{tokens.none}</p>}
      {model.tokens.length > 0 && <TokenTable model={model} page={page} />}
      <Pager
        messages={page.messages}
        number={model.page}
        hasMore={model.hasMore}
        hrefOf={(number) => `${pageHref(page, tokensPagePath(number))}#list`}
      />
    </section>
  );
}

function TokenTable({ model, page }: Props) {
  const { tokens } = page.messages;
  return (
    <table class="data-table table-actions action-corner token-list" data-now={model.now} aria-labelledby="list">
      <thead>
        <tr>
          <th scope="col">{tokens.name}</th>
          <th scope="col">{tokens.mayDo}</th>
          <th scope="col">{tokens.from}</th>
          <th scope="col">{tokens.created}</th>
          <th scope="col">{tokens.lastUsed}</th>
          <th scope="col">{tokens.expires}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {model.tokens.map((token) => (
          <Row key={token.id} token={token} nowMs={model.now} page={page} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly token: ApiToken;
  readonly nowMs: number;
  readonly page: PageContext;
}

/** A token that has ended shows no permissions and networks: they allow nothing any more. */
function Row({ token, nowMs, page }: RowProps) {
  const { messages } = page;
  const { tokens } = messages;
  const { networks, lastUsedAt } = token;
  const state = stateOf(token, nowMs);
  const endsAt = token.revokedAt ?? token.expiresAt;
  const endLabels = { active: tokens.expires, expired: tokens.expired, revoked: tokens.revoked };
  return (
    <tr>
      <th scope="row" class="cell-long">
        <bdi class="token-name">{token.name}</bdi>{" "}
        <span class={state === "active" ? "badge badge-active" : "badge"}>{tokens[state]}</span>
      </th>
      <td class="cell-long">{state === "active" && <Tags texts={mayDo(token, page)} />}</td>
      <td class="cell-long" data-label={state === "active" && networks.length > 0 ? tokens.from : undefined}>
        {state === "active" && networks.length > 0 && <Tags texts={networks} dir="ltr" />}
      </td>
      <td class="wide-only">
        <RelativeTime timeMs={token.createdAt} nowMs={nowMs} messages={messages} />
      </td>
      <td class="cell-long" data-label={tokens.lastUsed}>
        {lastUsedAt === null ? tokens.never : lastUse({ at: lastUsedAt, from: token.lastUsedAddress, nowMs, page })}
      </td>
      <td data-label={endLabels[state]}>
        {endsAt === null ? tokens.noExpiry : <RelativeTime timeMs={endsAt} nowMs={nowMs} messages={messages} />}
      </td>
      <td>
        {state === "active" && (
          <Confirm
            page={page}
            icon="trash"
            label={tokens.revoke}
            accessibleLabel={tokens.revokeOne({ name: token.name })}
            explanation={tokens.revokeText}
            confirm={tokens.revokeConfirm}
            action={`${tokensPath}/${token.id}/revoke`}
            group="action"
          />
        )}
      </td>
    </tr>
  );
}

function Tags({ texts, dir }: { readonly texts: readonly string[]; readonly dir?: "ltr" }) {
  return (
    <ul class="tags">
      {texts.map((text) => (
        <li key={text} class="tag" dir={dir}>
          {text}
        </li>
      ))}
    </ul>
  );
}

function mayDo({ scopes }: ApiToken, { messages }: PageContext): readonly string[] {
  if (allScopes.every((scope) => scopes.includes(scope))) return [messages.tokens.everything];
  const labels = scopeWords(messages);
  return scopes.map((scope) => labels[scope].label);
}

interface LastUse {
  readonly at: number;
  readonly from: string | null;
  readonly nowMs: number;
  readonly page: PageContext;
}

function lastUse({ at, from, nowMs, page }: LastUse): ComponentChildren {
  const { messages } = page;
  const time = <RelativeTime timeMs={at} nowMs={nowMs} messages={messages} />;
  if (from === null || from === "") return time;
  return messages.tokens.lastUsedAt.parts({ date: time, address: <bdi dir="ltr">{from}</bdi> });
}
