import type { Messages } from "../../i18n/i18n.ts";
import type { LinkDeliveryReport, TrailEvent } from "../../pushes/pushes.ts";
import { type ListedPush, PushActions, PushMarks, PushName, StateBadge, ViewsUsed } from "../dashboard/push-parts.tsx";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { browserName } from "../parts/browser-name.ts";
import { Fact } from "../parts/fact.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Pager } from "../parts/pager.tsx";
import { BothTimes } from "../parts/times.tsx";

interface AuditModel {
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

/** The audit trail of a push, for its owner. */
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
          <Timeline events={events} nowMs={nowMs} messages={page.messages} byOwner={page.messages.dashboard.owner} />
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

type Entry = Exclude<TrailEvent, { kind: "limit" }>;

interface TimelineProps {
  /** Newest first. */
  readonly events: readonly TrailEvent[];
  readonly nowMs: number;
  readonly messages: Messages;
  /** The sentences about what the owner did: the owner reads others than an administrator. */
  readonly byOwner: Messages["dashboard"]["owner"];
}

export function Timeline({ events, nowMs, messages, byOwner }: TimelineProps) {
  return (
    <ol class="timeline">
      {events.map((event, index) => (
        <li key={index} class={`timeline-event timeline-${toneOf(event)}`}>
          <span class="timeline-mark">
            <Icon name={iconOf(event)} />
          </span>
          <div class="timeline-text">
            <h3>{sentenceFor(event, messages, byOwner)}</h3>
            <BothTimes timeMs={event.updatedAt} nowMs={nowMs} messages={messages} />
            {event.kind !== "limit" && <Details entry={event} messages={messages} />}
          </div>
        </li>
      ))}
    </ol>
  );
}

function sentenceFor(event: TrailEvent, { dashboard }: Messages, byOwner: TimelineProps["byOwner"]): string {
  if (event.kind === "limit") return event.reason === "views" ? dashboard.viewsUsedUp : dashboard.timeOver;
  if (event.kind === "admin_view") return dashboard.administratorView;
  if (event.kind === "expire" && event.by === "administrator") return dashboard.administratorExpire;
  return event.by === "owner" ? byOwner[event.kind] : dashboard.holder[event.kind];
}

const icons: Readonly<Record<TrailEvent["kind"], IconName>> = {
  creation: "shield",
  view: "eye",
  owner_view: "eye",
  admin_view: "eye",
  repeated_view: "eye",
  failed_view: "alert",
  failed_passphrase: "key",
  download: "download",
  edit: "pencil",
  expire: "trash",
  creation_email_send: "external",
  limit: "clock",
};

function iconOf(event: TrailEvent): IconName {
  return icons[event.kind];
}

/** `opened`: the secret or a part of it was revealed; `refused`: nothing was revealed; `ended`: nothing can be revealed any more. */
function toneOf({ kind }: TrailEvent): "opened" | "refused" | "ended" | "plain" {
  switch (kind) {
    case "view":
    case "owner_view":
    case "admin_view":
    case "repeated_view":
    case "download":
      return "opened";
    case "failed_view":
    case "failed_passphrase":
      return "refused";
    case "expire":
    case "limit":
      return "ended";
    case "creation":
    case "edit":
    case "creation_email_send":
      return "plain";
  }
}

/** Where the request came from. All of it is untrusted and only ever shown as text. */
function Details({ entry, messages }: { readonly entry: Entry; readonly messages: Messages }) {
  const { dashboard, browser: browserMessages, formats } = messages;
  const browser = browserName(entry.userAgent, messages);
  const origin = entry.referrer === "" ? null : (URL.parse(entry.referrer)?.origin ?? null);
  return (
    <>
      {entry.times > 1 && (
        <p class="timeline-counted">
          {dashboard.counted({ count: entry.times, date: formats.dateTime(entry.createdAt) })}
        </p>
      )}
      <dl class="row-facts">
        <Fact label={dashboard.address} ltr>
          {entry.address}
        </Fact>
        {entry.userAgent !== "" && (
          <Fact label={dashboard.browser}>
            <bdi title={entry.userAgent}>{browser === browserMessages.unknown ? entry.userAgent : browser}</bdi>
          </Fact>
        )}
        {origin !== null && (
          <Fact label={dashboard.referrer} ltr>
            {origin}
          </Fact>
        )}
        {entry.linkDelivery !== undefined && <LinkDelivery linkDelivery={entry.linkDelivery} messages={messages} />}
      </dl>
    </>
  );
}

/** The recipients of the mailed link, and whether it reached them. */
function LinkDelivery({
  linkDelivery,
  messages: { pushEmails },
}: {
  readonly linkDelivery: LinkDeliveryReport;
  readonly messages: Messages;
}) {
  const { recipients, status, successfulSends } = linkDelivery;
  return (
    <>
      <Fact label={pushEmails.recipients} long>
        <bdi dir="ltr">{spaced(recipients)}</bdi>
      </Fact>
      <Fact label={pushEmails.status}>{pushEmails.statuses[status]}</Fact>
      {status !== "completed" && successfulSends !== null && successfulSends !== "" && (
        <Fact label={pushEmails.arrived} long>
          <bdi dir="ltr">{spaced(successfulSends)}</bdi>
        </Fact>
      )}
    </>
  );
}

/** With blanks, so that a line can break between two addresses. */
function spaced(addresses: string): string {
  return addresses
    .split(",")
    .map((address) => address.trim())
    .join(", ");
}
