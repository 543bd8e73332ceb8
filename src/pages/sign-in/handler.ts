import type { FastifyReply } from "fastify";
import type { Config } from "../../config/config.ts";
import { secondFactorPath, signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { enter } from "../entry.tsx";
import { relyingPartyOf } from "../factors/changes.ts";
import { staysSignedIn } from "../parts/stay-signed-in.tsx";
import type { PageRequest } from "../request.ts";
import { ownPath, withNext } from "../return-path.ts";
import { providerNameOf } from "../single-sign-on/button.tsx";
import { showSignInOnly } from "../single-sign-on/handler.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "../take-form.ts";
import { type SignInDone, type SignInModel, signInView, signOutView } from "./view.tsx";

export const signOutPath = "/users/sign_out";

/** `GET /users/sign_in` */
export async function showSignIn(page: PageRequest): Promise<FastifyReply> {
  if (page.user !== null) return page.redirect("/");
  if (page.services.config.accounts.signOnOnly) return showSignInOnly(page);
  return signInForm.show(page, { email: "", password: "", next: ownPath(page.query("next")), stays: false }, untouched);
}

type Typed = Pick<SignInModel, "email" | "next" | "stays"> & { readonly password: string };

const signInForm: FormDeclaration<PageRequest, Typed, never> = {
  read: (fields) => ({
    email: textOf(fields, "email"),
    password: textOf(fields, "password"),
    next: ownPath(textOf(fields, "next")),
    stays: staysSignedIn(fields),
  }),
  show: renderSignIn,
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
export function showSignOut(page: PageRequest): FastifyReply {
  if (page.user === null) return page.redirect(signInPath);
  return page.render(signOutView, page.user.email, { selfPath: signOutPath });
}

/** `POST /users/sign_out` */
export async function signOut(page: PageRequest): Promise<FastifyReply> {
  const { accounts, config, sessionCookies } = page.services;
  const { raw, client } = page.request;
  const sessionToken = sessionCookies.find(raw, client);
  if (sessionToken !== undefined) await accounts.signOut(sessionToken);
  page.setCookie(sessionCookies.ended(client));
  return page.redirect(config.accounts.signOnOnly ? `${signInPath}?done=signed_out` : "/");
}

async function renderSignIn(
  page: PageRequest,
  { email, next, stays }: Typed,
  state: FormState<never>,
): Promise<FastifyReply> {
  const { accounts, config, policies } = page.services;
  const model: SignInModel = {
    email,
    next,
    stays,
    state,
    done: page.isGet ? doneOf(page.query("done")) : null,
    idleSeconds: Math.min(accounts.persistentIdleSeconds, config.accounts.sessionMaxSeconds),
    confirmation: confirmationIn(config.accounts),
    provider: providerNameOf(config),
    passkeys: relyingPartyOf(page.baseUrl) !== undefined,
    signUps: !config.accounts.signupsDisabled && !(await policies.isSignUpClosed()),
    firstRun: await accounts.isFirstRun(),
  };
  const compressible = page.isGet && next === null;
  return page.render(signInView, model, {
    status: state.status,
    selfPath: withNext(signInPath, next),
    keepsTyped: page.isGet,
    compressible,
  });
}

function confirmationIn({ emails, requiresConfirmation }: Config["accounts"]): SignInModel["confirmation"] {
  if (!requiresConfirmation) return null;
  return emails ? "mailed" : "by_administrator";
}

function doneOf(value: string | undefined): SignInDone | null {
  return value === "confirmed" || value === "password_changed" ? value : null;
}
