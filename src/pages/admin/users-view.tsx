import type { UserSummary } from "../../accounts/accounts.ts";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import type { IconName } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { SearchBox, SearchForm } from "../parts/search-form.tsx";
import { BothTimes } from "../parts/times.tsx";
import { AdminFrame, adminPaths } from "./frame.tsx";

export const userActions = ["promote", "demote", "disable", "enable", "reset_factors", "delete"] as const;
export type UserAction = (typeof userActions)[number];

export interface UsersModel {
  /** A part of the e-mail; "": all users. */
  readonly text: string;
  readonly page: number;
  readonly users: readonly UserSummary[];
  readonly ownId: number;
  readonly nowMs: number;
  readonly refusal:
    | { readonly reason: "last_admin" | "no_factors"; readonly email: string }
    | { readonly reason: "unknown" }
    | null;
}

/** As many as a page of the search has. */
const pageSize = 50;

export function usersPath(text: string, page: number): string {
  const query = new URLSearchParams();
  if (text !== "") query.set("q", text);
  if (page !== 1) query.set("page", String(page));
  const written = query.toString();
  return written === "" ? adminPaths.users : `${adminPaths.users}?${written}`;
}

export function usersView(model: UsersModel, page: PageContext): Page {
  const { admin } = page.messages;
  const hasMore = model.users.length === pageSize;
  const hrefOf = (number: number) => pageHref(page, usersPath(model.text, number));
  return (
    <AdminFrame page={page} current="users" lead={admin.usersLead}>
      {model.refusal !== null && (
        <Notice tone="danger" icon="alert" alert>
          <p>{refusalText(model.refusal, page)}</p>
        </Notice>
      )}
      <SearchForm page={page} action={adminPaths.users} submit={admin.search}>
        <SearchBox name="q" label={admin.searchUsers} value={model.text} />
      </SearchForm>
      {model.users.length === 0 ? (
        <p>{admin.noUsers}</p>
      ) : (
        <ul class="card admin-rows">
          {model.users.map((summary) => (
            <UserRow key={summary.user.id} summary={summary} model={model} page={page} />
          ))}
        </ul>
      )}
      <Pager messages={page.messages} number={model.page} hasMore={hasMore} hrefOf={hrefOf} />
    </AdminFrame>
  );
}

function refusalText(refusal: NonNullable<UsersModel["refusal"]>, { messages: { admin } }: PageContext): string {
  switch (refusal.reason) {
    case "last_admin":
      return admin.lastAdmin({ email: refusal.email });
    case "no_factors":
      return admin.noFactors({ email: refusal.email });
    case "unknown":
      return admin.unknownUser;
  }
}

interface UserRowProps {
  readonly summary: UserSummary;
  readonly model: UsersModel;
  readonly page: PageContext;
}

function UserRow({ summary, model, page }: UserRowProps) {
  const { user, lastSignedInAt, tokensInUse } = summary;
  const { messages } = page;
  const { admin, formats } = messages;
  return (
    <li class="row">
      <div class="row-main">
        <h2 class="row-title" dir="ltr" translate={false}>
          {user.email}
        </h2>
        {user.id === model.ownId && <span class="badge badge-active">{admin.you}</span>}
        {user.admin && <span class="badge badge-active">{admin.administrator}</span>}
        {user.disabledAt !== null && <span class="badge">{admin.disabled}</span>}
        {user.confirmedAt === null && <span class="badge">{admin.unconfirmed}</span>}
      </div>
      <dl class="admin-row-facts">
        <Fact label={admin.created}>
          <BothTimes timeMs={user.createdAt} nowMs={model.nowMs} messages={messages} />
        </Fact>
        <Fact label={admin.lastSignIn}>
          {lastSignedInAt === null ? (
            admin.never
          ) : (
            <BothTimes timeMs={lastSignedInAt} nowMs={model.nowMs} messages={messages} />
          )}
        </Fact>
        <Fact label={admin.secondFactor}>{user.hasSecondFactor ? admin.yes : admin.no}</Fact>
        <Fact label={admin.tokensInUse}>{formats.number(tokensInUse)}</Fact>
      </dl>
      <div class="row-actions">
        {actionsFor(summary).map((action) => (
          <ActionOn key={action} action={action} user={user} text={model.text} page={page} />
        ))}
      </div>
    </li>
  );
}

function actionsFor({ user }: UserSummary): readonly UserAction[] {
  return [
    user.admin ? "demote" : "promote",
    user.disabledAt === null ? "disable" : "enable",
    ...(user.hasSecondFactor ? (["reset_factors"] as const) : []),
    "delete",
  ];
}

const icons: Readonly<Record<UserAction, IconName>> = {
  promote: "shield",
  demote: "shield",
  disable: "alert",
  enable: "check",
  reset_factors: "key",
  delete: "trash",
};

interface ActionOnProps {
  readonly action: UserAction;
  readonly user: { readonly id: number; readonly email: string };
  readonly text: string;
  readonly page: PageContext;
}

function ActionOn({ action, user, text, page }: ActionOnProps) {
  const { admin } = page.messages;
  const [label, explanation] = messagesOf(action, page);
  return (
    <Confirm
      page={page}
      icon={icons[action]}
      label={label}
      accessibleLabel={admin.actionOn({ action: label, name: user.email })}
      explanation={explanation}
      confirm={admin.confirm}
      action={`${adminPaths.users}/${user.id}/${action}`}
      tone={action === "promote" || action === "enable" ? "plain" : "danger"}
      group={`user_${user.id}`}
    >
      <input type="hidden" name="q" value={text} />
    </Confirm>
  );
}

function messagesOf(action: UserAction, { messages: { admin } }: PageContext): readonly [label: string, text: string] {
  switch (action) {
    case "promote":
      return [admin.promote, admin.promoteText];
    case "demote":
      return [admin.demote, admin.demoteText];
    case "disable":
      return [admin.disable, admin.disableText];
    case "enable":
      return [admin.enable, admin.enableText];
    case "reset_factors":
      return [admin.resetFactors, admin.resetFactorsText];
    case "delete":
      return [admin.deleteUser, admin.deleteUserText];
  }
}
