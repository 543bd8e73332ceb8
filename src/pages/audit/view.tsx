import { pageOf } from "../../http/parameters.ts";
import type { Messages } from "../../i18n/i18n.ts";
import {
  asksForPassphrase,
  isSealedLabel,
  type OwnedPush,
  type SizedFile,
  type TrailEvent,
  type TrailPage,
} from "../../pushes/pushes.ts";
import { hasSealedLabels, linkOf, PushActions, PushName, ViewsUsed } from "../dashboard/push-parts.tsx";
import { renderGone } from "../gone.tsx";
import { Layout } from "../layout.tsx";
import { Facts } from "../lists/list.tsx";
import { pushColumns, StateBadge } from "../lists/push-columns.tsx";
import { type Page, type PageContext, type PartProps, pageHref, useMessages, usePage } from "../page.ts";
import { browserName } from "../parts/browser-name.ts";
import { Label } from "../parts/buttons.tsx";
import { Card, PageHeading } from "../parts/card.tsx";
import { Fact } from "../parts/fact.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { LongText } from "../parts/long-text.tsx";
import { Pager } from "../parts/pager.tsx";
import { BothTimes } from "../parts/times.tsx";
import { optionFields, optionNames } from "../push-form/options.ts";
import type { Reply, SignedInRequest } from "../request.ts";

export function auditPath(urlToken: string, page = 1): string {
  return `/p/${urlToken}/audit${page === 1 ? "" : `?page=${page}`}`;
}

/** `GET /p/:token/audit`. The push of another owner gets the answer of one that never existed. */
export async function showAudit(page: SignedInRequest): Promise<Reply> {
  const { urlToken } = page;
  const number = pageOf(page.request);
  const trail = urlToken === undefined ? undefined : await page.services.pushes.trail(urlToken, page.actor, number);
  if (trail === undefined) return renderGone(page);
  const selfPath = auditPath(trail.push.urlToken, number);
  return page.render(auditView, await auditModel(page, trail, number), { selfPath });
}

type AuditModel = Awaited<ReturnType<typeof auditModel>>;

async function auditModel(page: SignedInRequest, { push, files, events, hasMore }: TrailPage, number: number) {
  return {
    listed: { push, link: linkOf(push, page.pushBaseUrl) },
    files,
    /** Newest first. */
    events,
    /** By user id. */
    emails: await emailsOf(events, page),
    /** From 1. */
    page: number,
    hasMore,
    nowMs: page.services.clock.now(),
  };
}

/** The email addresses of the people who were signed in, without the reader and deleted accounts. At most one for each event. */
async function emailsOf(
  events: readonly TrailEvent[],
  { user: reader, services }: SignedInRequest,
): Promise<ReadonlyMap<number, string>> {
  const emails = new Map<number, string>();
  const userIds = new Set(events.flatMap((event) => (event.kind === "limit" ? [] : (event.userId ?? []))));
  for (const userId of userIds) {
    const user = userId === reader?.id ? undefined : await services.accounts.findUser(userId);
    if (user !== undefined) emails.set(userId, user.email);
  }
  return emails;
}

/** The audit trail of a push, for its owner. */
export function auditView(model: AuditModel, page: PageContext): Page {
  const { dashboard } = page.messages;
  const { urlToken } = model.listed.push;
  const hrefOf = (format: string) => `${auditPath(urlToken)}/download?format=${format}`;
  return (
    <Layout
      page={page}
      title={dashboard.auditTitle}
      width="wide"
      scripts={hasSealedLabels(model.listed.push) ? ["open-sealed.js"] : []}
    >
      <PageHeading heading={dashboard.auditTitle} back={<a href={pageHref(page, "/p")}>{dashboard.back}</a>} />
      <div class="stack audit">
        <AboutPush model={model} />
        <div class="stack">
          <div class="card">
            <Trail
              model={model}
              none={dashboard.noEvents}
              byOwner={dashboard.owner}
              path={(number) => auditPath(urlToken, number)}
            />
          </div>
          <section class="downloads no-print" aria-labelledby="download">
            <h2 class="aside-heading" id="download">
              {dashboard.download}
            </h2>
            <div class="page-actions">
              <a class="button" href={hrefOf("csv")} download>
                <Label icon="download" text={dashboard.csv} />
              </a>
              <a class="button" href={hrefOf("json")} download>
                <Label icon="download" text={dashboard.json} />
              </a>
            </div>
          </section>
        </div>
      </div>
    </Layout>
  );
}

function AboutPush({ model }: PartProps<AuditModel>) {
  const page = usePage();
  const { messages } = page;
  const { dashboard, kinds } = messages;
  const { push } = model.listed;
  const { kind, views, made, end } = pushColumns(page, "owner");
  return (
    <Card
      id="about"
      heading={<PushName push={push} />}
      badge={<StateBadge push={push} reader="owner" />}
      class="about-push"
    >
      <Facts<OwnedPush>
        nowMs={model.nowMs}
        row={push}
        columns={[
          {
            ...kind,
            value: (shown) => (
              <span class="push-kind">
                <Icon name={shown.kind} />
                {kinds[shown.kind]}
              </span>
            ),
          },
          { ...views, value: (shown) => <ViewsUsed push={shown} /> },
          made,
          end,
        ]}
      />
      {push.note !== null && (
        <section aria-labelledby="note">
          <h3 class="aside-heading" id="note">
            {dashboard.note}
          </h3>
          {isSealedLabel(push.note) ? (
            <p class="whole-note" dir="auto" data-sealed-label={push.note} data-label-kind="note">
              {messages.endToEnd.sealedNote}
            </p>
          ) : (
            <p class="whole-note" dir="auto">
              <LongText text={push.note} />
            </p>
          )}
        </section>
      )}
      {/* With the key in the address, a script opens the elements with `data-sealed-label` (browser/parts/sealed-labels.ts). */}
      {hasSealedLabels(push) && (
        <p class="field-hint" role="status" data-sealed-labels={messages.endToEnd.labelsFailed}>
          {messages.endToEnd.labelsHint}
        </p>
      )}
      {model.files.length > 0 && <Files files={model.files} />}
      <Settings push={push} />
      <PushActions listed={model.listed} returnPath={auditPath(push.urlToken)} />
    </Card>
  );
}

function Files({ files }: { readonly files: readonly SizedFile[] }) {
  const { dashboard, formats } = useMessages();
  return (
    <section aria-labelledby="files">
      <h3 class="aside-heading" id="files">
        {dashboard.files}
      </h3>
      <ul class="files">
        {files.map(({ filename, sizeBytes }, at) => (
          <li key={at} class="line file">
            <Icon name="file" />
            <span class="file-text">
              <bdi class="file-name">{filename === "" ? dashboard.noName : filename}</bdi>
              <span class="field-hint">{formats.bytes(sizeBytes)}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Settings({ push }: { readonly push: OwnedPush }) {
  const messages = useMessages();
  const { dashboard } = messages;
  const settings = [
    [dashboard.passphrase, asksForPassphrase(push)] as const,
    ...optionNames.map((option) => [optionFields[option].label(messages), push[option]] as const),
  ];
  return (
    <details class="disclosure">
      <summary>{dashboard.settings}</summary>
      <dl class="facts facts-rows">
        {settings.map(([label, isOn]) => (
          <Fact
            key={label}
            label={label}
            value={<span class={isOn ? "badge badge-active" : "badge"}>{isOn ? dashboard.yes : dashboard.no}</span>}
          />
        ))}
      </dl>
    </details>
  );
}

type Entry = Exclude<TrailEvent, { kind: "limit" }>;

interface TrailProps {
  readonly model: Pick<AuditModel, "events" | "page" | "hasMore" | "nowMs"> & Partial<Pick<AuditModel, "emails">>;
  /** What is shown instead of a page without events. */
  readonly none: string;
  /** The sentences about what the owner did: the owner reads others than an administrator. */
  readonly byOwner: Messages["dashboard"]["owner"];
  /** The address of a page of the trail. */
  path(number: number): string;
}

/** One page of the audit trail of a push. */
export function Trail({ model, none, byOwner, path }: TrailProps) {
  const messages = useMessages();
  const { events, emails = new Map(), page, hasMore, nowMs } = model;
  return (
    <>
      {events.length === 0 && <p>{none}</p>}
      {events.length > 0 && (
        <ol class="timeline">
          {events.map((event, index) => (
            <li key={index} class={`timeline-event timeline-${marks[event.kind].tone}`}>
              <span class="timeline-mark">
                <Icon name={marks[event.kind].icon} />
              </span>
              <div class="timeline-text">
                <div class="timeline-head">
                  <h3>{sentenceFor(event, messages, byOwner)}</h3>
                  <BothTimes timeMs={event.updatedAt} nowMs={nowMs} />
                </div>
                {event.kind !== "limit" && <Details entry={event} emails={emails} />}
              </div>
            </li>
          ))}
        </ol>
      )}
      <Pager number={page} hasMore={hasMore} path={path} />
    </>
  );
}

function sentenceFor(event: TrailEvent, { dashboard }: Messages, byOwner: TrailProps["byOwner"]): string {
  if (event.kind === "limit") return event.reason === "views" ? dashboard.viewsUsedUp : dashboard.timeOver;
  if (event.kind === "admin_view") return event.by === "owner" ? byOwner.owner_view : dashboard.administratorView;
  if (event.kind === "expire" && event.by === "administrator") return dashboard.administratorExpire;
  return event.by === "owner" ? byOwner[event.kind] : dashboard.holder[event.kind];
}

/** `opened`: the secret or a part of it was revealed; `refused`: nothing was revealed; `ended`: nothing can be revealed any more. */
type Tone = "opened" | "refused" | "ended" | "plain";

const marks: Readonly<Record<TrailEvent["kind"], { readonly icon: IconName; readonly tone: Tone }>> = {
  creation: { icon: "shield", tone: "plain" },
  view: { icon: "eye", tone: "opened" },
  owner_view: { icon: "eye", tone: "opened" },
  admin_view: { icon: "eye", tone: "opened" },
  repeated_view: { icon: "eye", tone: "opened" },
  failed_view: { icon: "alert", tone: "refused" },
  failed_passphrase: { icon: "key", tone: "refused" },
  download: { icon: "download", tone: "opened" },
  edit: { icon: "pencil", tone: "plain" },
  expire: { icon: "trash", tone: "ended" },
  creation_email_send: { icon: "mail", tone: "plain" },
  limit: { icon: "clock", tone: "ended" },
};

interface DetailsProps extends Pick<AuditModel, "emails"> {
  readonly entry: Entry;
}

/** Where the request came from. All of it is untrusted and only ever shown as text. */
function Details({ entry, emails }: DetailsProps) {
  const messages = useMessages();
  const { dashboard, browser: browserMessages, formats, pushEmails } = messages;
  const { linkDelivery } = entry;
  const browser = browserName(entry.userAgent, messages);
  const email = entry.userId === null ? undefined : emails.get(entry.userId);
  const origin = entry.referrer === "" ? null : (URL.parse(entry.referrer)?.origin ?? null);
  return (
    <>
      {entry.times > 1 && (
        <p class="timeline-counted field-hint">
          {dashboard.counted({ count: entry.times, date: formats.dateTime(entry.createdAt) })}
        </p>
      )}
      <dl class="facts facts-inline timeline-origin">
        {email !== undefined && <Fact label={dashboard.signedInAs} value={<bdi>{email}</bdi>} />}
        <Fact label={dashboard.address} ltr value={entry.address} />
        {entry.userAgent !== "" && (
          <Fact
            label={dashboard.browser}
            value={<bdi>{browser === browserMessages.unknown ? entry.userAgent : browser}</bdi>}
          />
        )}
        {origin !== null && <Fact label={dashboard.referrer} ltr value={origin} />}
      </dl>
      {linkDelivery !== undefined && (
        <dl class="facts facts-inline">
          <Fact label={pushEmails.recipients} value={<bdi dir="ltr">{spaced(linkDelivery.recipients)}</bdi>} />
          <Fact label={pushEmails.status} value={pushEmails.statuses[linkDelivery.status]} />
          {linkDelivery.status !== "completed" && Boolean(linkDelivery.successfulSends) && (
            <Fact
              label={pushEmails.arrived}
              value={<bdi dir="ltr">{spaced(linkDelivery.successfulSends ?? "")}</bdi>}
            />
          )}
        </dl>
      )}
      {(entry.userAgent !== "" || entry.referrer !== "") && (
        <details class="disclosure as-sent">
          <summary>{dashboard.technical}</summary>
          <dl class="facts facts-rows">
            {entry.userAgent !== "" && <Fact label={dashboard.userAgent} ltr value={entry.userAgent} />}
            {entry.referrer !== "" && <Fact label={dashboard.wholeReferrer} ltr value={entry.referrer} />}
          </dl>
        </details>
      )}
    </>
  );
}

/** With blanks, so that a line can break between two addresses. */
export function spaced(addresses: string): string {
  return addresses
    .split(",")
    .map((address) => address.trim())
    .join(", ");
}
