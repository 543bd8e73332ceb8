import type { SessionOfUser, SessionPosition, SessionSearch, SessionWay } from "../../accounts/accounts.ts";
import { dayMs, hourMs } from "../../base/clock.ts";
import { textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { type Filter, listPath } from "../lists/filters.tsx";
import { type Column, List, NoneFound } from "../lists/list.tsx";
import { type Page, type PageContext, pageHref, untranslated } from "../page.ts";
import { browserName } from "../parts/browser-name.ts";
import { EmailAddress } from "../parts/email-address.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { ownPath } from "../return-path.ts";
import { AdminFrame, administratorOf, adminPaths } from "./frame.tsx";
import { emailCharactersMax, userPath } from "./user.tsx";

export const sessionsEndPath = `${adminPaths.sessions}/end`;

const placeCharactersMax = 100;
/** The choices of the last activity. */
const activities = {
  hour: { withinMs: hourMs },
  day: { withinMs: dayMs },
  week: { withinMs: 7 * dayMs },
  older: { beforeMs: 7 * dayMs },
} as const;
type Activity = keyof typeof activities;
const activityNames = ["hour", "day", "week", "older"] as const satisfies readonly Activity[];
const ways = ["sign_on", "here", "break_glass"] as const satisfies readonly SessionWay[];

interface SessionsFilter {
  /** A part of the email address; "": any. */
  readonly email: string;
  /** A part of the browser's name or of the address, as they are shown; "": any. */
  readonly place: string;
  readonly way: SessionWay | null;
  readonly seen: Activity | null;
  readonly after: SessionPosition | null;
}

/** `GET /admin/sessions` */
export async function showSessions(page: SignedInRequest): Promise<Reply> {
  const filter = readFilter((name) => page.query(name));
  return page.render(sessionsView, await sessionsModel(page, filter), { selfPath: sessionsPath(filter) });
}

type SessionsModel = Awaited<ReturnType<typeof sessionsModel>>;

async function sessionsModel(page: SignedInRequest, filter: SessionsFilter) {
  const { accounts, clock, config } = page.services;
  const nowMs = clock.now();
  const { found, next } = await accounts.searchSessions(
    searchOf(filter, nowMs),
    filter.place === "" ? undefined : placeMatcher(filter.place, page.messages),
  );
  return {
    filter,
    sessions: found,
    /** Where the next page begins; null: this one is the last. */
    next,
    /** The administrator's own session. */
    ownId: page.session.id,
    // A break-glass link works without a provider, too.
    hasWays: config.singleSignOn !== undefined || found.some(({ way }) => way !== "here"),
    nowMs,
  };
}

/** `POST /admin/sessions/end`. It gives nobody access, so no proof is needed. */
export async function endSessions(page: SignedInRequest): Promise<Reply> {
  const form = await page.form();
  const ids = (Array.isArray(form.session) ? form.session : []).map(Number);
  await page.services.accounts.endSomeSessions(ids, administratorOf(page));
  return page.redirect(ids.includes(page.session.id) ? "/" : (ownPath(textOf(form, "next")) ?? adminPaths.sessions));
}

/** Invalid values count as absent. */
function readFilter(value: (name: string) => string | undefined): SessionsFilter {
  const typed = (name: string, max: number) => (value(name) ?? "").trim().slice(0, max);
  const [, seenAt, id] = /^(\d{1,15})-(\d{1,15})$/.exec(value("after") ?? "") ?? [];
  return {
    email: typed("email", emailCharactersMax),
    place: typed("place", placeCharactersMax),
    way: ways.find((name) => name === value("way")) ?? null,
    seen: activityNames.find((name) => name === value("seen")) ?? null,
    after: seenAt === undefined ? null : { seenAt: Number(seenAt), id: Number(id) },
  };
}

function searchOf({ email, way, seen, after }: SessionsFilter, nowMs: number): SessionSearch {
  const activity: { readonly withinMs?: number; readonly beforeMs?: number } = seen === null ? {} : activities[seen];
  return {
    email,
    way,
    seenAfter: activity.withinMs === undefined ? 0 : nowMs - activity.withinMs,
    seenUntil: activity.beforeMs === undefined ? nowMs : nowMs - activity.beforeMs,
    after,
  };
}

/** Many sessions share their browsers: each user agent is parsed once. */
function placeMatcher(place: string, messages: Messages): (session: SessionOfUser) => boolean {
  const wanted = place.toLowerCase();
  const browsers = new Map<string, boolean>();
  return ({ address, userAgent }) => {
    const known = browsers.get(userAgent);
    const isBrowser = known ?? browserName(userAgent, messages).toLowerCase().includes(wanted);
    if (known === undefined) browsers.set(userAgent, isBrowser);
    return isBrowser || address.toLowerCase().includes(wanted);
  };
}

function sessionsPath({ after, ...filter }: SessionsFilter): string {
  return listPath(adminPaths.sessions, { ...filter, after: after && `${after.seenAt}-${after.id}` });
}

export function sessionsView(model: SessionsModel, page: PageContext): Page {
  const { admin, dashboard } = page.messages;
  const { filter, sessions, next } = model;
  return (
    <AdminFrame page={page} current="sessions" lead={admin.sessionsLead}>
      <List
        nowMs={model.nowMs}
        caption={admin.sessions}
        rows={sessions}
        columns={columnsOf(model, page)}
        many={{
          action: sessionsEndPath,
          next: sessionsPath(filter),
          submit: admin.sessionsPage.endSelected,
          selectAll: dashboard.selectAll,
          selected: dashboard.selected,
          box: (session) => (
            <input type="checkbox" name="session[]" value={session.id} aria-label={nameOf(session, page.messages)} />
          ),
        }}
        empty={<NoneFound text={admin.sessionsPage.none} path={adminPaths.sessions} />}
        at={{ path: adminPaths.sessions }}
        search={{ submit: admin.search, filters: filtersOf(model, page.messages) }}
        paging={{
          newest: filter.after === null ? null : sessionsPath({ ...filter, after: null }),
          older: next === null ? null : sessionsPath({ ...filter, after: next }),
        }}
      />
    </AdminFrame>
  );
}

function nameOf({ user, userAgent, address }: SessionOfUser, messages: Messages): string {
  return messages.admin.actionOn({ action: browserName(userAgent, messages), name: `${user.email}, ${address}` });
}

function filtersOf({ filter, hasWays }: SessionsModel, { admin }: Messages): readonly Filter[] {
  const text = admin.sessionsPage;
  const way: Filter = {
    name: "way",
    label: text.way,
    value: filter.way ?? "",
    options: [{ value: "", label: text.anyWay }, ...ways.map((value) => ({ value, label: text.ways[value] }))],
  };
  return [
    { name: "email", label: admin.email, value: filter.email, maxLength: emailCharactersMax },
    { name: "place", label: text.place, value: filter.place, maxLength: placeCharactersMax },
    ...(hasWays ? [way] : []),
    {
      name: "seen",
      label: text.activity,
      value: filter.seen ?? "",
      options: [
        { value: "", label: text.anyTime },
        ...activityNames.map((name) => ({ value: name, label: text.seen[name] })),
      ],
    },
  ];
}

function columnsOf({ ownId, hasWays }: SessionsModel, page: PageContext): readonly Column<SessionOfUser>[] {
  const { admin, profile } = page.messages;
  const { from, began, seen, current } = profile.sessions;
  const { browser, way: label, ways: names } = admin.sessionsPage;
  const wayColumn: Column<SessionOfUser> = { label, value: ({ way }) => names[way] };
  return [
    {
      label: admin.email,
      long: true,
      value: ({ id, user }) => (
        <>
          <a href={pageHref(page, userPath(user.id))} dir="ltr" translate={untranslated}>
            <EmailAddress email={user.email} />
          </a>{" "}
          {id === ownId && <span class="badge badge-active">{current}</span>}
        </>
      ),
    },
    {
      label: browser,
      narrow: "unlabelled",
      value: ({ userAgent }) => <bdi>{browserName(userAgent, page.messages)}</bdi>,
    },
    { label: from, narrow: "unlabelled", value: ({ address }) => <bdi dir="ltr">{address}</bdi> },
    ...(hasWays ? [wayColumn] : []),
    { label: began, narrow: "hidden", time: ({ createdAt }) => createdAt },
    { label: seen, time: ({ seenAt }) => seenAt },
  ];
}
