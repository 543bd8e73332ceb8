import type { TrailEvent } from "../../pushes/pushes.ts";
import { type ListedPush, PushActions, PushMarks, PushName, StateBadge, ViewsUsed } from "../dashboard/push-parts.tsx";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { BothTimes } from "../parts/both-times.tsx";
import { Fact } from "../parts/fact.tsx";
import { Icon } from "../parts/icon.tsx";
import { Pager } from "../parts/pager.tsx";
import { Timeline } from "./timeline.tsx";

export interface AuditModel {
  readonly listed: ListedPush;
  readonly events: readonly TrailEvent[];
  /** From 1. */
  readonly page: number;
  readonly hasMore: boolean;
  /** The server's clock, milliseconds since the epoch. */
  readonly nowMs: number;
}

export function auditPath(urlToken: string, page = 1): string {
  return `/p/${urlToken}/audit${page === 1 ? "" : `?page=${page}`}`;
}

/** What happened to a push, for its owner. */
export function auditView(model: AuditModel, page: PageContext): Page {
  const { dashboard } = page.messages;
  const { events, nowMs } = model;
  return (
    <Layout page={page} title={dashboard.auditTitle} privatePage width="regular">
      <div class="page-heading">
        <p>
          <a href={pageHref(page, "/p")}>{dashboard.back}</a>
        </p>
        <h1>{dashboard.auditTitle}</h1>
        <p class="lead">{dashboard.auditLead}</p>
      </div>
      <AboutPush model={model} page={page} />
      <div class="card">
        {events.length === 0 ? (
          <p>{dashboard.noEvents}</p>
        ) : (
          <Timeline events={events} nowMs={nowMs} messages={page.messages} />
        )}
        <Pager
          messages={page.messages}
          number={model.page}
          hasMore={model.hasMore}
          hrefOf={(number) => pageHref(page, auditPath(model.listed.push.urlToken, number))}
        />
      </div>
      <Downloads urlToken={model.listed.push.urlToken} page={page} />
    </Layout>
  );
}

function AboutPush({ model, page }: { readonly model: AuditModel; readonly page: PageContext }) {
  const { messages } = page;
  const { dashboard, kinds } = messages;
  const { push } = model.listed;
  const endAt = push.expiredOn ?? push.expiresAt;
  return (
    <section class="card about-push" aria-labelledby="about">
      <div class="row-main">
        <h2 class="section-heading" id="about">
          <PushName push={push} messages={messages} />
        </h2>
        <StateBadge push={push} messages={messages} />
      </div>
      <dl class="about-facts">
        <Fact label={dashboard.kind}>
          <span class="push-kind">
            <Icon name={push.kind} />
            {kinds[push.kind]}
          </span>
        </Fact>
        <Fact label={dashboard.views}>
          <ViewsUsed push={push} messages={messages} />
        </Fact>
        <Fact label={dashboard.made}>
          <BothTimes timeMs={push.createdAt} nowMs={model.nowMs} messages={messages} />
        </Fact>
        <Fact label={push.expired ? dashboard.ended : dashboard.expires}>
          <BothTimes timeMs={endAt} nowMs={model.nowMs} messages={messages} />
        </Fact>
      </dl>
      <PushMarks push={push} messages={messages} />
      {!push.expired && <PushActions listed={model.listed} page={page} returnPath={auditPath(push.urlToken)} />}
    </section>
  );
}

function Downloads({ urlToken, page }: { readonly urlToken: string; readonly page: PageContext }) {
  const { dashboard } = page.messages;
  const hrefOf = (format: string) => `${auditPath(urlToken)}/download?format=${format}`;
  return (
    <section class="downloads no-print" aria-labelledby="download">
      <h2 class="aside-heading" id="download">
        {dashboard.download}
      </h2>
      <div class="page-actions">
        <a class="button" href={hrefOf("csv")} download>
          <Icon name="download" />
          <span>{dashboard.csv}</span>
        </a>
        <a class="button" href={hrefOf("json")} download>
          <Icon name="download" />
          <span>{dashboard.json}</span>
        </a>
      </div>
    </section>
  );
}
