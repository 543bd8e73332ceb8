import type { ListedSession, ProtectedChange, User, UserSummary } from "../../accounts/accounts.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { ProofOffered } from "../factors/changes.ts";
import { changeOf, proofOffered, refusedChange } from "../factors/changes.ts";
import { ProofFields } from "../factors/proof.tsx";
import { type Column, Facts, List } from "../lists/list.tsx";
import { type Page, type PageContext, pageHref, untranslated, useMessages, usePage } from "../page.ts";
import { browserName } from "../parts/browser-name.ts";
import { ButtonLink, FormEnd } from "../parts/buttons.tsx";
import { Card } from "../parts/card.tsx";
import { EmailAddress } from "../parts/email-address.tsx";
import { InputField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import type { IconName } from "../parts/icon.tsx";
import { Confirm, PostForm } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, type Refused, refused, untouched } from "../take-form.ts";
import { AdminFrame, administratorOf, adminPaths, entryOf } from "./frame.tsx";
import { type LeftOpen, LeftOpenCard, linksCounted } from "./left-open.tsx";

export const emailCharactersMax = 254;

export function userPath(userId: number): string {
  return `${adminPaths.users}/${userId}`;
}

/** `GET /admin/users/:id` */
export function showUser(page: SignedInRequest): Promise<Reply> {
  return renderUser(page, untouched);
}

/** An action on a user, or the user to create, as it was sent. */
export interface SentAction {
  /** The address of the new user, or the new one of the user; "": none is needed. */
  readonly email: string;
  readonly change: ProtectedChange;
  /** False: the first form, which asks for no proof. */
  readonly isProofGiven: boolean;
}

export function readAction(fields: FormFields, page: SignedInRequest): SentAction {
  const email = textOf(fields, "email").trim().slice(0, emailCharactersMax);
  const isProofGiven = fields.proof !== undefined || fields.proof_passkey !== undefined;
  return { email, change: changeOf(page, fields), isProofGiven };
}

/**
 * `POST /admin/users/:id/<action>`. Each action can give or take somebody's access for good, so the administrator has to
 * prove it as a change of an own factor; a page of its own asks for that.
 */
export function changeUser(action: UserAction) {
  const form: FormDeclaration<SignedInRequest, SentAction, "proof"> = {
    read: readAction,
    show: (page, { email }, state) => renderUser(page, state, { action, email }),
  };
  return formHandler(form, async (page, sent) => {
    const userId = page.id;
    const user = (await page.services.accounts.findUser(userId)) ?? page.notFound();
    const unproven = await proveFirst(page, sent);
    if (unproven !== undefined) return unproven;
    const { outcome } = await actions[action].apply(page, user, sent.email);
    if (outcome === "unknown" || outcome === "no_mail") return page.notFound();
    if (outcome === "changed" || outcome === "link_sent" || outcome === "unchanged")
      return page.redirect(userPath(userId));
    if (outcome !== "done") return refused({}, { refusal: refusalTexts(page.messages, user)[outcome] });
    // Administrators who have removed their own rights can no longer see this page.
    if (userId === page.user.id && !isHarmless(action)) return page.redirect("/");
    return page.redirect(action === "delete" ? adminPaths.users : userPath(userId));
  });
}

/** `POST /admin/users/:id/sessions/end`. It gives nobody access, so no proof is needed. */
export async function endUserSessions(page: SignedInRequest): Promise<Reply> {
  await page.form();
  const userId = page.id;
  const { outcome } = await page.services.accounts.endAllSessions(userId, administratorOf(page));
  if (outcome === "unknown") return page.notFound();
  return page.redirect(userId === page.user.id ? "/" : userPath(userId));
}

/**
 * `POST /admin/users/:id/links/end`. It gives nobody access, so no proof is needed. The requests are closed first, so that no more answers
 * arrive. After a failure it can be repeated.
 */
export async function endUserLinks(page: SignedInRequest): Promise<Reply> {
  await page.form();
  const { accounts, pushes, requests } = page.services;
  const user = (await accounts.findUser(page.id)) ?? page.notFound();
  await requests.closeOwned(user.id, accounts.adminEntry("ended_links", user.email, administratorOf(page)));
  await pushes.endOwned(user.id, page.actor);
  return page.redirect(userPath(user.id));
}

/** @returns undefined: it is proven. Otherwise the page that asks the administrator to prove the action is the answer. */
export async function proveFirst(page: SignedInRequest, sent: SentAction): Promise<Refused<"proof"> | undefined> {
  const confirmation = await page.services.accounts.confirmChange(sent.change);
  if (confirmation.outcome === "proven") return undefined;
  const isFirst = !sent.isProofGiven && confirmation.outcome === "proof_failed";
  return isFirst ? refused({ proof: undefined }, { status: 200 }) : refusedChange(page, confirmation);
}

export function isUnproven({ problems }: FormState<"proof">): boolean {
  return Object.hasOwn(problems, "proof");
}

export async function renderProof(
  page: SignedInRequest,
  question: Omit<ProofModel, "proof" | "problem">,
  { status, problems }: FormState<"proof">,
): Promise<Reply> {
  const model: ProofModel = { ...question, proof: await proofOffered(page), problem: problems.proof };
  return page.render(proofView, model, { status });
}

async function renderUser(page: SignedInRequest, state: FormState<"proof">, sent?: UserModel["sent"]): Promise<Reply> {
  const { accounts, clock, pushes, requests } = page.services;
  const summary = (await accounts.findUserSummary(page.id)) ?? page.notFound();
  const { id, email } = summary.user;
  if (sent !== undefined && isUnproven(state)) return renderProof(page, { ...sent, userId: id, subject: email }, state);
  const sessions = await accounts.listSessions(id);
  const isOwn = id === page.user.id;
  const left = { links: await pushes.countLive(id, linksCounted + 1), requests: await requests.countOpen(id) };
  const model = { summary, sessions, left, isOwn, asksByEmail: accounts.asksByEmail, nowMs: clock.now(), state, sent };
  return page.renderForm(userView, model, { status: state.status, path: userPath(id) });
}

interface ActionOnUser {
  /** The key of the label; that of the explanation has `Text` behind it. */
  readonly text:
    | "promote"
    | "demote"
    | "disable"
    | "enable"
    | "confirmEmail"
    | `${"ask" | "change"}Email`
    | "resetFactors"
    | "deleteUser";
  readonly icon: IconName;
  /** It can be undone and takes nothing away. */
  readonly isHarmless?: true;
  /** It needs another email address of the user. */
  readonly takesEmail?: true;
  readonly isOffered: (user: User, asksByEmail: boolean) => boolean;
  readonly apply: (page: SignedInRequest, user: User, email: string) => Promise<{ readonly outcome: string }>;
}

/** What an administrator can do with a user, in the order of the page. */
const actions = {
  promote: {
    text: "promote",
    icon: "shield",
    isHarmless: true,
    isOffered: ({ admin }) => !admin,
    apply: (page, { id }) => page.services.accounts.setAdmin(id, true, administratorOf(page)),
  },
  demote: {
    text: "demote",
    icon: "shield",
    isOffered: ({ admin }) => admin,
    apply: (page, { id }) => page.services.accounts.setAdmin(id, false, administratorOf(page)),
  },
  disable: {
    text: "disable",
    icon: "alert",
    isOffered: ({ disabledAt }) => disabledAt === null,
    apply: (page, { id }) => page.services.accounts.setDisabled(id, true, administratorOf(page)),
  },
  enable: {
    text: "enable",
    icon: "check",
    isHarmless: true,
    isOffered: ({ disabledAt }) => disabledAt !== null,
    apply: (page, { id }) => page.services.accounts.setDisabled(id, false, administratorOf(page)),
  },
  confirm: {
    text: "confirmEmail",
    icon: "check",
    isHarmless: true,
    isOffered: ({ confirmedAt }) => confirmedAt === null,
    apply: (page, { id }) => page.services.accounts.confirmEmail(id, administratorOf(page)),
  },
  ask_email: {
    text: "askEmail",
    icon: "pencil",
    isHarmless: true,
    takesEmail: true,
    isOffered: ({ disabledAt }, asksByEmail) => disabledAt === null && asksByEmail,
    apply: async (page, user, email) => {
      const entry = entryOf(page, "asked_to_change_email", `${user.email} -> ${email}`);
      return { outcome: await page.services.accounts.askToChangeEmail(user, email, entry) };
    },
  },
  change_email: {
    text: "changeEmail",
    icon: "pencil",
    takesEmail: true,
    isOffered: ({ disabledAt }) => disabledAt === null,
    apply: async (page, user, email) => {
      const entry = entryOf(page, "changed_email", `${user.email} -> ${email}`);
      const { accounts } = page.services;
      return { outcome: await accounts.changeEmailAsAdministrator(user, email, page.clientContext, entry) };
    },
  },
  reset_factors: {
    text: "resetFactors",
    icon: "key",
    isOffered: ({ hasSecondFactor }) => hasSecondFactor,
    apply: (page, { id }) => page.services.accounts.resetFactors(id, administratorOf(page)),
  },
  delete: {
    text: "deleteUser",
    icon: "trash",
    isOffered: () => true,
    apply: (page, { id }) => page.services.deleteAccount(id, administratorOf(page)),
  },
} as const satisfies Readonly<Record<string, ActionOnUser>>;

type UserAction = keyof typeof actions;

export const userActions = Object.keys(actions) as UserAction[];

function rowOf(action: UserAction): ActionOnUser {
  return actions[action];
}

function offeredActions(user: User, asksByEmail: boolean): readonly UserAction[] {
  return userActions.filter((action) => rowOf(action).isOffered(user, asksByEmail));
}

function isHarmless(action: UserAction | "create"): boolean {
  return action === "create" || rowOf(action).isHarmless === true;
}

function takesEmail(action: UserAction | "create"): boolean {
  return action !== "create" && rowOf(action).takesEmail === true;
}

function textsOf(action: UserAction | "create", { admin }: Messages): readonly [label: string, text: string] {
  const key = action === "create" ? "createUser" : rowOf(action).text;
  return [admin[key], admin[`${key}Text`]];
}

function refusalTexts({ admin }: Messages, { email }: User) {
  return {
    last_admin: admin.lastAdmin({ email }),
    no_factors: admin.noFactors({ email }),
    malformed: admin.badEmail,
    taken: admin.takenEmail,
    too_many: admin.tooManyQuestions,
  };
}

interface UserModel {
  readonly summary: UserSummary;
  readonly sessions: readonly ListedSession[];
  readonly left: LeftOpen;
  /** The administrator's own account. */
  readonly isOwn: boolean;
  /** The user's address can be asked by email. */
  readonly asksByEmail: boolean;
  readonly nowMs: number;
  readonly state: FormState;
  /** The action that comes back, with the email address as typed. */
  readonly sent?: { readonly action: UserAction; readonly email: string } | undefined;
}

export function userView(
  { summary, sessions, left, isOwn, asksByEmail, nowMs, state, sent }: UserModel,
  page: PageContext,
): Page {
  const { user } = summary;
  const { admin } = page.messages;
  return (
    <AdminFrame
      page={page}
      current="users"
      heading={
        <bdi translate={untranslated}>
          <EmailAddress email={user.email} />
        </bdi>
      }
      lead={<a href={pageHref(page, adminPaths.users)}>{admin.allUsers}</a>}
      asksFirstAt={userPath(user.id)}
    >
      <FormNotices state={state} />
      <div class="card admin-subject">
        <div class="line">
          {isOwn && <span class="badge">{admin.you}</span>}
          <UserState user={user} />
        </div>
        <Facts nowMs={nowMs} row={summary} columns={Object.values(userFacts(page))} />
        <div class="row-actions">
          {offeredActions(user, asksByEmail).map((action) => (
            <ActionOn key={action} action={action} user={user} sent={sent} />
          ))}
        </div>
      </div>
      <LeftOpenCard user={user} path={userPath(user.id)} left={left} />
      <Sessions user={user} sessions={sessions} nowMs={nowMs} />
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
}

/** Where the user is signed in, last seen first. */
function Sessions({ user, sessions, nowMs }: SessionsProps) {
  const messages = useMessages();
  const { admin } = messages;
  const { heading, from, began, seen } = messages.profile.sessions;
  const { browser } = messages.dashboard;
  return (
    <Card id="sessions" heading={heading}>
      <List
        nowMs={nowMs}
        caption={{ headingId: "sessions" }}
        rows={sessions}
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
          icon="hand"
          label={admin.endSessions}
          accessibleLabel={admin.actionOn({ action: admin.endSessions, name: user.email })}
          explanation={admin.endSessionsText}
          action={`${userPath(user.id)}/sessions/end`}
          tone="danger"
          group="action"
        />
      )}
    </Card>
  );
}

export function UserState({ user }: { readonly user: User }) {
  const { admin } = useMessages();
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
  const { admin, edit, problems } = page.messages;
  const [label, explanation] = textsOf(action, page.messages);
  const path = userId === null ? adminPaths.users : userPath(userId);
  return (
    <AdminFrame page={page} current="users" lead={admin.usersLead} scripts={["passkeys.js"]} asksFirstAt={path}>
      <Card
        id="prove"
        heading={admin.actionOn.parts({ action: label, name: <bdi translate={untranslated}>{subject}</bdi> })}
      >
        <PostForm class="form form-narrow" action={userId === null ? path : `${path}/${action}`}>
          {email !== "" && <input type="hidden" name="email" value={email} />}
          <p>{explanation}</p>
          {takesEmail(action) && (
            <p>{problems.of.parts({ field: admin.newEmail, problem: <bdi translate={untranslated}>{email}</bdi> })}</p>
          )}
          {proof !== null && <ProofFields id="proof" offered={proof} problem={problem} />}
          <FormEnd
            label={admin.actionOn({ action: label, name: subject })}
            look={isHarmless(action) ? "primary" : "danger"}
          >
            <ButtonLink to={path} label={edit.cancel} />
          </FormEnd>
        </PostForm>
      </Card>
    </AdminFrame>
  );
}

interface ActionOnProps {
  readonly action: UserAction;
  readonly user: User;
  readonly sent: UserModel["sent"];
}

function ActionOn({ action, user, sent }: ActionOnProps) {
  const page = usePage();
  const { admin } = page.messages;
  const typed = sent?.action === action ? sent.email : undefined;
  const [label, explanation] = textsOf(action, page.messages);
  return (
    <Confirm
      icon={actions[action].icon}
      label={label}
      accessibleLabel={admin.actionOn({ action: label, name: user.email })}
      explanation={explanation}
      action={`${userPath(user.id)}/${action}`}
      tone={isHarmless(action) ? "plain" : "danger"}
      group="action"
      isOpen={typed !== undefined && takesEmail(action)}
    >
      {takesEmail(action) && <EmailField id={`${action}_to`} label={admin.newEmail} value={typed} />}
    </Confirm>
  );
}

interface EmailFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string | undefined;
}

export function EmailField({ id, label, value }: EmailFieldProps) {
  return (
    <InputField
      id={id}
      name="email"
      label={label}
      value={value ?? ""}
      input={{ type: "email", dir: "ltr", required: true, maxLength: emailCharactersMax, autoComplete: "off" }}
    />
  );
}
