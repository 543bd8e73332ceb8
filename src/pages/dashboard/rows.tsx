import { kindNames } from "../../base/push-kinds.ts";
import {
  asksForPassphrase,
  isSealedLabel,
  type ListedPush,
  type PushOrder,
  type PushSearch,
} from "../../pushes/pushes.ts";
import type { Column } from "../lists/list.tsx";
import { pushColumns } from "../lists/push-columns.tsx";
import { type PageContext, pageHref, useMessages, usePage } from "../page.ts";
import { IconReference, IconShapes } from "../parts/icon.tsx";
import { RowTime } from "../parts/times.tsx";
import { searchPath } from "./filter.ts";
import { beginningOf, shownName } from "./push-parts.tsx";

const labelCharactersShown = 100;

interface ColumnsModel {
  readonly search: PushSearch;
  /** The time of the last counted view by id. */
  readonly lastViews: ReadonlyMap<number, number>;
  readonly nowMs: number;
}

interface OpenedProps extends Omit<ColumnsModel, "search"> {
  readonly push: ListedPush;
}

/** The columns of an owner's list. */
export function columnsOf({ search, ...opened }: ColumnsModel, page: PageContext): readonly Column<ListedPush>[] {
  const { dashboard, kinds } = page.messages;
  const { kind, made, end, views, state } = pushColumns(page, "owner");
  const icon = (name: ListedPush["kind"]) => (
    <>
      <IconReference name={name} />
      {kinds[name]}
    </>
  );
  return [
    { label: dashboard.name, value: (push, at) => <RowName push={push} at={at} /> },
    { ...kind, value: (push) => icon(push.kind) },
    { ...made, narrow: "unlabelled", sort: sortBy(search, "newest", "oldest") },
    { ...end, sort: sortBy(search, "soonest", "latest") },
    { ...views, narrow: "unlabelled" },
    {
      ...state,
      value: (push) => (push.expired ? state.value(push) : <Opened push={push} {...opened} />),
    },
  ];
}

/** Active pushes say instead of their state whether somebody has opened them. */
function Opened({ push, lastViews, nowMs }: OpenedProps) {
  const { dashboard } = useMessages();
  const timeMs = lastViews.get(push.id);
  if (timeMs === undefined) return <span class="badge badge-active">{dashboard.unopened}</span>;
  const time = <RowTime timeMs={timeMs} nowMs={nowMs} />;
  return <span class="badge">{dashboard.opened.parts({ time })}</span>;
}

const directions = { newest: "descending", oldest: "ascending", soonest: "ascending", latest: "descending" } as const;

/** @param first the order that the first click asks for. */
function sortBy(search: PushSearch, first: PushOrder, second: PushOrder) {
  const { order } = search;
  return {
    path: searchPath({ ...search, order: order === first ? second : first, page: 1 }),
    current: order === first || order === second ? directions[order] : undefined,
  };
}

/** What the rows refer to: the shapes of their icons, and the labels of their controls (see `labelledBy`). */
export function SharedByRows() {
  const { dashboard, created } = useMessages();
  return (
    <>
      <IconShapes names={[...kindNames, "key", "copy", "pencil", "again", "trash"]} />
      <div hidden>
        <span id="select">{dashboard.select}</span>
        <span id="copy">{dashboard.copyLink}</span>
        <span id="edit">{dashboard.edit}</span>
        <span id="another">{created.anotherLike}</span>
        <span id="delete">{dashboard.expire}</span>
      </div>
    </>
  );
}

/** The name of a control: a label of the page, and the name of the push. */
export function labelledBy(label: string, at: number): string {
  return `${label} n${at}`;
}

/** The path of the link; null: this server does not store it. */
function pathOf({ urlToken }: ListedPush): string | null {
  return urlToken === null ? null : `/p/${urlToken}`;
}

interface RowProps {
  readonly push: ListedPush;
  /** The row's number on the page. */
  readonly at: number;
}

export function RowActions({ push, at }: RowProps) {
  const page = usePage();
  const { created, dashboard } = page.messages;
  const path = pathOf(push);
  return (
    <>
      {!push.expired && (
        <>
          {path !== null && push.endToEnd === null && (
            <a
              href={pageHref(page, `${path}/preview`)}
              title={dashboard.copyLink}
              aria-labelledby={labelledBy("copy", at)}
              data-link-end={push.retrievalStep ? "/r" : ""}
            >
              <IconReference name="copy" />
            </a>
          )}
          {path !== null && (
            <a href={pageHref(page, `${path}/edit`)} title={dashboard.edit} aria-labelledby={labelledBy("edit", at)}>
              <IconReference name="pencil" />
            </a>
          )}
          <button
            type="submit"
            name="only"
            value={push.id}
            title={dashboard.expire}
            aria-labelledby={labelledBy("delete", at)}
          >
            <IconReference name="trash" />
          </button>
        </>
      )}
      {path !== null && push.expired && (
        <a
          href={pageHref(page, `${path}/another`)}
          title={created.anotherLike}
          aria-labelledby={labelledBy("another", at)}
        >
          <IconReference name="again" />
        </a>
      )}
    </>
  );
}

function RowName({ push, at }: RowProps) {
  const page = usePage();
  const { messages } = page;
  const { dashboard, endToEnd } = messages;
  const path = pathOf(push);
  const name = beginningOf(shownName(push, messages), labelCharactersShown);
  const isNamed = push.name !== null && !isSealedLabel(push.name);
  const attributes = {
    id: `n${at}`,
    class: isNamed ? "push-name" : "no-name",
    dir: isNamed ? ("auto" as const) : undefined,
  };
  return (
    <>
      {path === null ? (
        <>
          <span {...attributes}>{name}</span>
          <span class="push-note">{dashboard.linkNotStored}</span>
        </>
      ) : (
        <a {...attributes} href={pageHref(page, `${path}/audit`)}>
          {name}
        </a>
      )}
      {asksForPassphrase(push) && (
        <span class="push-mark" role="img" aria-label={dashboard.passphrase} title={dashboard.passphrase}>
          <IconReference name="key" />
        </span>
      )}
      {push.note !== null && (
        <span class="push-note" dir="auto">
          {isSealedLabel(push.note) ? endToEnd.sealedNote : beginningOf(push.note, labelCharactersShown)}
        </span>
      )}
    </>
  );
}
