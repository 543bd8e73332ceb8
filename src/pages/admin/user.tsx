import type { FastifyReply } from "fastify";
import type { Change, FactorReset, ListedSession, User, UserSummary } from "../../accounts/accounts.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import { changeOf, proofOffered, refusedChange } from "../factors/changes.ts";
import type { ProofOffered } from "../factors/model.ts";
import { ProofFields } from "../factors/proof.tsx";
import { type Column, Facts, List } from "../lists/list.tsx";
import { type Page, type PageContext, pageHref, untranslated } from "../page.ts";
import { browserName } from "../parts/browser-name.ts";
import type { IconName } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm, PostForm } from "../parts/post-form.tsx";
import type { SignedInRequest } from "../request.ts";
import { type FormState, untouched } from "../take-form.ts";
import { AdminFrame, administratorOf, adminPaths } from "./frame.tsx";
import { type LeftOpen, LeftOpenCard, linksCounted } from "./left-open.tsx";

export const emailCharactersMax = 254;

export function userPath(userId: number): string {
  return `${adminPaths.users}/${userId}`;
}

/** `GET /admin/users/:id` */
export function showUser(page: SignedInRequest): Promise<FastifyReply> {
  return renderUser(page, 200, null);
}

/**
 * `POST /admin/users/:id/<action>`. Each action can give or take somebody's access for good, so the administrator has to
 * prove it as a change of an own factor; a page of its own asks for that.
 */
export async function changeUser(page: SignedInRequest, action: UserAction): Promise<FastifyReply> {
  const form = await page.form();
  const userId = page.id;
  if (userId === undefined) return page.notFound();
  const { accounts } = page.services;
  const user = await accounts.findUser(userId);
  if (user === undefined) return page.notFound();
  const email = textOf(form, "email").trim().slice(0, emailCharactersMax);
  if (!(await isProven(page, form, { action, userId, subject: user.email, email }))) return page.reply;
  if (changesEmail(action)) {
    const by = administratorOf(page);
    const subject = `${user.email} -> ${email}`;
    const outcome =
      action === "ask_email"
        ? await accounts.askToChangeEmail(user, email, accounts.adminEntry("asked_to_change_email", subject, by))
        : await accounts.changeEmailAsAdministrator(
            user,
            email,
            page.clientContext,
            accounts.adminEntry("changed_email", subject, by),
          );
    if (outcome === "unknown" || outcome === "no_mail") return page.notFound();
    const isDone = outcome === "changed" || outcome === "link_sent" || outcome === "unchanged";
    return isDone ? page.redirect(userPath(userId)) : renderUser(page, 422, outcome);
  }
  const { outcome } = await applyAction(page, action, userId);
  if (outcome === "unknown") return page.notFound();
  if (outcome !== "done") return renderUser(page, 422, outcome);
  // Administrators who have removed their own rights can no longer see this page.
  if (userId === page.user.id && !isHarmless(action)) return page.redirect("/");
  return page.redirect(action === "delete" ? adminPaths.users : userPath(userId));
}

/** `POST /admin/users/:id/sessions/end`. It gives nobody access, so no proof is needed. */
export async function endUserSessions(page: SignedInRequest): Promise<FastifyReply> {
  await page.form();
  const userId = page.id;
  if (userId === undefined) return page.notFound();
  const { outcome } = await page.services.accounts.endAllSessions(userId, administratorOf(page));
  if (outcome === "unknown") return page.notFound();
  return page.redirect(userId === page.user.id ? "/" : userPath(userId));
}

/**
 * `POST /admin/users/:id/links/end`. It gives nobody access, so no proof is needed. The requests are closed first, so that no more answers
 * arrive. After a failure it can be repeated.
 */
export async function endUserLinks(page: SignedInRequest): Promise<FastifyReply> {
  await page.form();
  const { accounts, pushes, requests } = page.services;
  const user = page.id === undefined ? undefined : await accounts.findUser(page.id);
  if (user === undefined) return page.notFound();
  await requests.closeOwned(user.id, accounts.adminEntry("ended_links", user.email, administratorOf(page)));
  await pushes.endOwned(user.id, page.actor);
  return page.redirect(userPath(user.id));
}

/**
 * Sends the page that asks the administrator to prove the action if it is not proven.
 * @returns false: the request is answered. Never the reply itself, which resolves to undefined when it is awaited.
 */
export async function isProven(
  page: SignedInRequest,
  form: FormFields,
  question: Omit<ProofModel, "proof" | "problem">,
): Promise<boolean> {
  const confirmation = await page.services.accounts.confirmChange(changeOf(page, form));
  if (confirmation.outcome === "proven") return true;
  // The first form asks for no proof.
  const isGiven = form.proof !== undefined || form.proof_passkey !== undefined;
  const isFirst = !isGiven && confirmation.outcome === "proof_failed";
  const state: Partial<FormState<"proof">> = isFirst ? untouched : refusedChange(page, confirmation).state;
  const model: ProofModel = { ...question, proof: await proofOffered(page), problem: state.problems?.proof };
  page.render(proofView, model, { status: state.status ?? 422 });
  return false;
}

async function applyAction(page: SignedInRequest, action: PlainAction, userId: number): Promise<Change | FactorReset> {
  const { accounts, deleteAccount } = page.services;
  const by = administratorOf(page);
  switch (action) {
    case "promote":
      return accounts.setAdmin(userId, true, by);
    case "demote":
      return accounts.setAdmin(userId, false, by);
    case "disable":
      return accounts.setDisabled(userId, true, by);
    case "enable":
      return accounts.setDisabled(userId, false, by);
    case "delete":
      return deleteAccount(userId, by);
    case "reset_factors":
      return accounts.resetFactors(userId, by);
    case "confirm":
      return accounts.confirmEmail(userId, by);
  }
}

async function renderUser(page: SignedInRequest, status: number, refusal: Refusal | null): Promise<FastifyReply> {
  const { accounts, clock, pushes, requests } = page.services;
  const summary = page.id === undefined ? undefined : await accounts.findUserSummary(page.id);
  if (summary === undefined) return page.notFound();
  const { id } = summary.user;
  const sessions = await accounts.listSessions(id);
  const isOwn = id === page.user.id;
  const left = { links: await pushes.countLive(id, linksCounted + 1), requests: await requests.countOpen(id) };
  const model = { summary, sessions, left, isOwn, asksByEmail: accounts.asksByEmail, nowMs: clock.now(), refusal };
  return page.render(userView, model, { status, selfPath: page.isGet ? userPath(id) : null });
}

export const userActions = [
  "promote",
  "demote",
  "disable",
  "enable",
  "confirm",
  "ask_email",
  "change_email",
  "reset_factors",
  "delete",
] as const;
type UserAction = (typeof userActions)[number];
type EmailAction = "ask_email" | "change_email";
type PlainAction = Exclude<UserAction, EmailAction>;

const changesEmail = (action: UserAction | "create"): action is EmailAction =>
  action === "ask_email" || action === "change_email";

type Refusal = "last_admin" | "no_factors" | "malformed" | "taken" | "too_many";

interface UserModel {
  readonly summary: UserSummary;
  readonly sessions: readonly ListedSession[];
  readonly left: LeftOpen;
  /** The administrator's own account. */
  readonly isOwn: boolean;
  /** The user's address can be asked by email. */
  readonly asksByEmail: boolean;
  readonly nowMs: number;
  readonly refusal: Refusal | null;
}

export function userView(
  { summary, sessions, left, isOwn, asksByEmail, nowMs, refusal }: UserModel,
  page: PageContext,
): Page {
  const { user } = summary;
  const { admin } = page.messages;
  return (
    <AdminFrame
      page={page}
      current="users"
      heading={<bdi translate={untranslated}>{user.email}</bdi>}
      lead={admin.usersLead}
      asksFirstAt={userPath(user.id)}
    >
      {refusal !== null && (
        <Notice tone="danger" icon="alert" alert>
          <p>{refusalText(refusal, user.email, page)}</p>
        </Notice>
      )}
      <ul class="card admin-rows">
        <li class="row">
          <div class="row-main">
            {isOwn && <span class="badge">{admin.you}</span>}
            <UserState user={user} page={page} />
          </div>
          <Facts page={page} nowMs={nowMs} class="admin-facts" row={summary} columns={Object.values(userFacts(page))} />
          <div class="row-actions">
            {actionsFor(summary, asksByEmail).map((action) => (
              <ActionOn key={action} action={action} user={user} page={page} />
            ))}
          </div>
        </li>
      </ul>
      <Sessions user={user} sessions={sessions} nowMs={nowMs} page={page} />
      <LeftOpenCard user={user} path={userPath(user.id)} left={left} page={page} />
      <p>
        <a href={pageHref(page, adminPaths.users)}>{admin.allUsers}</a>
      </p>
    </AdminFrame>
  );
}

/** What the list of users and the page of one say of a user. */
export function userFacts({ messages: { admin, formats } }: PageContext) {
  return {
    created: { label: admin.created, narrow: "hidden", time: ({ user }) => user.createdAt },
    lastSignIn: { label: admin.lastSignIn, time: ({ lastSignedInAt }) => lastSignedInAt, never: admin.never },
    signIns: { label: admin.signIns, value: ({ signInCount }) => formats.number(signInCount) },
    secondFactor: {
      label: admin.secondFactor,
      narrow: "hidden",
      value: ({ user }) => (user.hasSecondFactor ? admin.yes : admin.no),
    },
    tokens: { label: admin.tokensInUse, narrow: "hidden", value: ({ tokensInUse }) => formats.number(tokensInUse) },
  } as const satisfies Record<string, Column<UserSummary>>;
}

interface SessionsProps {
  readonly user: User;
  readonly sessions: readonly ListedSession[];
  readonly nowMs: number;
  readonly page: PageContext;
}

/** Where the user is signed in, last seen first. */
function Sessions({ user, sessions, nowMs, page }: SessionsProps) {
  const { messages } = page;
  const { admin } = messages;
  const { heading, from, began, seen } = messages.profile.sessions;
  const { browser } = messages.dashboard;
  return (
    <section aria-labelledby="sessions">
      <h2 class="section-heading" id="sessions">
        {heading}
      </h2>
      <List
        page={page}
        nowMs={nowMs}
        caption={heading}
        rows={sessions}
        fit="values"
        columns={[
          { label: browser, long: true, value: ({ userAgent }) => browserName(userAgent, messages) },
          { label: from, value: ({ address }) => <bdi dir="ltr">{address}</bdi> },
          { label: began, time: ({ createdAt }) => createdAt },
          { label: seen, time: ({ seenAt }) => seenAt },
        ]}
        empty={<p>{admin.noSessions}</p>}
      />
      {sessions.length > 0 && (
        <Confirm
          page={page}
          icon="hand"
          label={admin.endSessions}
          accessibleLabel={admin.actionOn({ action: admin.endSessions, name: user.email })}
          explanation={admin.endSessionsText}
          action={`${userPath(user.id)}/sessions/end`}
          tone="danger"
          group="action"
        />
      )}
    </section>
  );
}

export function UserState({ user, page }: { readonly user: User; readonly page: PageContext }) {
  const { admin } = page.messages;
  const isActive = user.disabledAt === null && user.confirmedAt !== null;
  return (
    <>
      {isActive && <span class="badge badge-active">{admin.activeUser}</span>}{" "}
      {user.disabledAt !== null && <span class="badge badge-danger">{admin.disabled}</span>}{" "}
      {user.confirmedAt === null && <span class="badge">{admin.unconfirmed}</span>}{" "}
      {user.admin && <span class="badge">{admin.administrator}</span>}
    </>
  );
}

function refusalText(refusal: Refusal, email: string, { messages: { admin } }: PageContext): string {
  switch (refusal) {
    case "last_admin":
      return admin.lastAdmin({ email });
    case "no_factors":
      return admin.noFactors({ email });
    case "malformed":
      return admin.badEmail;
    case "taken":
      return admin.takenEmail;
    case "too_many":
      return admin.tooManyQuestions;
  }
}

function actionsFor({ user }: UserSummary, asksByEmail: boolean): readonly UserAction[] {
  return [
    user.admin ? "demote" : "promote",
    user.disabledAt === null ? "disable" : "enable",
    ...(user.confirmedAt === null ? (["confirm"] as const) : []),
    ...(user.disabledAt === null && asksByEmail ? (["ask_email"] as const) : []),
    ...(user.disabledAt === null ? (["change_email"] as const) : []),
    ...(user.hasSecondFactor ? (["reset_factors"] as const) : []),
    "delete",
  ];
}

interface ProofModel {
  readonly action: UserAction | "create";
  /** null: the user is about to be created. */
  readonly userId: number | null;
  /** The user's email address. */
  readonly subject: string;
  /** The new email address; "": none is needed. */
  readonly email: string;
  /** null: none is needed any more, because the administrator has just signed in. */
  readonly proof: ProofOffered | null;
  readonly problem: string | undefined;
}

/** Asks the administrator to prove the action, posted to the path that the first form was posted to. */
export function proofView({ action, userId, subject, email, proof, problem }: ProofModel, page: PageContext): Page {
  const { admin, edit } = page.messages;
  const [label, explanation] = messagesOf(action, page);
  const path = userId === null ? adminPaths.users : userPath(userId);
  return (
    <AdminFrame page={page} current="users" lead={admin.usersLead} scripts={["passkeys.js"]} asksFirstAt={path}>
      <section class="card" aria-labelledby="prove">
        <h2 class="section-heading" id="prove">
          {label}: <bdi translate={untranslated}>{subject}</bdi>
        </h2>
        <PostForm page={page} class="form admin-form" action={userId === null ? path : `${path}/${action}`}>
          {email !== "" && <input type="hidden" name="email" value={email} />}
          <p>{explanation}</p>
          {changesEmail(action) && (
            <p>
              {admin.newEmail}: <bdi translate={untranslated}>{email}</bdi>
            </p>
          )}
          {proof !== null && <ProofFields page={page} id="proof" offered={proof} problem={problem} />}
          <div class="page-actions">
            <a class="button" href={pageHref(page, path)}>
              {edit.cancel}
            </a>
            <button type="submit" class={`button ${isHarmless(action) ? "button-primary" : "button-danger"}`}>
              {admin.actionOn({ action: label, name: subject })}
            </button>
          </div>
        </PostForm>
      </section>
    </AdminFrame>
  );
}

/** It can be undone and takes nothing away. */
const isHarmless = (action: UserAction | "create") =>
  action === "promote" || action === "enable" || action === "confirm" || action === "ask_email" || action === "create";

const icons: Readonly<Record<UserAction, IconName>> = {
  promote: "shield",
  demote: "shield",
  disable: "alert",
  enable: "check",
  confirm: "check",
  ask_email: "pencil",
  change_email: "pencil",
  reset_factors: "key",
  delete: "trash",
};

interface ActionOnProps {
  readonly action: UserAction;
  readonly user: User;
  readonly page: PageContext;
}

function ActionOn({ action, user, page }: ActionOnProps) {
  const { admin } = page.messages;
  const [label, explanation] = messagesOf(action, page);
  return (
    <Confirm
      page={page}
      icon={icons[action]}
      label={label}
      accessibleLabel={admin.actionOn({ action: label, name: user.email })}
      explanation={explanation}
      action={`${userPath(user.id)}/${action}`}
      tone={isHarmless(action) ? "plain" : "danger"}
      group="action"
    >
      {changesEmail(action) && <EmailField id={`${action}_to`} label={admin.newEmail} />}
    </Confirm>
  );
}

export function EmailField({ id, label }: { readonly id: string; readonly label: string }) {
  return (
    <p>
      <label for={id}>{label}</label>
      <input
        class="input"
        id={id}
        name="email"
        type="email"
        dir="ltr"
        required
        maxLength={emailCharactersMax}
        autoComplete="off"
      />
    </p>
  );
}

function messagesOf(
  action: UserAction | "create",
  { messages: { admin } }: PageContext,
): readonly [label: string, text: string] {
  switch (action) {
    case "promote":
      return [admin.promote, admin.promoteText];
    case "demote":
      return [admin.demote, admin.demoteText];
    case "disable":
      return [admin.disable, admin.disableText];
    case "enable":
      return [admin.enable, admin.enableText];
    case "create":
      return [admin.createUser, admin.createUserText];
    case "confirm":
      return [admin.confirmEmail, admin.confirmEmailText];
    case "ask_email":
      return [admin.askEmail, admin.askEmailText];
    case "change_email":
      return [admin.changeEmail, admin.changeEmailText];
    case "reset_factors":
      return [admin.resetFactors, admin.resetFactorsText];
    case "delete":
      return [admin.deleteUser, admin.deleteUserText];
  }
}
