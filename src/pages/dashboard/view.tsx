import { kindNames } from "../../base/push-kinds.ts";
import { pageMax } from "../../http/parameters.ts";
import type { ListedPush, PushSearch } from "../../pushes/pushes.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { SearchBox, SearchChoice, SearchForm } from "../parts/search-form.tsx";
import { dashboardPath, searchPath, searchTextMax, states } from "./filter.ts";
import { PushTable } from "./table.tsx";

interface DashboardModel {
  readonly search: PushSearch;
  readonly pushes: readonly ListedPush[];
  /** Origin of the links of pushes. */
  readonly pushBaseUrl: string;
  readonly hasMore: boolean;
  /** The search ended before it had examined every push. */
  readonly stopped: boolean;
  /** The search has passed over names or notes that were sealed in a browser. */
  readonly metSealedLabel: boolean;
  /** Selected pushes were just deleted. */
  readonly isDeleted: boolean;
  /** The server's clock, milliseconds since the epoch. */
  readonly nowMs: number;
}

export function dashboardView(model: DashboardModel, page: PageContext): Page {
  const { dashboard, nav } = page.messages;
  const { search } = model;
  const { text, state, kind } = search;
  const isEmpty = model.pushes.length === 0;
  const isFiltered = text !== "" || state !== "all" || kind !== null || search.page > 1;
  const isEnd = model.hasMore && search.page === pageMax;
  return (
    <Layout page={page} title={dashboard.heading} privatePage width="wide">
      <div class="heading-row">
        <div class="page-heading">
          <h1>{dashboard.heading}</h1>
          <p class="lead">{dashboard.lead}</p>
        </div>
        <a class="button button-primary" href={pageHref(page, "/")}>
          {nav.newPush}
        </a>
      </div>
      {model.isDeleted && (
        <Notice tone="success" icon="check">
          <p role="status">{dashboard.deleted}</p>
        </Notice>
      )}
      {(!isEmpty || isFiltered) && <FilterForm search={search} page={page} />}
      {isEmpty ? <Nothing page={page} isFiltered={isFiltered} /> : <PushTable {...model} page={page} />}
      {(model.stopped || isEnd) && (
        <Notice tone="info" icon="alert">
          <p>{model.stopped ? dashboard.stopped : dashboard.lastPage}</p>
        </Notice>
      )}
      {model.metSealedLabel && (
        <Notice tone="info" icon="key">
          <p>{dashboard.sealedNotSearched}</p>
        </Notice>
      )}
      <Pager
        messages={page.messages}
        number={search.page}
        hasMore={model.hasMore && !isEnd}
        newestFirst={search.order === "newest"}
        hrefOf={(number) => pageHref(page, searchPath({ ...search, page: number }))}
      />
    </Layout>
  );
}

function Nothing({ page, isFiltered }: { readonly page: PageContext; readonly isFiltered: boolean }) {
  const { dashboard, nav } = page.messages;
  return isFiltered ? (
    <div class="card card-centered">
      <h2 class="section-heading">{dashboard.nothingHeading}</h2>
      <p>{dashboard.nothingText}</p>
      <a class="button" href={pageHref(page, dashboardPath)}>
        {dashboard.showAll}
      </a>
    </div>
  ) : (
    <div class="card card-centered">
      <div class="emblem emblem-icon">
        <Icon name="shield" />
      </div>
      <h2 class="section-heading">{dashboard.emptyHeading}</h2>
      <p>{dashboard.emptyText}</p>
      <a class="button button-primary" href={pageHref(page, "/")}>
        {nav.newPush}
      </a>
    </div>
  );
}

/** States are links, the rest is a form with method GET: every list has an address. */
function FilterForm({ search, page }: { readonly search: PushSearch; readonly page: PageContext }) {
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
        {search.order !== "newest" && <input type="hidden" name="sort" value={search.order} />}
        <SearchBox name="q" label={dashboard.search} value={search.text} maxLength={searchTextMax} />
        <SearchChoice
          name="kind"
          label={dashboard.kind}
          value={search.kind ?? ""}
          options={[
            { value: "", label: dashboard.anyKind },
            ...kindNames.map((kind) => ({ value: kind, label: kinds[kind] })),
          ]}
        />
      </SearchForm>
    </div>
  );
}
