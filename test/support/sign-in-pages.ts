import { askEmailView } from "../../src/pages/ask-email.tsx";
import {
  confirmView,
  invalidConfirmationView,
  newConfirmationPage,
  noConfirmationView,
} from "../../src/pages/confirmation.tsx";
import { closedView } from "../../src/pages/entry.tsx";
import { firstRunView } from "../../src/pages/first-run.tsx";
import type { Page, PageContext } from "../../src/pages/page.ts";
import { invalidResetView, newPasswordView, noResetView, requestResetPage } from "../../src/pages/reset-password.tsx";
import { signInView } from "../../src/pages/sign-in.tsx";
import { signUpSentView, signUpView } from "../../src/pages/sign-up.tsx";
import { untouched } from "../../src/pages/take-form.ts";

/** The pages for signing in and up, in every state. @param typed the text in every untrusted place. */
export function signInPages(typed: string, page: PageContext): readonly Page[] {
  const { entry, problems } = page.messages;
  const state = { ...untouched, refusal: problems.tooManyAttempts({ count: 2 }) };
  const wrong = { email: entry.problems.email, password: entry.problems.passwordCommon };
  const form = { email: typed, state };
  const signUp = { ...form, takesFiles: true };
  const refused = { ...state, status: 401 };
  const signIn = {
    provider: typed,
    passkeys: true,
    email: typed,
    next: `/${typed}`,
    stays: true,
    idleSeconds: 7_200,
    confirmation: "mailed" as const,
    signUps: true,
    done: null,
    firstRun: false,
  };
  return [
    ...[untouched, state, refused].map((shown) => signInView({ ...signIn, state: shown }, page)),
    signInView({ ...signIn, state: refused, confirmation: "by_administrator" }, page),
    signInView({ ...signIn, state: untouched, done: "confirmed" }, page),
    signInView({ ...signIn, state: untouched, done: "password_changed", firstRun: true }, page),
    closedView("sign-in", page),
    closedView("sign-up", page),
    firstRunView({ ...form, state: { ...state, problems: { ...wrong, boot_code: entry.problems.bootCode } } }, page),
    signUpView({ ...signUp, state: { ...state, problems: wrong } }, page),
    signUpView({ ...signUp, takesFiles: false }, page),
    signUpSentView(typed, page),
    confirmView(typed, page),
    invalidConfirmationView(true, page),
    askEmailView({ ...newConfirmationPage.declared, ...form, sent: true }, page),
    ...[true, false].map((isRequired) => noConfirmationView(isRequired, page)),
    askEmailView({ ...requestResetPage.declared, ...form, sent: true }, page),
    noResetView(page),
    newPasswordView(
      { token: typed, state: { ...state, problems: { password: entry.problems.passwordSequence } } },
      page,
    ),
    invalidResetView(page),
  ];
}
