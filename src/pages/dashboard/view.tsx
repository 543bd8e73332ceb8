import type { PushSearch } from "../../pushes/pushes.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { dashboardPath, pageMax, searchPath } from "./filter.ts";
import { FilterForm } from "./filter-form.tsx";
import type { ListedPush } from "./push-parts.tsx";
import { PushTable } from "./push-table.tsx";

export interface DashboardModel {
  readonly search: PushSearch;
  readonly pushes: readonly ListedPush[];
  /** There are older ones. */
  readonly hasMore: boolean;
  /** The search ended before it had looked at all. */
  readonly stopped: boolean;
  /** The server's clock, milliseconds since the epoch. */
  readonly nowMs: number;
}

/** All that somebody has handed over. */
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
      {(!isEmpty || isFiltered) && <FilterForm search={search} page={page} />}
      {isEmpty ? (
        <Nothing page={page} isFiltered={isFiltered} />
      ) : (
        <PushTable pushes={model.pushes} nowMs={model.nowMs} returnPath={searchPath(search)} page={page} />
      )}
      {(model.stopped || isEnd) && (
        <Notice tone="info" icon="alert">
          <p>{model.stopped ? dashboard.stopped : dashboard.lastPage}</p>
        </Notice>
      )}
      <Pager
        messages={page.messages}
        number={search.page}
        hasMore={model.hasMore && !isEnd}
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
