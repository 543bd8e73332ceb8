import { kindNames } from "../../base/push-kinds.ts";
import { pageMax } from "../../http/parameters.ts";
import type { PushSearch } from "../../pushes/pushes.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { SearchBox, SearchChoice, SearchForm } from "../parts/search-form.tsx";
import { BothTimes } from "../parts/times.tsx";
import { dashboardPath, searchPath, searchTextMax, states } from "./filter.ts";
import { type ListedPush, noteShown, PushActions, PushMarks, PushName, StateBadge, ViewsUsed } from "./push-parts.tsx";

interface DashboardModel {
  readonly search: PushSearch;
  readonly pushes: readonly ListedPush[];
  /** There are older pushes. */
  readonly hasMore: boolean;
  /** The search ended before it had examined every push. */
  readonly stopped: boolean;
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

interface PushTableProps {
  readonly pushes: readonly ListedPush[];
  readonly nowMs: number;
  readonly returnPath: string;
  readonly page: PageContext;
}

/** On a narrow screen each row becomes a card, whose cells show their `data-label`. */
function PushTable({ pushes, nowMs, returnPath, page }: PushTableProps) {
  const { dashboard } = page.messages;
  return (
    <table class="push-table">
      <caption class="visually-hidden">{dashboard.caption}</caption>
      <thead>
        <tr>
          <th scope="col">{dashboard.name}</th>
          <th scope="col">{dashboard.kind}</th>
          <th scope="col">{dashboard.made}</th>
          <th scope="col">{dashboard.expiresOrEnded}</th>
          <th scope="col">{dashboard.views}</th>
          <th scope="col">{dashboard.state}</th>
          <th scope="col">{dashboard.actions}</th>
        </tr>
      </thead>
      <tbody>
        {pushes.map((listed) => (
          <Row key={listed.push.urlToken} listed={listed} nowMs={nowMs} returnPath={returnPath} page={page} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps extends Omit<PushTableProps, "pushes"> {
  readonly listed: ListedPush;
}

function Row({ listed, nowMs, returnPath, page }: RowProps) {
  const { push } = listed;
  const { messages } = page;
  const { dashboard, kinds } = messages;
  return (
    <tr class={push.expired ? "push-ended" : undefined}>
      <th scope="row">
        <PushName push={push} messages={messages} />
        {push.note !== null && (
          <span class="push-note" dir="auto" translate={false}>
            {noteShown(push.note)}
          </span>
        )}
        <PushMarks push={push} messages={messages} />
      </th>
      <td data-label={dashboard.kind}>
        <span class="push-kind">
          <Icon name={push.kind} />
          {kinds[push.kind]}
        </span>
      </td>
      <td data-label={dashboard.made}>
        <BothTimes timeMs={push.createdAt} nowMs={nowMs} messages={messages} />
      </td>
      <td data-label={push.expiredOn === null ? dashboard.expires : dashboard.ended}>
        <BothTimes timeMs={push.expiredOn ?? push.expiresAt} nowMs={nowMs} messages={messages} />
      </td>
      <td data-label={dashboard.views}>
        <ViewsUsed push={push} messages={messages} />
      </td>
      <td data-label={dashboard.state}>
        <StateBadge push={push} messages={messages} />
      </td>
      <td>
        <PushActions listed={listed} page={page} returnPath={returnPath} withTrail />
      </td>
    </tr>
  );
}
