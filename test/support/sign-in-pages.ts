import {
  confirmAgainView,
  confirmView,
  invalidConfirmationView,
  noConfirmationView,
} from "../../src/pages/confirmation.tsx";
import { closedView } from "../../src/pages/entry.tsx";
import { firstRunView } from "../../src/pages/first-run.tsx";
import type { Page, PageContext } from "../../src/pages/page.ts";
import { invalidResetView, newPasswordView, noResetView, requestResetView } from "../../src/pages/reset-password.tsx";
import { type SignInRefusal, signInView } from "../../src/pages/sign-in/view.tsx";
import { signUpSentView, signUpView } from "../../src/pages/sign-up.tsx";

const refusals: readonly (SignInRefusal | null)[] = [
  null,
  { reason: "wrong" },
  { reason: "too_many", retryAfterSeconds: 2 },
];

/** The pages for signing in and up, in every state. @param typed the text in every untrusted place. */
export function signInPages(typed: string, page: PageContext): readonly Page[] {
  const form = { email: typed, waitSeconds: 2 };
  const signUp = { ...form, takesFiles: true };
  const signIn = {
    provider: typed,
    passkeys: true,
    email: typed,
    next: `/${typed}`,
    stays: true,
    idleSeconds: 7_200,
    confirmation: "mailed" as const,
    signUps: true,
  };
  return [
    ...refusals.map((refusal) => signInView({ ...signIn, refusal, done: null, firstRun: false }, page)),
    signInView(
      { ...signIn, refusal: { reason: "wrong" }, confirmation: "by_administrator", done: null, firstRun: false },
      page,
    ),
    signInView({ ...signIn, refusal: null, done: "confirmed", firstRun: false }, page),
    signInView({ ...signIn, refusal: null, done: "password_changed", firstRun: true }, page),
    closedView("sign-in", page),
    closedView("sign-up", page),
    firstRunView({ ...form, problems: { bootCode: "wrong", email: "malformed", password: "password_length" } }, page),
    ...(["malformed", "not_allowed", "taken"] as const).map((email) =>
      signUpView({ ...signUp, problems: { email, password: "password_common" } }, page),
    ),
    signUpView({ ...signUp, takesFiles: false, problems: {} }, page),
    signUpSentView(typed, page),
    confirmView(typed, page),
    invalidConfirmationView(true, page),
    confirmAgainView({ ...form, sent: true }, page),
    ...[true, false].map((isRequired) => noConfirmationView(isRequired, page)),
    requestResetView({ ...form, sent: true }, page),
    noResetView(page),
    newPasswordView({ token: typed, problem: "password_sequence" }, page),
    invalidResetView(page),
  ];
}
