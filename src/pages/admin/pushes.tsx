import { textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { AdminListFilter, PushOverview } from "../../pushes/pushes.ts";
import { listPath } from "../lists/filters.tsx";
import { type Column, Facts, List, NoneFound } from "../lists/list.tsx";
import {
  kindFilter,
  pushColumns,
  queryOfFilters,
  readPushFilters,
  StateBadge,
  stateOptions,
} from "../lists/push-columns.tsx";
import { type Page, type PageContext, pageHref, useMessages, usePage } from "../page.ts";
import { Submit } from "../parts/buttons.tsx";
import { EmailAddress } from "../parts/email-address.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm, PostForm } from "../parts/post-form.tsx";
import type { PageServices, Reply, SignedInRequest } from "../request.ts";
import { bulkEndingPath } from "./bulk-ending.tsx";
import { AdminFrame, adminPaths, entryOf } from "./frame.tsx";
import { emailCharactersMax } from "./user.tsx";

/** `GET /admin/pushes` */
export async function showPushes(page: SignedInRequest): Promise<Reply> {
  const { accounts, pushes } = page.services;
  const filter = filterOf((name) => page.query(name));
  const owner = filter.owner === "" ? null : await accounts.findUserByEmail(filter.owner);
  const found =
    owner === undefined
      ? ("unknown owner" as const)
      : await pushes.adminList({ ...filter, ownerId: owner?.id ?? null });
  return page.render(pushesView, await pushesModel(page, filter, found), { selfPath: pushesPath(filter) });
}

/** `POST /admin/pushes/:id/expire` */
export async function endPush(page: SignedInRequest): Promise<Reply> {
  // Read the form first: one that is refused must not end the push.
  const form = await page.form();
  const entry = entryOf(page, "ended_push", String(page.id));
  const outcome = await page.services.pushes.endAsAdministrator(page.id, page.actor, entry);
  if (outcome === "unknown") return page.notFound();
  return page.redirect(pushesPath(filterOf((name) => textOf(form, name))));
}

/** An invalid `before` starts with the newest push. */
export function filterOf(value: (name: string) => string | undefined): PushesFilter {
  const before = value("before") ?? "";
  return {
    ...readPushFilters(value),
    owner: (value("owner") ?? "").trim().slice(0, emailCharactersMax),
    beforeId: /^\d{1,15}$/.test(before) ? Number(before) : null,
  };
}

/** `POST /admin/pushes/find`. A link is a secret, so it is not sent in the query. */
export async function findPush(page: SignedInRequest): Promise<Reply> {
  const id = await page.services.pushes.findIdByLink(textOf(await page.form(), "link"));
  if (id !== undefined) return page.redirect(`${adminPaths.pushes}/${id}`);
  const model = await pushesModel(
    page,
    filterOf(() => undefined),
    "unknown link",
  );
  return page.render(pushesView, model, { status: 404 });
}

/** The owners by user id: email addresses, and the names of service accounts. Deleted users are missing. */
export async function ownersOf(
  pushes: readonly PushOverview[],
  { services, messages }: SignedInRequest,
): Promise<ReadonlyMap<number, string>> {
  const { accounts, groups } = services;
  const ids = new Set(pushes.map(({ ownerId }) => ownerId).filter((id) => id !== null));
  const nameOf = async (id: number): Promise<string | undefined> => {
    const user = await accounts.findUser(id);
    if (user !== undefined) return user.email;
    const groupId = await accounts.findServiceGroup(id);
    const group = groupId === undefined ? undefined : await groups.find(groupId);
    return group && messages.admin.groupsPage.service.owner({ name: group.name });
  };
  const names = await Promise.all([...ids].map(async (id) => [id, await nameOf(id)] as const));
  return new Map(names.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])));
}

type PushesFilter = Pick<AdminListFilter, "kind" | "state" | "beforeId"> & {
  /** An email address as typed; "": any owner. */
  readonly owner: string;
};

type PushesModel = Awaited<ReturnType<typeof pushesModel>>;

type Found = Awaited<ReturnType<PageServices["pushes"]["adminList"]>>;

async function pushesModel(
  page: SignedInRequest,
  filter: PushesFilter,
  found: Found | "unknown owner" | "unknown link",
) {
  const { pushes, nextBeforeId } = typeof found === "string" ? { pushes: [], nextBeforeId: null } : found;
  return {
    filter,
    pushes,
    nextBeforeId,
    /** What was asked for does not exist; null: it does. */
    unknown: typeof found === "string" ? found : null,
    /** Email addresses by user id. */
    owners: await ownersOf(pushes, page),
    nowMs: page.services.clock.now(),
  };
}

function queryOf({ owner, beforeId, ...filters }: PushesFilter) {
  return { owner, ...queryOfFilters(filters), before: beforeId };
}

function pushesPath(filter: PushesFilter): string {
  return listPath(adminPaths.pushes, queryOf(filter));
}

function ownerHintOf({ admin, problems }: Messages): string {
  return problems.of({ field: admin.owner, problem: admin.ownerHint });
}

export function pushesView(model: PushesModel, page: PageContext): Page {
  const { messages } = page;
  const { admin, dashboard } = messages;
  const { filter, pushes, nextBeforeId } = model;
  return (
    <AdminFrame page={page} current="pushes" lead={admin.pushesLead}>
      <List
        nowMs={model.nowMs}
        caption={admin.pushes}
        rows={pushes}
        columns={columnsOf(model, page)}
        actions={(push) =>
          !push.expired && (
            <div class="row-actions wide-only">
              <EndForm push={push} filter={filter} />
            </div>
          )
        }
        empty={<NoneFound text={admin.noPushes} path={adminPaths.pushes} />}
        at={{ path: adminPaths.pushes }}
        search={{
          submit: admin.search,
          filters: [
            { name: "owner", label: admin.owner, hint: ownerHintOf(messages), value: filter.owner },
            kindFilter(filter.kind, messages),
            {
              name: "state",
              label: dashboard.state,
              value: filter.state,
              options: stateOptions(messages, dashboard.anyState),
            },
          ],
        }}
        paging={{
          newest: filter.beforeId === null ? null : pushesPath({ ...filter, beforeId: null }),
          older: nextBeforeId === null ? null : pushesPath({ ...filter, beforeId: nextBeforeId }),
        }}
      >
        <search>
          <PostForm class="input-row" action={`${adminPaths.pushes}/find`} autoComplete="off">
            <label class="visually-hidden" for="link">
              {admin.link}
            </label>
            <input
              class="input"
              id="link"
              name="link"
              dir="ltr"
              placeholder={admin.linkHint}
              required
              maxLength={2_048}
            />
            <Submit label={admin.findByLink} icon="search" look="plain" />
          </PostForm>
        </search>
        <p>
          <a href={pageHref(page, bulkEndingPath)}>{admin.bulk.endMany}</a>
        </p>
        {model.unknown !== null && (
          <Notice
            tone="info"
            icon="alert"
            alert
            text={model.unknown === "unknown link" ? admin.unknownLink : admin.unknownOwner}
          />
        )}
      </List>
    </AdminFrame>
  );
}

type ColumnsModel = Pick<PushesModel, "owners">;

function columnsOf({ owners }: ColumnsModel, page: PageContext): readonly Column<PushOverview>[] {
  const { admin } = page.messages;
  const { kind, state, made, end, views } = pushColumns(page, "administrator");
  const name: Column<PushOverview> = {
    label: admin.pushes,
    value: ({ id }) => <a href={pageHref(page, `${adminPaths.pushes}/${id}`)}>{admin.pushName({ id: String(id) })}</a>,
  };
  const owner: Column<PushOverview> = {
    label: admin.owner,
    long: true,
    narrow: "unlabelled",
    value: ({ ownerId }) => (
      <bdi>
        <EmailAddress email={ownerId === null ? admin.noOwner : (owners.get(ownerId) ?? admin.goneOwner)} />
      </bdi>
    ),
  };
  const badges: Column<PushOverview> = { ...state, value: (push) => <Badges push={push} /> };
  return [name, kind, badges, owner, made, end, { ...views, narrow: "hidden" }];
}

interface PushFactsProps {
  readonly push: PushOverview;
  readonly model: Pick<PushesModel, "filter" | "owners" | "nowMs">;
}

/** All facts of one push, whose name is the title of the page. */
export function PushFacts({ push, model }: PushFactsProps) {
  const page = usePage();
  const { admin, formats } = page.messages;
  const size: Column<PushOverview> = { label: admin.size, value: ({ storedBytes }) => formats.bytes(storedBytes) };
  const facts = [...columnsOf(model, page).slice(3), size];
  return (
    <div class="card admin-subject">
      <div class="line">
        <span class="push-kind">
          <Icon name={push.kind} />
          {page.messages.kinds[push.kind]}
        </span>
        <Badges push={push} />
      </div>
      <Facts nowMs={model.nowMs} row={push} columns={facts} />
      {!push.expired && (
        <div class="row-actions">
          <EndForm push={push} filter={model.filter} />
        </div>
      )}
    </div>
  );
}

interface PushPartProps {
  readonly push: PushOverview;
}

function Badges({ push }: PushPartProps) {
  const messages = useMessages();
  return (
    <>
      <StateBadge push={push} reader="administrator" />{" "}
      {push.passphraseRequired && <span class="badge">{messages.dashboard.passphrase}</span>}
    </>
  );
}

function EndForm({ push, filter }: PushPartProps & { readonly filter: PushesFilter }) {
  const { admin } = useMessages();
  const name = admin.pushName({ id: String(push.id) });
  return (
    <Confirm
      icon="trash"
      label={admin.endPush}
      accessibleLabel={admin.actionOn({ action: admin.endPush, name })}
      explanation={admin.endPushText}
      action={`${adminPaths.pushes}/${push.id}/expire`}
      group="action"
    >
      {Object.entries(queryOf(filter)).map(([field, value]) => (
        <input key={field} type="hidden" name={field} value={value ?? ""} />
      ))}
    </Confirm>
  );
}
