import { secondFactorPath, signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { enter } from "../entry.tsx";
import { staysSignedIn } from "../parts/stay-signed-in.tsx";
import type { PageRequest, Reply } from "../request.ts";
import { ownPath, withNext } from "../return-path.ts";
import { showSignInOnly } from "../single-sign-on/handler.ts";
import { type FormDeclaration, formHandler, refused, untouched } from "../take-form.ts";
import { signInModel, type TypedSignIn } from "./model.ts";
import { signInView, signOutView } from "./view.tsx";

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
