import type { FastifyReply } from "fastify";
import type { Change, FactorReset, User, UserSummary } from "../../accounts/accounts.ts";
import { normalizeEmail } from "../../base/email.ts";
import { AppError } from "../../base/errors.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import { pageOf } from "../../http/parameters.ts";
import { changeOf, proofOffered, refusedChange } from "../factors/changes.ts";
import { ProofFields, type ProofOffered } from "../factors/proof.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import type { IconName } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { Confirm, PostForm } from "../parts/post-form.tsx";
import { SearchBox, SearchForm } from "../parts/search-form.tsx";
import { BothTimes } from "../parts/times.tsx";
import type { SignedInRequest } from "../request.ts";
import { AdminFrame, administratorOf, adminPaths } from "./frame.tsx";

const textMax = 254;

/** `GET /admin/users` */
export function showUsers(page: SignedInRequest): Promise<FastifyReply> {
  const text = (page.query("q") ?? "").trim().slice(0, textMax);
  return renderUsers(page, 200, { text, page: pageOf(page.request), refusal: null });
}

/**
 * `POST /admin/users/:id/<action>`. Each action can give or take somebody's access for good, so the administrator has to
 * prove it as a change of an own factor; a page of its own asks for that.
 */
export async function changeUser(page: SignedInRequest, action: UserAction): Promise<FastifyReply> {
  const form = await page.form();
  const text = textOf(form, "q").slice(0, textMax);
  const userId = page.id;
  if (userId === undefined) return page.notFound();
  const { accounts } = page.services;
  const unknown = () => renderUsers(page, 404, { text, page: 1, refusal: { reason: "unknown" } });
  const user = await accounts.findUser(userId);
  if (user === undefined) return unknown();
  const email = textOf(form, "email").trim().slice(0, textMax);
  const question = { action, path: `${userId}/${action}`, subject: user.email, email, text };
  if (!(await isProven(page, form, question))) return page.reply;
  if (action === "change_email") {
    const entry = accounts.adminEntry("changed_email", `${user.email} -> ${email}`, administratorOf(page));
    const outcome = await accounts.changeEmailAsAdministrator(user, email, page.clientContext, entry);
    if (outcome === "unknown") return unknown();
    const isDone = outcome === "changed" || outcome === "unchanged";
    return isDone
      ? page.redirect(usersPath(text, 1))
      : renderUsers(page, 422, { text, page: 1, refusal: { reason: outcome } });
  }
  const result = await applyAction(page, action, userId);
  if (result.outcome === "unknown") return unknown();
  if (result.outcome !== "done") {
    const refusal = { reason: result.outcome, email: result.user.email };
    return renderUsers(page, 422, { text, page: 1, refusal });
  }
  // Administrators who have removed their own rights can no longer see this page.
  const isLocked = userId === page.user.id && !isHarmless(action);
  return page.redirect(isLocked ? "/" : usersPath(text, 1));
}

/**
 * `POST /admin/users`. The new user gets an invitation by email or, without a mail server, a password that is shown once.
 */
export async function createUser(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const email = textOf(form, "email").trim().slice(0, textMax);
  const question = { action: "create", path: "", subject: email, email, text: "" } as const;
  if (!(await isProven(page, form, question))) return page.reply;
  const { accounts } = page.services;
  const by = administratorOf(page);
  const entryOf = (user: User) => accounts.adminEntry("created_user", user.email, by);
  const wanted = { email, admin: false };
  const password = accounts.invitesUsers ? null : accounts.makePassword();
  try {
    const made = await (password === null
      ? accounts.inviteUser({ ...wanted, language: page.messages.locale.tag }, entryOf)
      : accounts.createUser({ ...wanted, password }, entryOf));
    const created = { email: made.email, password };
    // Answer without a redirect: the password is not stored, so it can be shown only here.
    return await renderUsers(page, 201, { text: "", page: 1, refusal: null, created });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_fields") throw error;
    const reason = normalizeEmail(email) === undefined ? "malformed" : "taken";
    return renderUsers(page, 422, { text: "", page: 1, refusal: { reason } });
  }
}

/**
 * Sends the page that asks the administrator to prove the action if it is not proven.
 * @returns false: the request is answered. Never the reply itself, which resolves to undefined when it is awaited.
 */
async function isProven(
  page: SignedInRequest,
  form: FormFields,
  question: Omit<ProofModel, "proof" | "problem">,
): Promise<boolean> {
  const confirmation = await page.services.accounts.confirmChange(changeOf(page, form));
  if (confirmation.outcome === "proven") return true;
  // The form of the list asks for no proof.
  const isGiven = form.proof !== undefined || form.proof_passkey !== undefined;
  const isFirst = !isGiven && confirmation.outcome === "proof_failed";
  const { status, message } = isFirst ? { status: 200, message: undefined } : refusedChange(page, confirmation);
  const model: ProofModel = { ...question, proof: await proofOffered(page), problem: message };
  page.render(proofView, model, { status });
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

async function renderUsers(
  page: SignedInRequest,
  status: number,
  shown: Pick<UsersModel, "text" | "page" | "refusal"> & Partial<Pick<UsersModel, "created">>,
): Promise<FastifyReply> {
  const { accounts, clock } = page.services;
  const model: UsersModel = {
    created: null,
    mailsLinks: accounts.invitesUsers,
    ...shown,
    users: await accounts.searchUsers(shown.text, shown.page),
    ownId: page.user.id,
    nowMs: clock.now(),
  };
  return page.render(usersView, model, { status, selfPath: page.isGet ? usersPath(shown.text, shown.page) : null });
}

export const userActions = [
  "promote",
  "demote",
  "disable",
  "enable",
  "confirm",
  "change_email",
  "reset_factors",
  "delete",
] as const;
type UserAction = (typeof userActions)[number];
type PlainAction = Exclude<UserAction, "change_email">;

interface UsersModel {
  /** A part of the email address; "": all users. */
  readonly text: string;
  readonly page: number;
  readonly users: readonly UserSummary[];
  readonly ownId: number;
  readonly nowMs: number;
  readonly refusal:
    | { readonly reason: "last_admin" | "no_factors"; readonly email: string }
    | { readonly reason: "unknown" | "malformed" | "taken" }
    | null;
  /** The user that was just created, and the password; null: a link was mailed. */
  readonly created: { readonly email: string; readonly password: string | null } | null;
  /** New users get a link by email. */
  readonly mailsLinks: boolean;
}

/** Users on a full page. */
const pageSize = 50;

function usersPath(text: string, page: number): string {
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
      {model.created !== null && <CreatedNotice created={model.created} page={page} />}
      <SearchForm page={page} action={adminPaths.users} submit={admin.search}>
        <SearchBox name="q" label={admin.searchUsers} value={model.text} />
      </SearchForm>
      <Confirm
        page={page}
        icon="text"
        label={admin.createUser}
        explanation={model.mailsLinks ? admin.createUserMailed : admin.createUserShown}
        confirm={admin.createUser}
        action={adminPaths.users}
        tone="plain"
      >
        <EmailField id="new_user" label={admin.email} />
      </Confirm>
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

function EmailField({ id, label }: { readonly id: string; readonly label: string }) {
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
        maxLength={textMax}
        autoComplete="off"
      />
    </p>
  );
}

function CreatedNotice({
  created,
  page,
}: {
  readonly created: NonNullable<UsersModel["created"]>;
  readonly page: PageContext;
}) {
  const { admin } = page.messages;
  const { email, password } = created;
  return (
    <Notice tone="success" icon="check">
      <p>{password === null ? admin.createdMailed({ email }) : admin.createdShown({ email })}</p>
      {password !== null && (
        <p>
          <code dir="ltr" translate={false}>
            {password}
          </code>
        </p>
      )}
    </Notice>
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
    case "malformed":
      return admin.badEmail;
    case "taken":
      return admin.takenEmail;
  }
}

interface UserRowProps {
  readonly summary: UserSummary;
  readonly model: UsersModel;
  readonly page: PageContext;
}

function UserRow({ summary, model, page }: UserRowProps) {
  const { user, lastSignedInAt, signInCount, tokensInUse } = summary;
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
        <Fact label={admin.signIns}>{formats.number(signInCount)}</Fact>
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
    ...(user.confirmedAt === null ? (["confirm"] as const) : []),
    ...(user.disabledAt === null ? (["change_email"] as const) : []),
    ...(user.hasSecondFactor ? (["reset_factors"] as const) : []),
    "delete",
  ];
}

interface ProofModel {
  readonly action: UserAction | "create";
  /** Where the form is posted to, below the page of the users. */
  readonly path: string;
  /** The user's email address. */
  readonly subject: string;
  /** The new email address; "": none is needed. */
  readonly email: string;
  /** See `UsersModel`. */
  readonly text: string;
  /** null: none is needed any more, because the administrator has just signed in. */
  readonly proof: ProofOffered | null;
  readonly problem: string | undefined;
}

/** Asks the administrator to prove the action, posted to the path that the list's form was posted to. */
export function proofView({ action, path, subject, email, text, proof, problem }: ProofModel, page: PageContext): Page {
  const { admin, edit } = page.messages;
  const [label, explanation] = messagesOf(action, page);
  return (
    <AdminFrame page={page} current="users" lead={admin.usersLead} scripts={["passkeys.js"]}>
      <section class="card" aria-labelledby="prove">
        <h2 class="section-heading" id="prove">
          {label}: <bdi translate={false}>{subject}</bdi>
        </h2>
        <PostForm
          page={page}
          class="form admin-form"
          action={path === "" ? adminPaths.users : `${adminPaths.users}/${path}`}
        >
          <input type="hidden" name="q" value={text} />
          {email !== "" && <input type="hidden" name="email" value={email} />}
          <p>{explanation}</p>
          {action === "change_email" && (
            <p>
              {admin.newEmail}: <bdi translate={false}>{email}</bdi>
            </p>
          )}
          {proof !== null && <ProofFields page={page} id="proof" offered={proof} problem={problem} />}
          <div class="page-actions">
            <a class="button" href={pageHref(page, usersPath(text, 1))}>
              {edit.cancel}
            </a>
            <button type="submit" class={`button ${isHarmless(action) ? "button-primary" : "button-danger"}`}>
              {admin.confirm}
            </button>
          </div>
        </PostForm>
      </section>
    </AdminFrame>
  );
}

/** It can be undone and takes nothing away. */
const isHarmless = (action: UserAction | "create") =>
  action === "promote" || action === "enable" || action === "confirm" || action === "create";

const icons: Readonly<Record<UserAction, IconName>> = {
  promote: "shield",
  demote: "shield",
  disable: "alert",
  enable: "check",
  confirm: "check",
  change_email: "pencil",
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
      tone={isHarmless(action) ? "plain" : "danger"}
      group={`user_${user.id}`}
    >
      <input type="hidden" name="q" value={text} />
      {action === "change_email" && <EmailField id={`email_${user.id}`} label={admin.newEmail} />}
    </Confirm>
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
    case "change_email":
      return [admin.changeEmail, admin.changeEmailText];
    case "reset_factors":
      return [admin.resetFactors, admin.resetFactorsText];
    case "delete":
      return [admin.deleteUser, admin.deleteUserText];
  }
}
