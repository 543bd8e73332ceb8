import type { Messages } from "../../i18n/i18n.ts";
import type { LinkDeliveryReport, TrailEvent } from "../../pushes/pushes.ts";
import { BothTimes } from "../parts/both-times.tsx";
import { browserName } from "../parts/browser-name.ts";
import { Fact } from "../parts/fact.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";

type Entry = Exclude<TrailEvent, { kind: "limit" }>;

export interface TimelineProps {
  /** Newest first. */
  readonly events: readonly TrailEvent[];
  readonly nowMs: number;
  readonly messages: Messages;
}

export function Timeline({ events, nowMs, messages }: TimelineProps) {
  return (
    <ol class="timeline">
      {events.map((event, place) => (
        <li key={place} class={`timeline-event timeline-${toneOf(event)}`}>
          <span class="timeline-mark">
            <Icon name={iconOf(event)} />
          </span>
          <div class="timeline-text">
            <h3>{sentenceFor(event, messages)}</h3>
            <BothTimes timeMs={event.updatedAt} nowMs={nowMs} messages={messages} />
            {event.kind !== "limit" && <Details entry={event} messages={messages} />}
          </div>
        </li>
      ))}
    </ol>
  );
}

function sentenceFor(event: TrailEvent, { dashboard }: Messages): string {
  if (event.kind === "limit") return event.reason === "views" ? dashboard.viewsUsedUp : dashboard.timeOver;
  if (event.kind === "admin_view") return dashboard.administratorView;
  if (event.kind === "expire" && event.by === "administrator") return dashboard.administratorExpire;
  return event.by === "owner" ? dashboard.owner[event.kind] : dashboard.holder[event.kind];
}

const icons: Readonly<Record<TrailEvent["kind"], IconName>> = {
  creation: "shield",
  view: "eye",
  owner_view: "eye",
  admin_view: "eye",
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

/** `opened`: somebody saw something of the secret; `refused`: nobody did; `ended`: nobody can any more. */
function toneOf({ kind }: TrailEvent): "opened" | "refused" | "ended" | "plain" {
  switch (kind) {
    case "view":
    case "owner_view":
    case "admin_view":
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

/** Where from. All of it comes from outside and is only ever text. */
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

/** To whom the link was mailed, and what became of it. */
function LinkDelivery({
  linkDelivery,
  messages: { notices },
}: {
  readonly linkDelivery: LinkDeliveryReport;
  readonly messages: Messages;
}) {
  const { recipients, status, successfulSends } = linkDelivery;
  return (
    <>
      <Fact label={notices.recipients} long>
        <bdi dir="ltr">{spaced(recipients)}</bdi>
      </Fact>
      <Fact label={notices.status}>{notices.statuses[status]}</Fact>
      {status !== "completed" && successfulSends !== null && successfulSends !== "" && (
        <Fact label={notices.arrived} long>
          <bdi dir="ltr">{spaced(successfulSends)}</bdi>
        </Fact>
      )}
    </>
  );
}

/** So that a line can end between two of them. */
function spaced(addresses: string): string {
  return addresses
    .split(",")
    .map((address) => address.trim())
    .join(", ");
}
