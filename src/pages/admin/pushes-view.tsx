import { kindNames } from "../../base/push-kinds.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { EndReason, PushSurvey, SurveyedPush } from "../../pushes/pushes.ts";
import { states } from "../dashboard/filter.ts";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { OlderPager } from "../parts/pager.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { SearchBox, SearchChoice, SearchForm } from "../parts/search-form.tsx";
import { BothTimes } from "../parts/times.tsx";
import { AdminFrame, adminPaths } from "./frame.tsx";

export type PushesFilter = Pick<PushSurvey, "kind" | "state" | "beforeId"> & {
  /** An e-mail as typed; "": whoever it is. */
  readonly owner: string;
};

export interface PushesModel {
  readonly filter: PushesFilter;
  readonly pushes: readonly SurveyedPush[];
  readonly nextBeforeId: number | null;
  readonly unknownOwner: boolean;
  /** E-mails by the number of the user. */
  readonly owners: ReadonlyMap<number, string>;
  readonly nowMs: number;
}

export function pushesPath({ kind, state, owner, beforeId }: PushesFilter): string {
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
      {model.unknownOwner && (
        <Notice tone="info" icon="alert">
          <p>{admin.unknownOwner}</p>
        </Notice>
      )}
      {pushes.length === 0 ? (
        <p>{admin.noPushes}</p>
      ) : (
        <ul class="card admin-rows">
          {pushes.map((push) => (
            <PushRow key={push.id} push={push} model={model} page={page} />
          ))}
        </ul>
      )}
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

interface PushRowProps {
  readonly push: SurveyedPush;
  readonly model: PushesModel;
  readonly page: PageContext;
}

function PushRow({ push, model, page }: PushRowProps) {
  const { messages } = page;
  const { admin, kinds, formats } = messages;
  const name = admin.pushName({ id: String(push.id) });
  const reason = push.endReason ?? (push.expiresAt <= model.nowMs ? "time" : null);
  return (
    <li class="row">
      <div class="row-main">
        <h2 class="row-title">{name}</h2>
        <span class="push-kind">
          <Icon name={push.kind} />
          {kinds[push.kind]}
        </span>
        <span class={reason === null ? "badge badge-active" : "badge"}>{stateName(reason, messages)}</span>
        {push.passphraseRequired && <span class="badge">{admin.passphrase}</span>}
      </div>
      <dl class="admin-row-facts">
        <Fact label={admin.owner}>{ownerName(push, model, messages)}</Fact>
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
          <Confirm
            page={page}
            icon="trash"
            label={admin.endPush}
            accessibleLabel={admin.actionOn({ action: admin.endPush, name })}
            explanation={admin.endPushText}
            confirm={admin.confirm}
            action={`${adminPaths.pushes}/${push.id}/expire`}
          >
            <input type="hidden" name="owner" value={model.filter.owner} />
            <input type="hidden" name="kind" value={model.filter.kind ?? ""} />
            <input type="hidden" name="state" value={model.filter.state} />
            <input type="hidden" name="before" value={model.filter.beforeId ?? ""} />
          </Confirm>
        </div>
      )}
    </li>
  );
}

function ownerName({ ownerId }: SurveyedPush, { owners }: PushesModel, { admin }: Messages): string {
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
