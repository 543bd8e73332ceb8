import { secondFactorPath, signInPath } from "../http/authentication.ts";
import { textOf } from "../http/body/form-fields.ts";
import { enter } from "./entry.tsx";
import { relyingPartyOf } from "./factors/changes.ts";
import { FormPage } from "./form-page.tsx";
import { MessagePage } from "./message-page.tsx";
import { type Page, type PageContext, pageHref, usePage } from "./page.ts";
import { Label, Submit } from "./parts/buttons.tsx";
import { EmailField, PasswordField } from "./parts/fields.tsx";
import { FormNotices } from "./parts/form-messages.tsx";
import { Notice } from "./parts/notice.tsx";
import { PostButton, PostForm } from "./parts/post-form.tsx";
import { StaySignedIn, staysSignedIn } from "./parts/stay-signed-in.tsx";
import type { PageRequest, Reply } from "./request.ts";
import { ownPath, withNext } from "./return-path.ts";
import { PasskeySignIn } from "./second-factor/passkey-sign-in.tsx";
import { showSignInOnly } from "./single-sign-on/handler.ts";
import { providerNameOf } from "./single-sign-on/provider.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "./take-form.ts";

export const signOutPath = "/users/sign_out";

/** `GET /users/sign_in` */
export async function showSignIn(page: PageRequest): Promise<Reply> {
  if (page.user !== null) return page.redirect("/");
  if (page.services.config.accounts.signOnOnly) return showSignInOnly(page);
  return signInForm.show(page, { email: "", password: "", next: ownPath(page.query("next")), stays: false }, untouched);
}

const signInForm: FormDeclaration<PageRequest, TypedSignIn, never> = {
  read: (fields) => ({
    email: textOf(fields, "email"),
    password: textOf(fields, "password"),
    next: ownPath(textOf(fields, "next")),
    stays: staysSignedIn(fields),
  }),
  async show(page, typed, state) {
    const { next } = typed;
    return page.render(signInView, await signInModel(page, typed, state), {
      status: state.status,
      selfPath: withNext(signInPath, next),
      keepsTyped: page.isGet,
      compressible: page.isGet && next === null,
    });
  },
};

/** `POST /users/sign_in` */
export const signIn = formHandler(signInForm, async (page, { email, password, next, stays: persistent }) => {
  const given = { email, password, client: page.clientContext, persistent };
  const signedIn = await page.services.accounts.signIn(given);
  if (signedIn === undefined) return refused({}, { status: 401, refusal: page.messages.signIn.wrong });
  const after = signedIn.waitsForFactor ? withNext(secondFactorPath, next) : (next ?? "/");
  return await enter(page, signedIn.sessionToken, after);
});

/** `GET /users/sign_out` */
export function showSignOut(page: PageRequest): Reply {
  if (page.user === null) return page.redirect(signInPath);
  return page.render(signOutView, page.user.email, { selfPath: signOutPath });
}

/** `POST /users/sign_out` */
export async function signOut(page: PageRequest): Promise<Reply> {
  const { accounts, config, sessionCookies } = page.services;
  const { raw, client } = page.request;
  const sessionToken = sessionCookies.find(raw, client);
  if (sessionToken !== undefined) await accounts.signOut(sessionToken);
  page.setCookie(sessionCookies.ended(client));
  return page.redirect(config.accounts.signOnOnly ? `${signInPath}?done=signed_out` : "/");
}

interface TypedSignIn {
  readonly email: string;
  readonly password: string;
  /** The path of this server to go to afterwards, as `ownPath` returned it. */
  readonly next: string | null;
  /** The box to stay signed in is checked. */
  readonly stays: boolean;
}

type SignInModel = Awaited<ReturnType<typeof signInModel>>;

async function signInModel(page: PageRequest, { email, next, stays }: TypedSignIn, state: FormState<never>) {
  const { accounts, config, policies } = page.services;
  const { emails, requiresConfirmation, sessionMaxSeconds, signupsDisabled } = config.accounts;
  const done = page.query("done");
  return {
    email,
    next,
    stays,
    state,
    /** What the person has just completed. */
    done: page.isGet && (done === "confirmed" || done === "password_changed") ? done : null,
    /** How long a session lasts without activity. */
    idleSeconds: Math.min(accounts.persistentIdleSeconds, sessionMaxSeconds),
    /** How new accounts confirm their email address; null: they need not. Whether this account has done so is not revealed. */
    confirmation: !requiresConfirmation ? null : emails ? ("mailed" as const) : ("by_administrator" as const),
    provider: providerNameOf(config),
    /** Passkeys work at this origin. */
    passkeys: relyingPartyOf(page.baseUrl) !== undefined,
    /** People can sign up. */
    signUps: !signupsDisabled && !(await policies.isSignUpClosed()),
    /** No account exists yet. */
    firstRun: await accounts.isFirstRun(),
  };
}

const formId = "sign_in_form";

/**
 * Fields `email`, `password`, `next` and `stay_signed_in`, posted to `/users/sign_in`. The button for single sign-on is part
 * of this form and posts it elsewhere, so that without scripts the box applies to both.
 */
export function signInView(model: SignInModel, page: PageContext): Page {
  const { signIn, entry, singleSignOn } = page.messages;
  return (
    <FormPage
      page={page}
      scripts={model.passkeys ? ["passkeys.js"] : []}
      styles={model.provider === null ? [] : ["single-sign-on.css"]}
      asksFirstAt={signInPath}
      heading={signIn.heading}
      lead={signIn.lead}
      isPublic
    >
      {model.firstRun && (
        <Notice tone="info" icon="key">
          <p>
            {entry.firstRun.invite} <a href={pageHref(page, "/first_run")}>{entry.firstRun.inviteLink}</a>
          </p>
        </Notice>
      )}
      {model.done !== null && (
        <Notice
          tone="success"
          icon="check"
          alert
          text={model.done === "confirmed" ? entry.confirmation.done : entry.recovery.done}
        />
      )}
      <FormNotices state={model.state}>{model.state.status === 401 && <ConfirmFirst {...model} />}</FormNotices>
      <PostForm class="form" id={formId} action="/users/sign_in" next={model.next}>
        <EmailField label={signIn.email} value={model.email} autoComplete="username" focus={model.email === ""} />
        <PasswordField id="password" label={signIn.password} focus={model.email !== ""} />
        <StaySignedIn checked={model.stays} idleSeconds={model.idleSeconds} />
        <Submit label={signIn.submit} look="wide" />
      </PostForm>
      {model.passkeys && <PasskeySignIn next={model.next} stays="as_checked" />}
      {model.provider !== null && (
        <>
          <p class="or">
            <span>{singleSignOn.or}</span>
          </p>
          <button
            type="submit"
            class="button button-large button-wide"
            form={formId}
            formAction={pageHref(page, "/users/auth/oidc")}
            formNoValidate
          >
            <Label icon="hand" text={singleSignOn.continueWith({ name: model.provider })} />
          </button>
        </>
      )}
      <ul class="line card-ways">
        <li>
          <a href={pageHref(page, "/users/password/new")}>{entry.recovery.link}</a>
        </li>
        {model.signUps && !model.firstRun && (
          <li>
            <a href={pageHref(page, "/users/sign_up")}>{entry.signUp.heading}</a>
          </li>
        )}
      </ul>
    </FormPage>
  );
}

/** An account whose address is not confirmed is refused like a wrong password. */
function ConfirmFirst({ confirmation }: Pick<SignInModel, "confirmation">) {
  const page = usePage();
  const { entry } = page.messages;
  if (confirmation === null) return null;
  if (confirmation === "by_administrator") return <p>{entry.confirmation.unavailable}</p>;
  return (
    <p>
      {entry.confirmation.first} <a href={pageHref(page, "/users/confirmation/new")}>{entry.signUp.again}</a>
    </p>
  );
}

/** For GET: following a link must not sign anybody out. */
function signOutView(email: string, page: PageContext): Page {
  const { nav } = page.messages;
  return (
    <MessagePage page={page} icon="hand" heading={nav.signOut} lead={nav.signedInAs({ email })} isPublic>
      <PostButton action="/users/sign_out" label={nav.signOut} />
    </MessagePage>
  );
}
