import {
  confirmAgainView,
  confirmView,
  noConfirmationView,
  voidConfirmationView,
} from "../../src/pages/confirmation/view.tsx";
import { firstRunView } from "../../src/pages/first-run/view.tsx";
import type { Page, PageContext } from "../../src/pages/page.ts";
import { askResetView, newPasswordView, noResetView, voidResetView } from "../../src/pages/reset-password/view.tsx";
import { closedView } from "../../src/pages/sign-in/closed-view.tsx";
import { type SignInRefusal, signInView } from "../../src/pages/sign-in/view.tsx";
import { signUpSentView, signUpView } from "../../src/pages/sign-up/view.tsx";

const refusals: readonly (SignInRefusal | null)[] = [
  null,
  { reason: "wrong" },
  { reason: "too_many", retryAfterSeconds: 2 },
];

/** The ways in, in every state. @param typed stands wherever somebody else's text can. */
export function entryPages(typed: string, page: PageContext): readonly Page[] {
  const form = { email: typed, waitSeconds: 2 };
  const signIn = {
    provider: typed,
    passkeys: true,
    email: typed,
    next: `/${typed}`,
    confirmations: true,
    signUps: true,
  };
  return [
    ...refusals.map((refusal) => signInView({ ...signIn, refusal, done: null, firstRun: false }, page)),
    signInView({ ...signIn, refusal: null, done: "confirmed", firstRun: false }, page),
    signInView({ ...signIn, refusal: null, done: "password_changed", firstRun: true }, page),
    closedView("signing in", page),
    closedView("signing up", page),
    firstRunView({ ...form, problems: { bootCode: "wrong", email: "malformed", password: "password_length" } }, page),
    ...(["malformed", "not_allowed", "taken"] as const).map((email) =>
      signUpView({ ...form, problems: { email, password: "password_common" } }, page),
    ),
    signUpSentView(typed, page),
    confirmView(typed, page),
    voidConfirmationView(true, page),
    confirmAgainView({ ...form, sent: true }, page),
    noConfirmationView(page),
    askResetView({ ...form, sent: true }, page),
    noResetView(page),
    newPasswordView({ token: typed, problem: "password_sequence" }, page),
    voidResetView(page),
  ];
}
