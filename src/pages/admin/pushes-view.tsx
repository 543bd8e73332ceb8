import type { EndReason, PushSurvey, SurveyedPush } from "../../pushes/pushes.ts";
import type { Words } from "../../words/words.ts";
import { pushKinds, states } from "../dashboard/filter.ts";
import { BothTimes } from "../dashboard/push-parts.tsx";
import { type PageContext, pageHref } from "../page-context.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import type { Page } from "../render.ts";
import { AdminFrame, adminPaths, Fact } from "./frame.tsx";

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
  const { admin } = page.words;
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
      {(filter.beforeId !== null || nextBeforeId !== null) && (
        <nav class="pager" aria-label={admin.pages}>
          {filter.beforeId === null ? (
            <span />
          ) : (
            <a class="button" href={hrefOf(null)}>
              {admin.newest}
            </a>
          )}
          {nextBeforeId === null ? (
            <span />
          ) : (
            <a class="button" href={hrefOf(nextBeforeId)} rel="next">
              {admin.older}
            </a>
          )}
        </nav>
      )}
    </AdminFrame>
  );
}

function FilterForm({ filter, page }: { readonly filter: PushesFilter; readonly page: PageContext }) {
  const { admin, kinds, locale } = page.words;
  const stateNames = { all: admin.all, active: admin.active, expired: admin.ended };
  return (
    <search>
      <form class="input-row admin-filter" method="get" action={adminPaths.pushes}>
        {page.localeAsked && <input type="hidden" name="locale" value={locale.tag} />}
        <label class="visually-hidden" for="owner">
          {admin.owner}
        </label>
        <input
          class="input"
          id="owner"
          type="search"
          name="owner"
          value={filter.owner}
          placeholder={`${admin.owner}: ${admin.ownerHint}`}
          dir="auto"
        />
        <label class="visually-hidden" for="kind">
          {admin.kind}
        </label>
        <select class="input" id="kind" name="kind">
          <option value="">{admin.anyKind}</option>
          {pushKinds.map((kind) => (
            <option key={kind} value={kind} selected={kind === filter.kind}>
              {kinds[kind]}
            </option>
          ))}
        </select>
        <label class="visually-hidden" for="state">
          {admin.state}
        </label>
        <select class="input" id="state" name="state">
          {states.map((state) => (
            <option key={state} value={state} selected={state === filter.state}>
              {stateNames[state]}
            </option>
          ))}
        </select>
        <button type="submit" class="button">
          <Icon name="search" />
          <span>{admin.search}</span>
        </button>
      </form>
    </search>
  );
}

interface PushRowProps {
  readonly push: SurveyedPush;
  readonly model: PushesModel;
  readonly page: PageContext;
}

function PushRow({ push, model, page }: PushRowProps) {
  const { words } = page;
  const { admin, kinds, formats } = words;
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
        <span class={reason === null ? "badge badge-active" : "badge"}>{stateName(reason, words)}</span>
        {push.passphraseRequired && <span class="badge">{admin.passphrase}</span>}
      </div>
      <dl class="admin-row-facts">
        <Fact label={admin.owner}>{ownerName(push, model, words)}</Fact>
        <Fact label={admin.made}>
          <BothTimes timeMs={push.createdAt} nowMs={model.nowMs} words={words} />
        </Fact>
        <Fact label={reason === null ? admin.expires : admin.ended}>
          <BothTimes timeMs={push.endedAt ?? push.expiresAt} nowMs={model.nowMs} words={words} />
        </Fact>
        <Fact label={admin.views}>{admin.viewsOf({ used: push.views, allowed: push.expireAfterViews })}</Fact>
        <Fact label={admin.size}>{formats.bytes(push.storedBytes)}</Fact>
      </dl>
      {reason === null && (
        <div class="push-actions">
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

function ownerName({ ownerId }: SurveyedPush, { owners }: PushesModel, { admin }: Words): string {
  return ownerId === null ? admin.noOwner : (owners.get(ownerId) ?? admin.goneOwner);
}

function stateName(reason: EndReason | null, { admin }: Words): string {
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
