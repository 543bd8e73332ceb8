import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import { findMessages } from "../../i18n/i18n.ts";
import { passwordSentence } from "../entry.tsx";
import { languageCookies } from "../language-choice.ts";
import type { PageRequest, Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, takeForm, untouched } from "../take-form.ts";
import { readDefaults, typedDefaults } from "./defaults-form.ts";
import {
  type AccountField,
  accountModel,
  type Done,
  doneTabs,
  revokeTokensField,
  type Shown,
  type Typable,
} from "./model.ts";
import { type AccountTab, accountPath, accountTabPath, accountTabs } from "./path.ts";
import { accountView, deletedView } from "./view.tsx";

export const accountDeletedPath = "/users/deleted";

/** `GET /users/edit` */
export function showAccount(page: SignedInRequest): Promise<Reply> {
  const asked = page.query("done");
  const done = isDone(asked) ? asked : null;
  const tab = done === null ? accountTabs.find((name) => name === page.query("tab")) : doneTabs[done];
  return renderAccount(page, { tab: tab ?? accountTabs[0], done }, untouched);
}

function isDone(name: string | undefined): name is Done {
  return name !== undefined && Object.hasOwn(doneTabs, name);
}

/** A form of a tab, which comes back with what was typed in it. @param attemptsAt its control for too many attempts. */
function accountForm<Typed>(
  tab: AccountTab,
  read: (fields: FormFields, page: SignedInRequest) => Typed & Typable,
  attemptsAt?: AccountField,
): FormDeclaration<SignedInRequest, Typed & Typable, AccountField> {
  return {
    read,
    show: (page, typed, state) => renderAccount(page, { ...typed, tab }, state),
    ...(attemptsAt !== undefined && { attemptsAt }),
  };
}

const emailForm = accountForm(
  "general",
  (fields) => ({ newEmail: textOf(fields, "email"), password: textOf(fields, "password") }),
  "email_password",
);

/** `POST /users/edit/email` */
export const changeEmail = formHandler(emailForm, async (page, { newEmail: email, password }) => {
  const { email: messages } = page.messages.profile;
  const given = { session: page.session, email, password, client: page.clientContext };
  const outcome = await page.services.accounts.changeEmail(given);
  if (outcome === "changed" || outcome === "link_sent") {
    return redirectDone(page, outcome === "changed" ? "email" : "link");
  }
  if (outcome === "not_confirmed") return refused({ email_password: identityRefusal(page) });
  const problems: Readonly<Record<typeof outcome, string>> = {
    malformed: messages.malformed,
    not_allowed: messages.notAllowed,
    unchanged: messages.unchanged,
    taken: messages.taken,
    too_many: messages.tooMany,
  };
  return refused({ email: problems[outcome] });
});

const ownConfirmationForm = accountForm("general", () => ({}), "email_confirmation");

/**
 * `POST /users/edit/email/confirmation`: mails a confirmation link to the account's current address. View notifications go
 * to confirmed addresses only.
 */
export function requestOwnConfirmation(page: SignedInRequest): Promise<Reply> {
  const { user } = page.session;
  const language = page.messages.locale.tag;
  return takeForm(page, ownConfirmationForm, async () => {
    const { accounts } = page.services;
    const outcome = await accounts.requestOwnConfirmation({ user, language, client: page.clientContext });
    return outcome === "sent" ? redirectDone(page, "confirmation") : page.redirect(accountPath);
  });
}

const passwordForm = accountForm(
  "access",
  (fields) => ({
    current: textOf(fields, "current_password"),
    password: textOf(fields, "password"),
    // Programs that post the form without the field get the safer choice.
    revokesTokens: textOf(fields, revokeTokensField) !== "0",
  }),
  "current_password",
);

/** `POST /users/edit/password` */
export const changePassword = formHandler(passwordForm, async (page, typed) => {
  const { id: keepSessionId, user } = page.session;
  const { again } = page.messages.profile;
  const given = { ...typed, userId: user.id, keepSessionId, client: page.clientContext };
  const outcome = await page.services.accounts.changePassword(given);
  if (outcome === "changed") return redirectDone(page, "password");
  if (outcome === "wrong_password") return refused({ current_password: again.wrong });
  return refused({
    new_password: outcome === "sign_in_again" ? again.signIn : passwordSentence(outcome, page.messages),
  });
});

const languageForm = accountForm("general", (fields) => ({ language: textOf(fields, "language") }));

/** `POST /users/edit/language` */
export const changeLanguage = formHandler(languageForm, async (page, { language }) => {
  const { accounts, config } = page.services;
  const tag = language === "" ? null : findMessages(language, config.languages)?.locale.tag;
  if (tag === undefined) return refused({ language: page.messages.profile.language.problem });
  await accounts.setLanguage(page.session.user.id, tag);
  page.setCookie(languageCookies(config).ended(page.request.client));
  // Without this request's `?locale=`, so that the page appears in the chosen language.
  return page.redirectToUrl(`${accountPath}?done=language`);
});

const defaultsForm = accountForm("defaults", (fields, { services }) => ({
  defaults: typedDefaults(fields, services.config),
}));

/** `POST /users/edit/defaults` */
export const changeDefaults = formHandler(defaultsForm, async (page, typed) => {
  const { accounts } = page.services;
  const { id } = page.session.user;
  const { defaults, problems } = readDefaults(typed.defaults, await accounts.pushDefaults(id), page.messages);
  if (Object.keys(problems).length > 0) return refused(problems);
  await accounts.setPushDefaults(id, defaults);
  return redirectDone(page, "defaults");
});

/** `POST /users/edit/sessions/:id/end` */
export async function endSession(page: SignedInRequest): Promise<Reply> {
  const ended = await page.services.accounts.endSession(page.session.user.id, page.id);
  return ended ? redirectDone(page, "session") : page.notFound();
}

/** `POST /users/edit/sessions/end_others` */
export async function endOtherSessions(page: SignedInRequest): Promise<Reply> {
  const { id, user } = page.session;
  await page.services.accounts.endOtherSessions(user.id, id);
  return redirectDone(page, "sessions");
}

const deletionForm = accountForm("data", (fields) => ({ password: textOf(fields, "password") }), "delete_password");

/** `POST /users/edit/delete` */
export const deleteAccount = formHandler(deletionForm, async (page, { password }) => {
  const { accounts, sessionCookies, deleteAccount: deleteUser } = page.services;
  const { session } = page;
  const confirmed = await accounts.confirmIdentity(session, password, page.clientContext);
  if (!confirmed) return refused({ delete_password: identityRefusal(page) });
  const change = await deleteUser(session.user.id, null);
  if (change.outcome === "last_admin") return refused({ delete_password: page.messages.profile.delete.lastAdmin });
  page.setCookie(sessionCookies.ended(page.request.client));
  return page.redirect(accountDeletedPath);
});

/** `GET /users/deleted` */
export function showAccountDeleted(page: PageRequest): Reply {
  return page.renderPlain(deletedView, { selfPath: accountDeletedPath });
}

async function renderAccount(page: SignedInRequest, shown: Shown, state: FormState<AccountField>): Promise<Reply> {
  const model = await accountModel(page, shown, state);
  return page.renderForm(accountView, model, { status: state.status, path: accountTabPath(shown.tab) });
}

/** Redirects to the page, which then confirms what was done. */
function redirectDone(page: SignedInRequest, done: Done): Reply {
  return page.redirect(`${accountPath}?done=${done}`);
}

/** The sentence for a user whose identity `confirmIdentity` did not confirm. */
function identityRefusal(page: SignedInRequest): string {
  const { again } = page.messages.profile;
  return page.session.user.hasPassword ? again.wrong : again.signIn;
}
