import { kindNames } from "../../base/push-kinds.ts";
import type { Messages } from "../../i18n/i18n.ts";
import {
  asksForPassphrase,
  isSealedLabel,
  type ListedPush,
  type PushOrder,
  type PushSearch,
} from "../../pushes/pushes.ts";
import { type PageContext, pageHref } from "../page.ts";
import { IconReference, IconShapes } from "../parts/icon.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { RowTime } from "../parts/times.tsx";
import { deletePath } from "./deletion.tsx";
import { searchPath } from "./filter.ts";
import { beginningOf, shownName, stateName } from "./push-parts.tsx";

const labelCharactersShown = 100;

export interface PushTableProps {
  readonly pushes: readonly ListedPush[];
  /** Origin of the links of pushes. */
  readonly pushBaseUrl: string;
  readonly search: PushSearch;
  /** The server's clock, milliseconds since the epoch. */
  readonly nowMs: number;
  readonly page: PageContext;
}

/**
 * The list, in the form that deletes the selected pushes. A row has few pixels and few bytes: its icons are references, the
 * names of its controls are put together from a label of the page and the name of the push, and the script puts together the
 * link that it copies.
 */
export function PushTable({ pushes, pushBaseUrl, search, nowMs, page }: PushTableProps) {
  const { dashboard, actions, created } = page.messages;
  return (
    <PostForm page={page} action={deletePath} class="push-list">
      <input type="hidden" name="next" value={searchPath(search)} />
      <IconShapes names={[...kindNames, "key", "copy", "pencil", "again", "trash"]} />
      <div hidden>
        <span id="select">{dashboard.select}</span>
        <span id="copy">{dashboard.copyLink}</span>
        <span id="edit">{dashboard.edit}</span>
        <span id="another">{created.anotherLike}</span>
        <span id="delete">{dashboard.expire}</span>
      </div>
      <table class="push-table" data-copied={actions.copied} data-link-base={pushBaseUrl} data-now={nowMs}>
        <caption class="visually-hidden">{dashboard.caption}</caption>
        <thead>
          <tr>
            <td>
              <input type="checkbox" aria-label={dashboard.selectAll} hidden data-scripted data-select-all />
            </td>
            <th scope="col">{dashboard.name}</th>
            <th scope="col">{dashboard.kind}</th>
            <SortHeader search={search} orders={["newest", "oldest"]} label={dashboard.made} page={page} />
            <SortHeader search={search} orders={["soonest", "latest"]} label={dashboard.expiresOrEnded} page={page} />
            <th scope="col">{dashboard.views}</th>
            <th scope="col">{dashboard.state}</th>
            <th scope="col">{dashboard.actions}</th>
          </tr>
        </thead>
        <tbody>
          {pushes.map((push, at) => (
            <Row key={push.id} push={push} at={at} nowMs={nowMs} page={page} />
          ))}
        </tbody>
      </table>
      <p class="visually-hidden" role="status" />
      <div class="selection">
        <span hidden data-scripted>
          {dashboard.selected.parts({ count: <output data-selected-count>0</output> })}
        </span>
        <button type="submit" class="button button-danger">
          {dashboard.deleteSelected}
        </button>
      </div>
    </PostForm>
  );
}

interface SortHeaderProps {
  readonly search: PushSearch;
  /** The order that the first click asks for, and the other one. */
  readonly orders: readonly [PushOrder, PushOrder];
  readonly label: string;
  readonly page: PageContext;
}

const directions = { newest: "descending", oldest: "ascending", soonest: "ascending", latest: "descending" } as const;

function SortHeader({ search, orders, label, page }: SortHeaderProps) {
  const [first, second] = orders;
  const isSorted = orders.includes(search.order);
  const next = search.order === first ? second : first;
  return (
    <th scope="col" aria-sort={isSorted ? directions[search.order] : undefined}>
      <a href={pageHref(page, searchPath({ ...search, order: next, page: 1 }))}>{label}</a>
    </th>
  );
}

interface RowProps extends Pick<PushTableProps, "nowMs" | "page"> {
  readonly push: ListedPush;
  /** The row's number on the page. */
  readonly at: number;
}

function Row({ push, at, nowMs, page }: RowProps) {
  const { messages } = page;
  const { dashboard, kinds } = messages;
  const path = push.urlToken === null ? null : `/p/${push.urlToken}`;
  const nameId = `n${at}`;
  const labelledBy = (label: string) => `${label} ${nameId}`;
  return (
    <tr class={push.expired ? "push-ended" : undefined}>
      <td>
        {!push.expired && (
          <input type="checkbox" name="push[]" value={push.id} aria-labelledby={labelledBy("select")} />
        )}
      </td>
      <th scope="row">
        <RowName push={push} id={nameId} href={path && pageHref(page, `${path}/audit`)} messages={messages} />
        {push.note !== null && (
          <span class="push-note">
            {isSealedLabel(push.note) ? messages.endToEnd.sealedNote : beginningOf(push.note, labelCharactersShown)}
          </span>
        )}
      </th>
      <td>
        <IconReference name={push.kind} />
        {kinds[push.kind]}
      </td>
      <td>
        <RowTime timeMs={push.createdAt} nowMs={nowMs} messages={messages} />
      </td>
      <td data-label={push.expired ? dashboard.ended : dashboard.expires}>
        <RowTime timeMs={push.expiredOn ?? push.expiresAt} nowMs={nowMs} messages={messages} />
      </td>
      <td>{dashboard.viewsOf({ used: push.views, allowed: push.expireAfterViews })}</td>
      <td>
        <span class="badge">{stateName(push, messages)}</span>
      </td>
      <td>
        <RowActions push={push} path={path} nameId={nameId} page={page} />
      </td>
    </tr>
  );
}

interface RowActionsProps extends Pick<RowProps, "push" | "page"> {
  /** The path of the link; null: this server does not store it. */
  readonly path: string | null;
  readonly nameId: string;
}

function RowActions({ push, path, nameId, page }: RowActionsProps) {
  const { created, dashboard } = page.messages;
  const labelledBy = (label: string) => `${label} ${nameId}`;
  return (
    <>
      {!push.expired && (
        <>
          {path !== null && push.endToEnd === null && (
            <a
              href={pageHref(page, `${path}/preview`)}
              title={dashboard.copyLink}
              aria-labelledby={labelledBy("copy")}
              data-link-end={push.retrievalStep ? "/r" : ""}
            >
              <IconReference name="copy" />
            </a>
          )}
          {path !== null && (
            <a href={pageHref(page, `${path}/edit`)} title={dashboard.edit} aria-labelledby={labelledBy("edit")}>
              <IconReference name="pencil" />
            </a>
          )}
          <button
            type="submit"
            name="only"
            value={push.id}
            title={dashboard.expire}
            aria-labelledby={labelledBy("delete")}
          >
            <IconReference name="trash" />
          </button>
        </>
      )}
      {path !== null && push.expired && (
        <a href={pageHref(page, `${path}/another`)} title={created.anotherLike} aria-labelledby={labelledBy("another")}>
          <IconReference name="again" />
        </a>
      )}
    </>
  );
}

interface RowNameProps {
  readonly push: ListedPush;
  readonly id: string;
  /** null: there is no link, and so no page of the push. */
  readonly href: string | null;
  readonly messages: Messages;
}

function RowName({ push, id, href, messages }: RowNameProps) {
  const { dashboard } = messages;
  const name = beginningOf(shownName(push, messages), labelCharactersShown);
  const isNamed = push.name !== null && !isSealedLabel(push.name);
  return (
    <>
      {href === null ? (
        <span id={id} class={isNamed ? "push-name" : "no-name"}>
          {name}
        </span>
      ) : (
        <a id={id} class={isNamed ? "push-name" : "no-name"} href={href}>
          {name}
        </a>
      )}
      {href === null && <span class="push-note">{dashboard.linkNotStored}</span>}
      {asksForPassphrase(push) && (
        <span class="push-mark" role="img" aria-label={dashboard.passphrase} title={dashboard.passphrase}>
          <IconReference name="key" />
        </span>
      )}
    </>
  );
}
