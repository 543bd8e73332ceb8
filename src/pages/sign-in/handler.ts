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
import { type SignInDone, type SignInModel, type SignInRefusal, signInView, signOutView } from "./view.tsx";

export const signOutPath = "/users/sign_out";

/** `GET /users/sign_in` */
export async function showSignIn(page: PageRequest): Promise<FastifyReply> {
  if (page.user !== null) return page.redirect("/");
  if (page.services.config.accounts.signOnOnly) return showSignInOnly(page);
  const next = ownPath(page.query("next"));
  return await renderSignIn(page, 200, {
    email: "",
    next,
    stays: false,
    refusal: null,
    done: doneOf(page.query("done")),
  });
}

/** `POST /users/sign_in` */
export async function signIn(page: PageRequest): Promise<FastifyReply> {
  const form = await page.form();
  const email = textOf(form, "email");
  const next = ownPath(textOf(form, "next"));
  const stays = staysSignedIn(form);
  const refuse = (status: number, refusal: SignInRefusal) =>
    renderSignIn(page, status, { email, next, stays, refusal, done: null });
  try {
    const client = page.clientContext;
    const given = { email, password: textOf(form, "password"), client, persistent: stays };
    const signedIn = await page.services.accounts.signIn(given);
    if (signedIn === undefined) return await refuse(401, { reason: "wrong" });
    const after = signedIn.waitsForFactor ? withNext(secondFactorPath, next) : (next ?? "/");
    return await enter(page, signedIn.sessionToken, after);
  } catch (error) {
    return refuse(429, { reason: "too_many", retryAfterSeconds: page.waitAfter(error) });
  }
}

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
  status: number,
  shown: Pick<SignInModel, "email" | "next" | "stays" | "refusal" | "done">,
): Promise<FastifyReply> {
  const { accounts, config, policies } = page.services;
  const model: SignInModel = {
    ...shown,
    idleSeconds: Math.min(accounts.persistentIdleSeconds, config.accounts.sessionMaxSeconds),
    confirmation: confirmationIn(config.accounts),
    provider: providerNameOf(config),
    passkeys: relyingPartyOf(page.baseUrl) !== undefined,
    signUps: !config.accounts.signupsDisabled && !(await policies.isSignUpClosed()),
    firstRun: await accounts.isFirstRun(),
  };
  const compressible = page.isGet && model.next === null;
  return page.render(signInView, model, {
    status,
    selfPath: withNext(signInPath, model.next),
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
