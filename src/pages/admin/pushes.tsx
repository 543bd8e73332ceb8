import type { FastifyReply } from "fastify";
import { isKindName, kindNames } from "../../base/push-kinds.ts";
import { textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { AdminListFilter, EndReason, PushOverview } from "../../pushes/pushes.ts";
import { states } from "../dashboard/filter.ts";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { OlderPager } from "../parts/pager.tsx";
import { Confirm, PostForm } from "../parts/post-form.tsx";
import { SearchBox, SearchChoice, SearchForm } from "../parts/search-form.tsx";
import { BothTimes, RelativeTime } from "../parts/times.tsx";
import type { PageServices, SignedInRequest } from "../request.ts";
import { bulkEndingPath } from "./bulk-ending.tsx";
import { AdminFrame, administratorOf, adminPaths } from "./frame.tsx";

const emailMax = 254;

/** `GET /admin/pushes` */
export async function showPushes(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts, pushes, clock } = page.services;
  const filter = filterOf((name) => page.query(name));
  const owner = filter.owner === "" ? null : await accounts.findUserByEmail(filter.owner);
  const found =
    owner === undefined
      ? { pushes: [], nextBeforeId: null }
      : await pushes.adminList({ ...filter, ownerId: owner?.id ?? null });
  const model: PushesModel = {
    filter,
    ...found,
    unknownOwner: owner === undefined,
    unknownLink: false,
    owners: await ownersOf(found.pushes, page.services),
    nowMs: clock.now(),
  };
  return page.render(pushesView, model, { selfPath: pushesPath(filter) });
}

/** `POST /admin/pushes/:id/expire` */
export async function endPush(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts, pushes } = page.services;
  // Read the form first: one that is refused must not end the push.
  const form = await page.form();
  const { id } = page;
  const entry = accounts.adminEntry("ended_push", String(id), administratorOf(page));
  const outcome = id === undefined ? "unknown" : await pushes.endAsAdministrator(id, page.actor, entry);
  if (outcome === "unknown") return page.notFound();
  return page.redirect(pushesPath(filterOf((name) => textOf(form, name))));
}

/** An unknown kind or state does not filter; an invalid `before` starts with the newest push. */
export function filterOf(value: (name: string) => string | undefined): PushesFilter {
  const before = value("before") ?? "";
  const kind = value("kind");
  return {
    kind: isKindName(kind) ? kind : null,
    state: states.find((state) => state === value("state")) ?? "all",
    owner: (value("owner") ?? "").trim().slice(0, emailMax),
    beforeId: /^\d{1,15}$/.test(before) ? Number(before) : null,
  };
}

/** `POST /admin/pushes/find`. A link is a secret, so it is not sent in the query. */
export async function findPush(page: SignedInRequest): Promise<FastifyReply> {
  const id = await page.services.pushes.findIdByLink(textOf(await page.form(), "link"));
  if (id !== undefined) return page.redirect(`${adminPaths.pushes}/${id}`);
  const model: PushesModel = {
    filter: filterOf(() => undefined),
    pushes: [],
    nextBeforeId: null,
    unknownOwner: false,
    unknownLink: true,
    owners: new Map(),
    nowMs: page.services.clock.now(),
  };
  return page.render(pushesView, model, { status: 404 });
}

/** The owners' email addresses by user id; deleted users are missing. */
export async function ownersOf(
  pushes: readonly PushOverview[],
  { accounts }: PageServices,
): Promise<ReadonlyMap<number, string>> {
  const ids = new Set(pushes.map(({ ownerId }) => ownerId).filter((id) => id !== null));
  const users = await Promise.all([...ids].map((id) => accounts.findUser(id)));
  return new Map(users.filter((user) => user !== undefined).map(({ id, email }) => [id, email]));
}

type PushesFilter = Pick<AdminListFilter, "kind" | "state" | "beforeId"> & {
  /** An email address as typed; "": any owner. */
  readonly owner: string;
};

interface PushesModel {
  readonly filter: PushesFilter;
  readonly pushes: readonly PushOverview[];
  readonly nextBeforeId: number | null;
  readonly unknownOwner: boolean;
  readonly unknownLink: boolean;
  /** Email addresses by user id. */
  readonly owners: ReadonlyMap<number, string>;
  readonly nowMs: number;
}

function pushesPath({ kind, state, owner, beforeId }: PushesFilter): string {
  const query = new URLSearchParams();
  if (owner !== "") query.set("owner", owner);
  if (state !== "all") query.set("state", state);
  if (kind !== null) query.set("kind", kind);
  if (beforeId !== null) query.set("before", String(beforeId));
  const written = query.toString();
  return written === "" ? adminPaths.pushes : `${adminPaths.pushes}?${written}`;
}

export function pushesView(model: PushesModel, page: PageContext): Page {
  const { admin } = page.messages;
  const { filter, pushes, nextBeforeId } = model;
  const hrefOf = (beforeId: number | null) => pageHref(page, pushesPath({ ...filter, beforeId }));
  return (
    <AdminFrame page={page} current="pushes" lead={admin.pushesLead}>
      <FilterForm filter={filter} page={page} />
      <FindForm page={page} />
      <p>
        <a href={pageHref(page, bulkEndingPath)}>{admin.bulk.endMany}</a>
      </p>
      {(model.unknownOwner || model.unknownLink) && (
        <Notice tone="info" icon="alert" alert>
          <p>{model.unknownLink ? admin.unknownLink : admin.unknownOwner}</p>
        </Notice>
      )}
      {pushes.length === 0 ? <p>{admin.noPushes}</p> : <PushTable model={model} page={page} />}
      <OlderPager
        messages={page.messages}
        newestHref={filter.beforeId === null ? null : hrefOf(null)}
        olderHref={nextBeforeId === null ? null : hrefOf(nextBeforeId)}
      />
    </AdminFrame>
  );
}

function FilterForm({ filter, page }: { readonly filter: PushesFilter; readonly page: PageContext }) {
  const { admin, kinds } = page.messages;
  const stateNames = { all: admin.all, active: admin.active, expired: admin.ended };
  return (
    <SearchForm page={page} action={adminPaths.pushes} submit={admin.search} wraps>
      <SearchBox name="owner" label={admin.owner} hint={`${admin.owner}: ${admin.ownerHint}`} value={filter.owner} />
      <SearchChoice
        name="kind"
        label={admin.kind}
        value={filter.kind ?? ""}
        options={[
          { value: "", label: admin.anyKind },
          ...kindNames.map((kind) => ({ value: kind, label: kinds[kind] })),
        ]}
      />
      <SearchChoice
        name="state"
        label={admin.state}
        value={filter.state}
        options={states.map((state) => ({ value: state, label: stateNames[state] }))}
      />
    </SearchForm>
  );
}

function FindForm({ page }: { readonly page: PageContext }) {
  const { admin } = page.messages;
  return (
    <search>
      <PostForm page={page} class="input-row" action={`${adminPaths.pushes}/find`} autoComplete="off">
        <label class="visually-hidden" for="link">
          {admin.link}
        </label>
        <input class="input" id="link" name="link" dir="ltr" placeholder={admin.linkHint} required maxLength={2_048} />
        <button type="submit" class="button">
          <Icon name="search" />
          <span>{admin.findByLink}</span>
        </button>
      </PostForm>
    </search>
  );
}

interface PushTableProps {
  readonly model: PushesModel;
  readonly page: PageContext;
}

function PushTable({ model, page }: PushTableProps) {
  const { admin, dashboard } = page.messages;
  return (
    <div class="card table-card">
      <table class="data-table table-actions action-corner">
        <caption class="visually-hidden">{admin.pushes}</caption>
        <thead>
          <tr>
            <th scope="col">{admin.pushes}</th>
            <th scope="col">{admin.owner}</th>
            <th scope="col">{admin.kind}</th>
            <th scope="col">{admin.state}</th>
            <th scope="col">{admin.made}</th>
            <th scope="col">{dashboard.expiresOrEnded}</th>
            <th scope="col">{admin.views}</th>
            <th scope="col">{admin.size}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {model.pushes.map((push) => (
            <TableRow key={push.id} push={push} model={model} page={page} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface PushRowProps {
  readonly push: PushOverview;
  readonly model: Pick<PushesModel, "filter" | "owners" | "nowMs">;
  readonly page: PageContext;
}

function TableRow({ push, model, page }: PushRowProps) {
  const { messages } = page;
  const { admin, kinds, formats } = messages;
  const reason = endReasonOf(push, model.nowMs);
  return (
    <tr>
      <th scope="row">
        <PushLink push={push} page={page} />
      </th>
      <td class="cell-long" data-label={admin.owner}>
        <bdi>{ownerName(push, model, messages)}</bdi>
      </td>
      <td>{kinds[push.kind]}</td>
      <td>
        <StateBadges push={push} reason={reason} messages={messages} />
      </td>
      <td data-label={admin.made}>
        <RelativeTime timeMs={push.createdAt} nowMs={model.nowMs} messages={messages} />
      </td>
      <td data-label={reason === null ? admin.expires : admin.ended}>
        <RelativeTime timeMs={push.endedAt ?? push.expiresAt} nowMs={model.nowMs} messages={messages} />
      </td>
      <td data-label={admin.views}>{admin.viewsOf({ used: push.views, allowed: push.expireAfterViews })}</td>
      <td data-label={admin.size}>{formats.bytes(push.storedBytes)}</td>
      <td>{reason === null && <EndForm push={push} filter={model.filter} page={page} />}</td>
    </tr>
  );
}

/** All facts of one push. */
export function PushRow({ push, model, page }: PushRowProps) {
  const { messages } = page;
  const { admin, kinds, formats } = messages;
  const reason = endReasonOf(push, model.nowMs);
  return (
    <li class="row">
      <div class="row-main">
        <h2 class="row-title">
          <PushLink push={push} page={page} />
        </h2>
        <span class="push-kind">
          <Icon name={push.kind} />
          {kinds[push.kind]}
        </span>
        <StateBadges push={push} reason={reason} messages={messages} />
      </div>
      <dl class="admin-row-facts">
        <Fact label={admin.owner}>
          <bdi>{ownerName(push, model, messages)}</bdi>
        </Fact>
        <Fact label={admin.made}>
          <BothTimes timeMs={push.createdAt} nowMs={model.nowMs} messages={messages} />
        </Fact>
        <Fact label={reason === null ? admin.expires : admin.ended}>
          <BothTimes timeMs={push.endedAt ?? push.expiresAt} nowMs={model.nowMs} messages={messages} />
        </Fact>
        <Fact label={admin.views}>{admin.viewsOf({ used: push.views, allowed: push.expireAfterViews })}</Fact>
        <Fact label={admin.size}>{formats.bytes(push.storedBytes)}</Fact>
      </dl>
      {reason === null && (
        <div class="row-actions">
          <EndForm push={push} filter={model.filter} page={page} />
        </div>
      )}
    </li>
  );
}

function endReasonOf({ endReason, expiresAt }: PushOverview, nowMs: number): EndReason | null {
  return endReason ?? (expiresAt <= nowMs ? "time" : null);
}

interface PushPartProps {
  readonly push: PushOverview;
  readonly page: PageContext;
}

function PushLink({ push: { id }, page }: PushPartProps) {
  return <a href={pageHref(page, `${adminPaths.pushes}/${id}`)}>{page.messages.admin.pushName({ id: String(id) })}</a>;
}

interface StateBadgesProps {
  readonly push: PushOverview;
  readonly reason: EndReason | null;
  readonly messages: Messages;
}

function StateBadges({ push, reason, messages }: StateBadgesProps) {
  return (
    <>
      <span class={reason === null ? "badge badge-active" : "badge"}>{stateName(reason, messages)}</span>{" "}
      {push.passphraseRequired && <span class="badge">{messages.admin.passphrase}</span>}
    </>
  );
}

function EndForm({ push, filter, page }: PushPartProps & { readonly filter: PushesFilter }) {
  const { admin } = page.messages;
  const name = admin.pushName({ id: String(push.id) });
  return (
    <Confirm
      page={page}
      icon="trash"
      label={admin.endPush}
      accessibleLabel={admin.actionOn({ action: admin.endPush, name })}
      explanation={admin.endPushText}
      confirm={admin.confirm}
      action={`${adminPaths.pushes}/${push.id}/expire`}
      group="action"
    >
      <input type="hidden" name="owner" value={filter.owner} />
      <input type="hidden" name="kind" value={filter.kind ?? ""} />
      <input type="hidden" name="state" value={filter.state} />
      <input type="hidden" name="before" value={filter.beforeId ?? ""} />
    </Confirm>
  );
}

function ownerName({ ownerId }: PushOverview, { owners }: Pick<PushesModel, "owners">, { admin }: Messages): string {
  return ownerId === null ? admin.noOwner : (owners.get(ownerId) ?? admin.goneOwner);
}

function stateName(reason: EndReason | null, { admin }: Messages): string {
  switch (reason) {
    case null:
      return admin.active;
    case "views":
      return admin.endedByViews;
    case "time":
      return admin.endedByTime;
    case "owner":
      return admin.endedByOwner;
    case "viewer":
      return admin.endedByViewer;
    case "administrator":
      return admin.endedByAdministrator;
  }
}
