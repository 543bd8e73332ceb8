import type { ComponentChildren } from "preact";
import { type PageContext, pageHref } from "../page.ts";
import { OlderPager, Pager } from "../parts/pager.tsx";
import { SearchBox, SearchChoice, SearchForm } from "../parts/search-form.tsx";
import { RowTime } from "../parts/times.tsx";

/** The first column names the row. A cell without a value is left out where rows are cards. */
export interface Column<Row> {
  readonly label: string;
  readonly value?: (row: Row) => ComponentChildren;
  /** Instead of `value`: milliseconds since the epoch, shown as the distance from now. */
  readonly time?: (row: Row) => number | null;
  /** What a `time` of null says; nothing by default. */
  readonly never?: string;
  /** Where rows are cards, the value stands without a label, is left out, or has another label than the column. */
  readonly narrow?: "unlabelled" | "hidden" | ((row: Row) => string);
  /** The value may be long: it breaks anywhere. Only in lists with a `fit`. */
  readonly long?: boolean;
}

export interface Filter {
  /** The parameter's name in the query. It is the id too. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** The placeholder of a text; the label by default. */
  readonly hint?: string;
  readonly maxLength?: number;
  /** Without them, the filter is a text. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
}

export interface ListProps<Row> {
  readonly page: PageContext;
  /** The server's clock, milliseconds since the epoch; for columns with times. */
  readonly nowMs?: number;
  /** A name of the list, or the id of its heading; with a heading, the list is part of that section's card. */
  readonly caption: string | { readonly headingId: string };
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** What can be done with a row. */
  readonly actions?: (row: Row) => ComponentChildren;
  /** Columns are as wide as their values; "corner": where rows are cards, the action is in the corner of the card. */
  readonly fit?: "values" | "corner";
  /** For the style sheet. */
  readonly class?: string;
  /** What is shown instead of a list without rows. */
  readonly empty: ComponentChildren;
  readonly search?: SearchProps;
  readonly paging?: Paging;
  /** Between the filters and the rows. */
  readonly children?: ComponentChildren;
}

interface SearchProps {
  readonly path: string;
  readonly submit: string;
  readonly filters: readonly Filter[];
}

/** Pages have numbers, or each continues where the previous one ended. */
type Paging =
  | {
      /** From 1. */
      readonly number: number;
      readonly hasMore: boolean;
      readonly newestFirst?: boolean;
      /** The address of a page. */
      path(number: number): string;
    }
  /** null: this page is the newest, or the last. */
  | { readonly newest: string | null; readonly older: string | null };

/** The address of a list: what is empty is left out of its query, and so is the first page. */
export function listPath(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(query).filter(
    ([name, value]) => value !== null && value !== "" && !(name === "page" && value === 1),
  );
  const written = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return written === "" ? path : `${path}?${written}`;
}

/** A table whose rows become cards on narrow screens (design/tables.css), with its filters and the links between its pages. */
export function List<Row>(list: ListProps<Row>) {
  const { page, search, rows, empty, paging, children } = list;
  return (
    <>
      {search !== undefined && <Filters {...search} page={page} />}
      {children}
      {rows.length === 0 ? empty : <Table {...list} />}
      {paging !== undefined && <Pages paging={paging} page={page} />}
    </>
  );
}

function Filters({ path, submit, filters, page }: SearchProps & Pick<ListProps<never>, "page">) {
  return (
    <SearchForm page={page} action={path} submit={submit} wraps={filters.length > 1}>
      {filters.map(({ options, ...filter }) =>
        options === undefined ? (
          <SearchBox key={filter.name} {...filter} />
        ) : (
          <SearchChoice key={filter.name} {...filter} options={options} />
        ),
      )}
    </SearchForm>
  );
}

function Pages({ paging, page }: { readonly paging: Paging; readonly page: PageContext }) {
  const href = (path: string | null) => path && pageHref(page, path);
  return "number" in paging ? (
    <Pager {...paging} messages={page.messages} hrefOf={(number) => pageHref(page, paging.path(number))} />
  ) : (
    <OlderPager messages={page.messages} newestHref={href(paging.newest)} olderHref={href(paging.older)} />
  );
}

const fitClasses = { values: " table-actions", corner: " table-actions action-corner" } as const;

function Table<Row>({ page, nowMs, caption, rows, columns, actions, fit, class: own = "" }: ListProps<Row>) {
  const isNamed = typeof caption === "string";
  const table = (
    <table
      class={`data-table${fit === undefined ? "" : fitClasses[fit]}${own && ` ${own}`}`}
      data-now={nowMs}
      aria-labelledby={isNamed ? undefined : caption.headingId}
    >
      {isNamed && <caption class="visually-hidden">{caption}</caption>}
      <thead>
        <tr>
          {columns.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
          {actions !== undefined && <td />}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {columns.map((column, index) => (
              <Cell key={column.label} column={column} row={row} isName={index === 0} nowMs={nowMs} page={page} />
            ))}
            {actions !== undefined && <td>{actions(row)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
  return isNamed ? <div class="card table-card">{table}</div> : table;
}

interface CellProps<Row> extends Pick<ListProps<Row>, "page"> {
  readonly column: Column<Row>;
  readonly row: Row;
  readonly isName: boolean;
  readonly nowMs: number | undefined;
}

function Cell<Row>({ column, row, isName, nowMs, page: { messages } }: CellProps<Row>) {
  const { label, value, time, never, narrow, long = false } = column;
  const timeMs = time?.(row) ?? null;
  const shown =
    timeMs !== null && nowMs !== undefined ? (
      <RowTime timeMs={timeMs} nowMs={nowMs} messages={messages} />
    ) : (
      (value?.(row) ?? never)
    );
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
