import { pageHref, usePage } from "../page.ts";
import { Submit } from "../parts/buttons.tsx";

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

export interface SearchProps {
  readonly path: string;
  readonly submit: string;
  readonly filters: readonly Filter[];
  /** A filter whose values are links. */
  readonly segments?: {
    readonly label: string;
    readonly links: readonly { readonly label: string; readonly path: string; readonly isCurrent: boolean }[];
  };
  /** The rest of the query, which the form keeps. */
  readonly kept?: Query;
}

export type Query = Readonly<Record<string, string | number | null>>;

/** The address of a list: what is empty is left out of its query, and so is the first page. */
export function listPath(path: string, query: Query): string {
  const written = new URLSearchParams(givenIn(query)).toString();
  return written === "" ? path : `${path}?${written}`;
}

function givenIn(query: Query): [name: string, value: string][] {
  return Object.entries(query)
    .filter(([name, value]) => value !== null && value !== "" && !(name === "page" && value === 1))
    .map(([name, value]) => [name, String(value)]);
}

/** Sent by GET, so that every result has an address. */
export function Filters({ path, submit, filters, segments, kept = {} }: SearchProps) {
  const page = usePage();
  const form = (
    <search>
      <form class="input-row" method="get" action={path}>
        {page.localeAsked && <input type="hidden" name="locale" value={page.messages.locale.tag} />}
        {givenIn(kept).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {filters.map((filter) => (
          <FilterControl key={filter.name} {...filter} />
        ))}
        <Submit label={submit} icon="search" look="plain" />
      </form>
    </search>
  );
  if (segments === undefined) return form;
  return (
    <div class="line filters">
      <nav class="segments" aria-label={segments.label}>
        {segments.links.map((link) => (
          <a key={link.label} href={pageHref(page, link.path)} aria-current={link.isCurrent ? "true" : undefined}>
            {link.label}
          </a>
        ))}
      </nav>
      {form}
    </div>
  );
}

function FilterControl({ name, label, value, hint = label, maxLength, options }: Filter) {
  return (
    <>
      <label class="visually-hidden" for={name}>
        {label}
      </label>
      {options === undefined ? (
        <input
          class="input"
          id={name}
          type="search"
          name={name}
          value={value}
          placeholder={hint}
          maxLength={maxLength}
          dir="auto"
          autoComplete="off"
        />
      ) : (
        <select class="input" id={name} name={name}>
          {options.map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </>
  );
}
