import { type ApiToken, allScopes } from "../../accounts/accounts.ts";
import { type Column, List } from "../lists/list.tsx";
import { type PageContext, type PartProps, usePage } from "../page.ts";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { RowTime } from "../parts/times.tsx";
import { scopeWords } from "./form.tsx";
import type { TokensModel } from "./take-token.ts";

type State = "active" | "expired" | "revoked";

function stateOf({ revokedAt, expiresAt }: ApiToken, now: number): State {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && now >= expiresAt ? "expired" : "active";
}

export function TokenList({ model }: PartProps<TokensModel>) {
  const page = usePage();
  const { tokens, admin } = page.messages;
  const { service } = admin.groupsPage;
  const { path, isService } = model;
  return (
    <Card id="list" heading={isService ? service.heading : tokens.list}>
      <List<ApiToken>
        nowMs={model.now}
        caption={{ headingId: "list" }}
        rows={model.tokens}
        class="token-list"
        columns={columnsOf(model, page)}
        actions={(token) =>
          stateOf(token, model.now) === "active" && (
            <div class="row-actions">
              <Confirm
                icon="trash"
                label={tokens.revoke}
                accessibleLabel={tokens.revokeOne({ name: token.name })}
                explanation={tokens.revokeText}
                confirm={tokens.revokeConfirm}
                action={isService ? `${path}/revoke` : `${path}/${token.id}/revoke`}
                group="action"
              >
                {isService && <input type="hidden" name="token" value={String(token.id)} />}
              </Confirm>
            </div>
          )
        }
        empty={model.page === 1 && <p>{isService ? service.none : tokens.none}</p>}
        paging={{
          number: model.page,
          hasMore: model.hasMore,
          path: (number) => `${number === 1 ? path : `${path}?page=${number}`}#list`,
        }}
      />
    </Card>
  );
}

/** A token that has ended shows no permissions and networks: they allow nothing any more. */
function columnsOf({ now: nowMs, isService }: TokensModel, page: PageContext): readonly Column<ApiToken>[] {
  const { tokens } = page.messages;
  const isActive = (token: ApiToken) => stateOf(token, nowMs) === "active";
  const endLabels = { active: tokens.expires, expired: tokens.expired, revoked: tokens.revoked };
  return [
    {
      label: tokens.name,
      long: true,
      value: (token) => (
        <>
          <bdi class="token-name">{token.name}</bdi>{" "}
          <span class={isActive(token) ? "badge badge-active" : "badge"}>{tokens[stateOf(token, nowMs)]}</span>
        </>
      ),
    },
    {
      label: tokens.mayDo,
      long: true,
      narrow: "unlabelled",
      value: (token) => isActive(token) && <Tags texts={mayDo(token, isService, page)} />,
    },
    {
      label: tokens.from,
      long: true,
      value: (token) => isActive(token) && token.networks.length > 0 && <Tags texts={token.networks} dir="ltr" />,
    },
    { label: tokens.created, narrow: "hidden", time: ({ createdAt }) => createdAt },
    { label: tokens.lastUsed, long: true, value: (token) => lastUse(token, nowMs, page) },
    {
      label: tokens.expires,
      narrow: (token) => endLabels[stateOf(token, nowMs)],
      time: ({ revokedAt, expiresAt }) => revokedAt ?? expiresAt,
      never: tokens.noExpiry,
    },
  ];
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

function mayDo({ scopes }: ApiToken, isService: boolean, { messages }: PageContext): readonly string[] {
  if (allScopes.every((scope) => scopes.includes(scope))) return [messages.tokens.everything];
  const labels = scopeWords(messages, isService);
  return scopes.map((scope) => labels[scope].label);
}

function lastUse({ lastUsedAt, lastUsedAddress: from }: ApiToken, nowMs: number, { messages }: PageContext) {
  if (lastUsedAt === null) return messages.tokens.never;
  const time = <RowTime timeMs={lastUsedAt} nowMs={nowMs} />;
  if (from === null || from === "") return time;
  return messages.tokens.lastUsedAt.parts({ date: time, address: <bdi dir="ltr">{from}</bdi> });
}
