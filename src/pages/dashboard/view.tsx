import { pageMax } from "../../http/parameters.ts";
import type { PushSearch } from "../../pushes/pushes.ts";
import { groupActivityPath } from "../activity/paths.ts";
import { Layout } from "../layout.tsx";
import { List, NoneFound } from "../lists/list.tsx";
import { kindFilter, stateOptions } from "../lists/push-columns.tsx";
import { type Page, type PageContext, type PartProps, pageHref, useMessages, usePage } from "../page.ts";
import { ButtonLink } from "../parts/buttons.tsx";
import { PageHeading } from "../parts/card.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { deleted, deletePath } from "./deletion.tsx";
import { dashboardPath, searchOf, searchPath, searchTextMax } from "./filter.ts";
import { columnsOf, labelledBy, RowActions, SharedByRows } from "./rows.tsx";

/** `GET /p`: the pushes of the signed-in account. */
export async function showDashboard(page: SignedInRequest): Promise<Reply> {
  const search = searchOf(page);
  return page.render(dashboardView, await dashboardModel(page, search), { selfPath: searchPath(search) });
}

type DashboardModel = Awaited<ReturnType<typeof dashboardModel>>;

async function dashboardModel(page: SignedInRequest, search: PushSearch) {
  const { pushes, groups, clock } = page.services;
  const found = await pushes.search(page.user.id, search);
  const sharing = await groups.findSharing(page.user.id);
  return {
    ...found,
    search,
    /** Whose members see each other's activity, also that of this user. */
    groups: sharing.map(({ id, name }) => ({ id, name })),
    /** The time of the last counted view by id, of the active ones that were opened. */
    lastViews: await pushes.lastViews(found.pushes.filter(({ expired, views }) => !expired && views > 0)),
    pushBaseUrl: page.pushBaseUrl,
    /** Selected pushes were just deleted. */
    isDeleted: page.query("done") === deleted,
    nowMs: clock.now(),
  };
}

export function dashboardView(model: DashboardModel, page: PageContext): Page {
  const { dashboard, nav } = page.messages;
  const { groups } = model;
  const names = groups.map(({ name }) => name).join(", ");
  const lead = groups.length === 0 ? dashboard.lead : dashboard.sharedLead({ groups: names });
  return (
    <Layout page={page} title={dashboard.heading} width="wide">
      <div class="line heading-row">
        <PageHeading heading={dashboard.heading} lead={lead}>
          {groups.map(({ id, name }) => (
            <p key={id}>
              <a href={pageHref(page, groupActivityPath(id))}>{dashboard.activity({ name })}</a>
            </p>
          ))}
        </PageHeading>
        {model.pushes.length > 0 && <ButtonLink to="/" label={nav.newPush} look="primary" />}
      </div>
      {model.isDeleted && (
        <Notice tone="success" icon="check">
          <p role="status">{dashboard.deleted}</p>
        </Notice>
      )}
      <PushList model={model} />
    </Layout>
  );
}

type PushListProps = PartProps<DashboardModel>;

/** Times are relative to the page, and scripts put together the links that they copy: a row has few pixels and few bytes. */
function PushList({ model }: PushListProps) {
  const page = usePage();
  const { dashboard, actions } = page.messages;
  const { search, pushes, hasMore } = model;
  const isFiltered = search.text !== "" || search.state !== "all" || search.kind !== null || search.page > 1;
  const isEnd = hasMore && search.page === pageMax;
  return (
    <List
      nowMs={model.nowMs}
      caption={dashboard.caption}
      rows={pushes}
      class="push-table"
      data={{ "data-copied": actions.copied, "data-link-base": model.pushBaseUrl, "data-watched": "" }}
      rowClass={({ expired }) => (expired ? "push-ended" : undefined)}
      columns={columnsOf(model, page)}
      actionsLabel={dashboard.actions}
      actions={(push, at) => <RowActions push={push} at={at} />}
      many={{
        action: deletePath,
        next: searchPath(search),
        submit: dashboard.deleteSelected,
        selectAll: dashboard.selectAll,
        selected: dashboard.selected,
        box: ({ expired, id }, at) =>
          !expired && <input type="checkbox" name="push[]" value={id} aria-labelledby={labelledBy("select", at)} />,
      }}
      empty={isFiltered ? <NoneFound text={dashboard.nothingText} path={dashboardPath} /> : <Nothing />}
      {...((pushes.length > 0 || isFiltered) && { search: filtersOf(search, page) })}
      at={{ path: dashboardPath }}
      paging={{
        number: search.page,
        hasMore,
        newestFirst: search.order === "newest",
        path: (number) => searchPath({ ...search, page: number }),
      }}
      notes={
        <>
          {(model.stopped || isEnd) && (
            <Notice tone="info" icon="alert" text={model.stopped ? dashboard.stopped : dashboard.lastPage} />
          )}
          {model.metSealedLabel && <Notice tone="info" icon="key" text={dashboard.sealedNotSearched} />}
        </>
      }
    >
      {pushes.length > 0 && <SharedByRows />}
    </List>
  );
}

function Nothing() {
  const { dashboard, nav } = useMessages();
  return (
    <div class="card card-centered">
      <div class="emblem emblem-icon">
        <Icon name="shield" />
      </div>
      <h2>{dashboard.emptyHeading}</h2>
      <p>{dashboard.emptyText}</p>
      <ButtonLink to="/" label={nav.newPush} look="primary" />
    </div>
  );
}

/** States are links, the rest is a form with method GET: every list has an address. */
function filtersOf(search: PushSearch, page: PageContext) {
  const { messages } = page;
  const { dashboard } = messages;
  return {
    submit: dashboard.submit,
    filters: [
      { name: "q", label: dashboard.search, value: search.text, maxLength: searchTextMax },
      kindFilter(search.kind, messages),
    ],
    segments: {
      label: dashboard.state,
      links: stateOptions(messages).map(({ value: state, label }) => ({
        label,
        path: searchPath({ ...search, state, page: 1 }),
        isCurrent: state === search.state,
      })),
    },
    kept: {
      state: search.state === "all" ? null : search.state,
      sort: search.order === "newest" ? null : search.order,
    },
  };
}
