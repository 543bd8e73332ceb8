import type { ComponentChildren } from "preact";
import type { Messages } from "../../i18n/i18n.ts";
import { pageHref, usePage } from "../page.ts";
import { ButtonLink, Submit } from "../parts/buttons.tsx";
import { Fact } from "../parts/fact.tsx";
import { OlderPager, type OlderPagerProps, Pager, type PagerProps } from "../parts/pager.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { BothTimes, RowTime } from "../parts/times.tsx";
import { Filters, listPath, type Query, type SearchProps } from "./filters.tsx";

/** The first column names the row. A cell without a value is left out where rows are cards. */
export interface Column<Row> {
  readonly label: string;
  /** @param at the row's number on the page, from 0. */
  readonly value?: (row: Row, at: number) => ComponentChildren;
  /** Instead of `value`: milliseconds since the epoch, shown as the distance from now. */
  readonly time?: (row: Row) => number | null;
  /** What a `time` of null says; nothing by default. */
  readonly never?: string;
  /** Where rows are cards, the value stands without a label, is left out, or has another label than the column. */
  readonly narrow?: "unlabelled" | "hidden" | ((row: Row) => string);
  /** The value may be long: it breaks anywhere. Columns with other values are as wide as these. */
  readonly long?: boolean;
  /** The header leads to the list in another order. Only an order that an index has (decision 0056). */
  readonly sort?: { readonly path: string; readonly current: "ascending" | "descending" | undefined };
}

export interface ListProps<Row> {
  /** The server's clock, milliseconds since the epoch; for columns with times. */
  readonly nowMs?: number;
  /** A name of the list, or the id of its heading; with a heading, the list is part of that section's card. */
  readonly caption: string | { readonly headingId: string };
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** What can be done with a row. */
  readonly actions?: (row: Row, at: number) => ComponentChildren;
  /** The header of the actions; none by default. */
  readonly actionsLabel?: string;
  /** What can be done with several rows. */
  readonly many?: ManyAction<Row>;
  /** For the style sheet. */
  readonly class?: string;
  readonly rowClass?: (row: Row) => string | undefined;
  /** For scripts. */
  readonly data?: Readonly<Record<`data-${string}`, string>>;
  /** What is shown instead of a list without rows. */
  readonly empty: ComponentChildren;
  /** The address of the list: its path, and its query without the page. */
  readonly at?: { readonly path: string; readonly query?: Query };
  readonly search?: Omit<SearchProps, "path">;
  /** Pages have numbers and, by default, an address that follows from `at`; or each continues where the previous one ended. */
  readonly paging?: (Omit<PagerProps, "path"> & Partial<PagerProps>) | OlderPagerProps;
  /** Between the filters and the rows. */
  readonly children?: ComponentChildren;
  /** Between the rows and the links to other pages. */
  readonly notes?: ComponentChildren;
}

/** One form with the whole list; the boxes of the selected rows are in it. */
interface ManyAction<Row> {
  /** Path that the form is posted to. */
  readonly action: string;
  /** The address of this list. */
  readonly next: string;
  readonly submit: string;
  readonly selectAll: string;
  readonly selected: Messages["dashboard"]["selected"];
  box(row: Row, at: number): ComponentChildren;
}

/** A table whose rows become cards on narrow screens (design/lists.css), with its filters and the links between its pages. */
export function List<Row>(list: ListProps<Row>) {
  const { at: { path, query = {} } = { path: "" }, search, rows, many, empty, paging, children, notes } = list;
  const pagePath = (page: number) => listPath(path, { ...query, page });
  const table = <Table {...list} />;
  const selectable = many && (
    <PostForm action={many.action} next={many.next} class="stack-small selectable">
      {table}
      <p class="visually-hidden" role="status" />
      <div class="card line selection">
        <span hidden data-scripted>
          {many.selected.parts({ count: <output data-selected-count>0</output> })}
        </span>
        <Submit label={many.submit} look="danger" />
      </div>
    </PostForm>
  );
  return (
    <>
      {search !== undefined && <Filters path={path} {...search} />}
      {children}
      {rows.length === 0 ? empty : (selectable ?? table)}
      {notes}
      {paging !== undefined &&
        ("number" in paging ? <Pager path={pagePath} {...paging} /> : <OlderPager {...paging} />)}
    </>
  );
}

interface NoneFoundProps {
  readonly text: string;
  /** The list without filters. */
  readonly path: string;
}

/** Instead of the rows, where a search found none. */
export function NoneFound({ text, path }: NoneFoundProps) {
  return (
    <div class="card card-centered">
      <p>{text}</p>
      <ButtonLink to={path} label={usePage().messages.admin.showAll} />
    </div>
  );
}

interface FactsProps<Row> extends Pick<ListProps<Row>, "nowMs" | "columns"> {
  readonly row: Row;
}

/** The same columns where one row has a page of its own: each value with its label, times in full. */
export function Facts<Row>({ nowMs, columns, row }: FactsProps<Row>) {
  return (
    <dl class="facts">
      {columns.map(({ label, narrow, value, time, never }) => {
        const timeMs = time?.(row) ?? null;
        return (
          <Fact
            key={label}
            label={typeof narrow === "function" ? narrow(row) : label}
            value={
              timeMs === null || nowMs === undefined ? (
                (value?.(row, 0) ?? never)
              ) : (
                <BothTimes timeMs={timeMs} nowMs={nowMs} />
              )
            }
          />
        );
      })}
    </dl>
  );
}

function Table<Row>(list: ListProps<Row>) {
  const { nowMs, caption, rows, actions, class: className, data } = list;
  const isNamed = typeof caption === "string";
  const classes = ["table", actions !== undefined && "table-actions", className].filter(Boolean);
  return (
    <div class={isNamed ? "card list" : "list"}>
      <table
        class={classes.join(" ")}
        {...data}
        data-now={nowMs}
        aria-labelledby={isNamed ? undefined : caption.headingId}
      >
        {isNamed && <caption class="visually-hidden">{caption}</caption>}
        <thead>
          <Headers {...list} />
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <Row key={at} list={list} row={row} at={at} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Headers<Row>({ columns, many, actions, actionsLabel }: ListProps<Row>) {
  const page = usePage();
  return (
    <tr>
      {many !== undefined && (
        <td>
          <input type="checkbox" aria-label={many.selectAll} hidden data-scripted data-select-all />
        </td>
      )}
      {columns.map(({ label, sort }) => (
        <th key={label} scope="col" aria-sort={sort?.current}>
          {sort === undefined ? label : <a href={pageHref(page, sort.path)}>{label}</a>}
        </th>
      ))}
      {actions !== undefined && (actionsLabel === undefined ? <td /> : <th scope="col">{actionsLabel}</th>)}
    </tr>
  );
}

interface RowProps<Row> {
  readonly list: ListProps<Row>;
  readonly row: Row;
  readonly at: number;
}

function Row<Row>({ list, row, at }: RowProps<Row>) {
  const { columns, many, actions, rowClass } = list;
  return (
    <tr class={rowClass?.(row)}>
      {many !== undefined && <td>{many.box(row, at)}</td>}
      {columns.map((column, index) => (
        <Cell key={column.label} list={list} row={row} at={at} column={column} isName={index === 0} />
      ))}
      {actions !== undefined && <td>{actions(row, at)}</td>}
    </tr>
  );
}

interface CellProps<Row> extends RowProps<Row> {
  readonly column: Column<Row>;
  readonly isName: boolean;
}

function Cell<Row>({ list: { nowMs }, row, at, column, isName }: CellProps<Row>) {
  const { label, value, time, never, narrow, long = false } = column;
  const timeMs = time?.(row) ?? null;
  const shown =
    timeMs === null || nowMs === undefined ? (value?.(row, at) ?? never) : <RowTime timeMs={timeMs} nowMs={nowMs} />;
  const className = long ? "cell-long" : narrow === "hidden" ? "wide-only" : undefined;
  if (isName) {
    return (
      <th scope="row" class={className}>
        {shown}
      </th>
    );
  }
  const isEmpty = shown === undefined || shown === null || shown === false || shown === "";
  const shownLabel = typeof narrow === "function" ? narrow(row) : narrow === undefined ? label : undefined;
  return (
    <td class={className} data-label={isEmpty ? undefined : shownLabel}>
      {shown}
    </td>
  );
}
