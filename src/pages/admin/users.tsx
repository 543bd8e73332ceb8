import { type User, type UserSummary, usersPerPage } from "../../accounts/accounts.ts";
import { normalizeEmail } from "../../base/email.ts";
import { pageOf } from "../../http/parameters.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { listPath } from "../lists/filters.tsx";
import { type Column, List, NoneFound } from "../lists/list.tsx";
import { type Page, type PageContext, pageHref, untranslated } from "../page.ts";
import { EmailAddress } from "../parts/email-address.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, untouched } from "../take-form.ts";
import { AdminFrame, adminPaths, entryOf } from "./frame.tsx";
import {
  EmailField,
  emailCharactersMax,
  isUnproven,
  proveFirst,
  readAction,
  renderProof,
  type SentAction,
  UserState,
  userFacts,
  userPath,
} from "./user.tsx";

/** `GET /admin/users` */
export function showUsers(page: SignedInRequest): Promise<Reply> {
  const text = (page.query("q") ?? "").trim().slice(0, emailCharactersMax);
  return renderUsers(page, untouched, { text, page: pageOf(page.request) });
}

const newUserForm: FormDeclaration<SignedInRequest, SentAction, "proof"> = {
  read: readAction,
  show: (page, { email }, state) =>
    isUnproven(state)
      ? renderProof(page, { action: "create", userId: null, subject: email, email }, state)
      : renderUsers(page, state, { email }),
  describe: ({ messages: { admin } }, { email }) => ({
    refusal: normalizeEmail(email) === undefined ? admin.badEmail : admin.takenEmail,
  }),
};

/**
 * `POST /admin/users`. The new user gets an invitation by email or, without a mail server, a password that is shown once; where
 * single sign-on is the only way in, neither.
 */
export const createUser = formHandler(newUserForm, async (page, sent) => {
  const unproven = await proveFirst(page, sent);
  if (unproven !== undefined) return unproven;
  const { accounts, config } = page.services;
  const { signOnOnly } = config.accounts;
  const entry = (user: User) => entryOf(page, "created_user", user.email);
  const wanted = { email: sent.email, admin: false };
  const password = accounts.invitesUsers || signOnOnly ? null : accounts.makePassword();
  const made = await (accounts.invitesUsers
    ? accounts.inviteUser({ ...wanted, language: page.messages.locale.tag }, entry)
    : accounts.createUser({ ...wanted, password }, entry));
  const created = { email: made.email, password };
  // Answer without a redirect: the password is not stored, so it can be shown only here.
  return await renderUsers(page, { ...untouched, status: 201 }, { created });
});

interface ShownUsers {
  /** A part of the email address; "": all users. */
  readonly text?: string;
  readonly page?: number;
  /** As typed, for a new user; undefined: the form was not sent. */
  readonly email?: string;
  readonly created?: CreatedUser | null;
}

/** The user that was just created. */
interface CreatedUser {
  readonly email: string;
  /** null: a link was mailed, or single sign-on is the only way in. */
  readonly password: string | null;
}

async function renderUsers(page: SignedInRequest, state: FormState, shown: ShownUsers): Promise<Reply> {
  const model = await usersModel(page, state, shown);
  const path = listPath(adminPaths.users, { q: model.text, page: model.page });
  return page.renderForm(usersView, model, { status: state.status, path });
}

type UsersModel = Awaited<ReturnType<typeof usersModel>>;

/** @param state why a user was not created. */
async function usersModel(page: SignedInRequest, state: FormState, shown: ShownUsers) {
  const { accounts, clock, config } = page.services;
  const { text = "", page: number = 1, created = null } = shown;
  return {
    ...{ ...shown, text, page: number, created, state },
    /** New users get a link by email. */
    mailsLinks: accounts.invitesUsers,
    /** Single sign-on is the only way in: new users get no password. */
    signOnOnly: config.accounts.signOnOnly,
    users: await accounts.searchUsers(text, number),
    ownId: page.user.id,
    nowMs: clock.now(),
  };
}

function explanationOf({ mailsLinks, signOnOnly }: UsersModel, { admin }: Messages): string {
  if (signOnOnly) return admin.createUserSignOn;
  return mailsLinks ? admin.createUserMailed : admin.createUserShown;
}

function createdText({ email, password }: CreatedUser, { signOnOnly }: UsersModel, { admin }: Messages): string {
  if (signOnOnly) return admin.createdSignOn({ email });
  return password === null ? admin.createdMailed({ email }) : admin.createdShown({ email });
}

export function usersView(model: UsersModel, page: PageContext): Page {
  const { admin } = page.messages;
  return (
    <AdminFrame page={page} current="users" lead={admin.usersLead} asksFirstAt={adminPaths.users}>
      <FormNotices state={model.state} />
      {model.created !== null && (
        <Notice tone="success" icon="check">
          <p>{createdText(model.created, model, page.messages)}</p>
          {model.created.password !== null && (
            <p>
              <code dir="ltr" translate={untranslated}>
                {model.created.password}
              </code>
            </p>
          )}
        </Notice>
      )}
      <List
        nowMs={model.nowMs}
        caption={admin.users}
        rows={model.users}
        columns={userColumns(model, page)}
        empty={<NoneFound text={admin.noUsers} path={adminPaths.users} />}
        at={{ path: adminPaths.users, query: { q: model.text } }}
        search={{
          submit: admin.search,
          filters: [{ name: "q", label: admin.searchUsers, hint: admin.email, value: model.text }],
        }}
        paging={{ number: model.page, hasMore: model.users.length === usersPerPage }}
      >
        <Confirm
          isOpen={model.email !== undefined}
          label={admin.createUser}
          explanation={explanationOf(model, page.messages)}
          confirm={admin.createUser}
          action={adminPaths.users}
          tone="plain"
        >
          <EmailField id="new_user" label={admin.email} value={model.email} />
        </Confirm>
      </List>
    </AdminFrame>
  );
}

/** The actions are on the page of each user: a row has few pixels and few bytes. */
function userColumns({ ownId }: UsersModel, page: PageContext): readonly Column<UserSummary>[] {
  const { admin, dashboard } = page.messages;
  const { created, lastSignIn, secondFactor, tokens } = userFacts(page);
  return [
    {
      label: admin.email,
      value: ({ user }) => (
        <>
          <a href={pageHref(page, userPath(user.id))} dir="ltr" translate={untranslated}>
            <EmailAddress email={user.email} />
          </a>{" "}
          {user.id === ownId && <span class="badge">{admin.you}</span>}
        </>
      ),
      long: true,
    },
    { label: dashboard.state, narrow: "unlabelled", value: ({ user }) => <UserState user={user} /> },
    created,
    lastSignIn,
    secondFactor,
    tokens,
  ];
}
