import type { ComponentChildren } from "preact";
import { type ApiToken, allScopes } from "../../accounts/accounts.ts";
import { type PageContext, pageHref } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { Pager } from "../parts/pager.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { LocalTime } from "../parts/times.tsx";
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

/** A token that has ended shows only when it ended. */
export function TokenList({ model, page }: Props) {
  const { tokens } = page.messages;
  return (
    <section class="card" aria-labelledby="list">
      <h2 class="section-heading" id="list">
        {tokens.list}
      </h2>
      {model.tokens.length === 0 && model.page === 1 && <p>{tokens.none}</p>}
      {model.tokens.length > 0 && (
        <ul class="rows">
          {model.tokens.map((token) => (
            <Row key={token.id} token={token} state={stateOf(token, model.now)} page={page} />
          ))}
        </ul>
      )}
      <Pager
        messages={page.messages}
        number={model.page}
        hasMore={model.hasMore}
        hrefOf={(number) => `${pageHref(page, tokensPagePath(number))}#list`}
      />
    </section>
  );
}

interface RowProps {
  readonly token: ApiToken;
  readonly state: State;
  readonly page: PageContext;
}

function Row({ token, state, page }: RowProps) {
  const { tokens } = page.messages;
  return (
    <li class="row">
      <div class="row-main">
        <h3 class="row-title" dir="auto">
          {token.name}
        </h3>
        <span class={state === "active" ? "badge badge-active" : "badge"}>{tokens[state]}</span>
      </div>
      <Facts token={token} state={state} page={page} />
      {state === "active" && (
        <Confirm
          page={page}
          icon="trash"
          label={tokens.revoke}
          accessibleLabel={tokens.revokeOne({ name: token.name })}
          explanation={tokens.revokeText}
          confirm={tokens.revokeConfirm}
          action={`${tokensPath}/${token.id}/revoke`}
        />
      )}
    </li>
  );
}

function Facts({ token, state, page }: RowProps) {
  const { messages } = page;
  const { tokens } = messages;
  const { expiresAt, lastUsedAt, lastUsedAddress, networks, revokedAt } = token;
  return (
    <dl class="row-facts token-facts">
      {state === "active" && (
        <Fact label={tokens.mayDo}>
          <ul class="tags">
            {mayDo(token, page).map((label) => (
              <li key={label} class="tag">
                {label}
              </li>
            ))}
          </ul>
        </Fact>
      )}
      {state === "active" && networks.length > 0 && (
        <Fact label={tokens.from}>
          <ul class="tags">
            {networks.map((network) => (
              <li key={network} class="tag" dir="ltr">
                {network}
              </li>
            ))}
          </ul>
        </Fact>
      )}
      <Fact label={tokens.created}>
        <LocalTime timeMs={token.createdAt} messages={messages} />
      </Fact>
      <Fact label={tokens.lastUsed}>
        {lastUsedAt === null ? tokens.never : lastUse({ at: lastUsedAt, from: lastUsedAddress, page })}
      </Fact>
      {revokedAt !== null && (
        <Fact label={tokens.revoked}>
          <LocalTime timeMs={revokedAt} messages={messages} />
        </Fact>
      )}
      {revokedAt === null && (
        <Fact label={state === "expired" ? tokens.expired : tokens.expires}>
          {expiresAt === null ? tokens.noExpiry : <LocalTime timeMs={expiresAt} messages={messages} />}
        </Fact>
      )}
    </dl>
  );
}

function mayDo({ scopes }: ApiToken, { messages }: PageContext): readonly string[] {
  if (allScopes.every((scope) => scopes.includes(scope))) return [messages.tokens.everything];
  const labels = scopeWords(messages);
  return scopes.map((scope) => labels[scope].label);
}

function lastUse({ at, from, page }: { at: number; from: string | null; page: PageContext }): ComponentChildren {
  const { messages } = page;
  const time = <LocalTime timeMs={at} messages={messages} />;
  if (from === null || from === "") return time;
  return messages.tokens.lastUsedAt.parts({ date: time, address: <bdi dir="ltr">{from}</bdi> });
}
