import type { FastifyReply } from "fastify";
import { type User, type UserSummary, usersPerPage } from "../../accounts/accounts.ts";
import { normalizeEmail } from "../../base/email.ts";
import { AppError } from "../../base/errors.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { pageOf } from "../../http/parameters.ts";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Notice } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { SearchBox, SearchForm } from "../parts/search-form.tsx";
import { RelativeTime } from "../parts/times.tsx";
import type { SignedInRequest } from "../request.ts";
import { AdminFrame, administratorOf, adminPaths } from "./frame.tsx";
import { EmailField, emailCharactersMax, isProven, UserBadges, userPath } from "./user.tsx";

/** `GET /admin/users` */
export function showUsers(page: SignedInRequest): Promise<FastifyReply> {
  const text = (page.query("q") ?? "").trim().slice(0, emailCharactersMax);
  return renderUsers(page, 200, { text, page: pageOf(page.request), refusal: null });
}

/**
 * `POST /admin/users`. The new user gets an invitation by email or, without a mail server, a password that is shown once; where
 * single sign-on is the only way in, neither.
 */
export async function createUser(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const email = textOf(form, "email").trim().slice(0, emailCharactersMax);
  const question = { action: "create", userId: null, subject: email, email } as const;
  if (!(await isProven(page, form, question))) return page.reply;
  const { accounts, config } = page.services;
  const { signOnOnly } = config.accounts;
  const by = administratorOf(page);
  const entryOf = (user: User) => accounts.adminEntry("created_user", user.email, by);
  const wanted = { email, admin: false };
  const password = accounts.invitesUsers || signOnOnly ? null : accounts.makePassword();
  try {
    const made = await (accounts.invitesUsers
      ? accounts.inviteUser({ ...wanted, language: page.messages.locale.tag }, entryOf)
      : accounts.createUser({ ...wanted, password }, entryOf));
    const created = { email: made.email, password };
    // Answer without a redirect: the password is not stored, so it can be shown only here.
    return await renderUsers(page, 201, { text: "", page: 1, refusal: null, created });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_fields") throw error;
    const reason = normalizeEmail(email) === undefined ? "malformed" : "taken";
    return renderUsers(page, 422, { text: "", page: 1, refusal: reason });
  }
}

async function renderUsers(
  page: SignedInRequest,
  status: number,
  shown: Pick<UsersModel, "text" | "page" | "refusal"> & Partial<Pick<UsersModel, "created">>,
): Promise<FastifyReply> {
  const { accounts, clock, config } = page.services;
  const model: UsersModel = {
    created: null,
    mailsLinks: accounts.invitesUsers,
    signOnOnly: config.accounts.signOnOnly,
    ...shown,
    users: await accounts.searchUsers(shown.text, shown.page),
    ownId: page.user.id,
    nowMs: clock.now(),
  };
  return page.render(usersView, model, { status, selfPath: page.isGet ? usersPath(shown.text, shown.page) : null });
}

interface UsersModel {
  /** A part of the email address; "": all users. */
  readonly text: string;
  readonly page: number;
  readonly users: readonly UserSummary[];
  readonly ownId: number;
  readonly nowMs: number;
  /** Why the user was not created. */
  readonly refusal: "malformed" | "taken" | null;
  /** The user that was just created, and the password; null: a link was mailed. */
  readonly created: { readonly email: string; readonly password: string | null } | null;
  /** New users get a link by email. */
  readonly mailsLinks: boolean;
  /** Single sign-on is the only way in: new users get no password. */
  readonly signOnOnly: boolean;
}

function explanationOf({ mailsLinks, signOnOnly }: UsersModel, { admin }: PageContext["messages"]): string {
  if (signOnOnly) return admin.createUserSignOn;
  return mailsLinks ? admin.createUserMailed : admin.createUserShown;
}

function usersPath(text: string, page: number): string {
  const query = new URLSearchParams();
  if (text !== "") query.set("q", text);
  if (page !== 1) query.set("page", String(page));
  const written = query.toString();
  return written === "" ? adminPaths.users : `${adminPaths.users}?${written}`;
}

export function usersView(model: UsersModel, page: PageContext): Page {
  const { admin } = page.messages;
  const hasMore = model.users.length === usersPerPage;
  const hrefOf = (number: number) => pageHref(page, usersPath(model.text, number));
  return (
    <AdminFrame page={page} current="users" lead={admin.usersLead} asksFirstAt={adminPaths.users}>
      {model.refusal !== null && (
        <Notice tone="danger" icon="alert" alert>
          <p>{model.refusal === "taken" ? admin.takenEmail : admin.badEmail}</p>
        </Notice>
      )}
      {model.created !== null && <CreatedNotice created={model.created} signOnOnly={model.signOnOnly} page={page} />}
      <SearchForm page={page} action={adminPaths.users} submit={admin.search}>
        <SearchBox name="q" label={admin.searchUsers} value={model.text} />
      </SearchForm>
      <Confirm
        page={page}
        icon="text"
        label={admin.createUser}
        explanation={explanationOf(model, page.messages)}
        confirm={admin.createUser}
        action={adminPaths.users}
        tone="plain"
      >
        <EmailField id="new_user" label={admin.email} />
      </Confirm>
      {model.users.length === 0 ? <p>{admin.noUsers}</p> : <UserTable model={model} page={page} />}
      <Pager messages={page.messages} number={model.page} hasMore={hasMore} hrefOf={hrefOf} />
    </AdminFrame>
  );
}

function CreatedNotice({
  created,
  signOnOnly,
  page,
}: {
  readonly created: NonNullable<UsersModel["created"]>;
  readonly signOnOnly: boolean;
  readonly page: PageContext;
}) {
  const { admin } = page.messages;
  const { email, password } = created;
  return (
    <Notice tone="success" icon="check">
      <p>
        {signOnOnly
          ? admin.createdSignOn({ email })
          : password === null
            ? admin.createdMailed({ email })
            : admin.createdShown({ email })}
      </p>
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

interface UserTableProps {
  readonly model: UsersModel;
  readonly page: PageContext;
}

/** The actions are on the page of each user: a row has few pixels and few bytes. */
function UserTable({ model, page }: UserTableProps) {
  const { admin } = page.messages;
  return (
    <div class="card table-card">
      <table class="data-table">
        <caption class="visually-hidden">{admin.users}</caption>
        <thead>
          <tr>
            <th scope="col">{admin.email}</th>
            <th scope="col">{admin.created}</th>
            <th scope="col">{admin.lastSignIn}</th>
            <th scope="col">{admin.signIns}</th>
            <th scope="col">{admin.secondFactor}</th>
            <th scope="col">{admin.tokensInUse}</th>
          </tr>
        </thead>
        <tbody>
          {model.users.map((summary) => (
            <UserRow key={summary.user.id} summary={summary} model={model} page={page} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function UserRow({ summary, model, page }: UserTableProps & { readonly summary: UserSummary }) {
  const { user, lastSignedInAt, signInCount, tokensInUse } = summary;
  const { messages } = page;
  const { admin, formats } = messages;
  return (
    <tr>
      <th scope="row">
        <a href={pageHref(page, userPath(user.id))} dir="ltr" translate={false}>
          {user.email}
        </a>{" "}
        <UserBadges user={user} isOwn={user.id === model.ownId} page={page} />
      </th>
      <td data-label={admin.created}>
        <RelativeTime timeMs={user.createdAt} nowMs={model.nowMs} messages={messages} />
      </td>
      <td data-label={admin.lastSignIn}>
        {lastSignedInAt === null ? (
          admin.never
        ) : (
          <RelativeTime timeMs={lastSignedInAt} nowMs={model.nowMs} messages={messages} />
        )}
      </td>
      <td data-label={admin.signIns}>{formats.number(signInCount)}</td>
      <td data-label={admin.secondFactor}>{user.hasSecondFactor ? admin.yes : admin.no}</td>
      <td data-label={admin.tokensInUse}>{formats.number(tokensInUse)}</td>
    </tr>
  );
}
