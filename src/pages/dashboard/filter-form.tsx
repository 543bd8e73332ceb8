import type { PushSearch } from "../../pushes/pushes.ts";
import { type PageContext, pageHref } from "../page.ts";
import { SearchBox, SearchChoice, SearchForm } from "../parts/search-form.tsx";
import { dashboardPath, pushKinds, searchPath, searchTextMax, states } from "./filter.ts";

export interface FilterFormProps {
  readonly search: PushSearch;
  readonly page: PageContext;
}

/** States are links, the rest a form that is sent by GET: each list has an address. */
export function FilterForm({ search, page }: FilterFormProps) {
  const { dashboard, kinds } = page.messages;
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
      <SearchForm page={page} action={dashboardPath} submit={dashboard.submit}>
        {search.state !== "all" && <input type="hidden" name="state" value={search.state} />}
        <SearchBox name="q" label={dashboard.search} value={search.text} maxLength={searchTextMax} />
        <SearchChoice
          name="kind"
          label={dashboard.kind}
          value={search.kind ?? ""}
          options={[
            { value: "", label: dashboard.anyKind },
            ...pushKinds.map((kind) => ({ value: kind, label: kinds[kind] })),
          ]}
        />
      </SearchForm>
    </div>
  );
}
