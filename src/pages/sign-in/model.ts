import { relyingPartyOf } from "../factors/changes.ts";
import type { PageRequest } from "../request.ts";
import { providerNameOf } from "../single-sign-on/button.tsx";
import type { FormState } from "../take-form.ts";

export interface TypedSignIn {
  readonly email: string;
  readonly password: string;
  /** The path of this server to go to afterwards, as `ownPath` returned it. */
  readonly next: string | null;
  /** The box to stay signed in is checked. */
  readonly stays: boolean;
}

export type SignInModel = Awaited<ReturnType<typeof signInModel>>;

export async function signInModel(page: PageRequest, { email, next, stays }: TypedSignIn, state: FormState<never>) {
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
