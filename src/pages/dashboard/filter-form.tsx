import type { PushSearch } from "../../pushes/pushes.ts";
import { type PageContext, pageHref } from "../page-context.ts";
import { Icon } from "../parts/icon.tsx";
import { dashboardPath, pushKinds, searchPath, searchTextMax, states } from "./filter.ts";

export interface FilterFormProps {
  readonly search: PushSearch;
  readonly page: PageContext;
}

/** States are links, the rest a form that is sent by GET: each list has an address. */
export function FilterForm({ search, page }: FilterFormProps) {
  const { dashboard, kinds } = page.words;
  const stateNames = { all: dashboard.all, active: dashboard.active, expired: dashboard.ended };
  return (
    <div class="filters">
      <nav class="segments" aria-label={dashboard.state}>
        {states.map((state) => (
          <a
            key={state}
            href={pageHref(page, searchPath({ ...search, state, page: 1 }))}
            aria-current={state === search.state ? "true" : undefined}
          >
            {stateNames[state]}
          </a>
        ))}
      </nav>
      <search>
        <form class="input-row" method="get" action={dashboardPath}>
          {page.localeAsked && <input type="hidden" name="locale" value={page.words.locale.tag} />}
          {search.state !== "all" && <input type="hidden" name="state" value={search.state} />}
          <label class="visually-hidden" for="q">
            {dashboard.search}
          </label>
          <input
            class="input"
            id="q"
            type="search"
            name="q"
            value={search.text}
            placeholder={dashboard.search}
            maxLength={searchTextMax}
            dir="auto"
            autoComplete="off"
          />
          <label class="visually-hidden" for="kind">
            {dashboard.kind}
          </label>
          <select class="input" id="kind" name="kind">
            <option value="">{dashboard.anyKind}</option>
            {pushKinds.map((kind) => (
              <option key={kind} value={kind} selected={kind === search.kind}>
                {kinds[kind]}
              </option>
            ))}
          </select>
          <button type="submit" class="button">
            <Icon name="search" />
            <span>{dashboard.submit}</span>
          </button>
        </form>
      </search>
    </div>
  );
}
