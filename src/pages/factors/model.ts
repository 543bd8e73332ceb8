import type { Factors } from "../../accounts/accounts.ts";
import type { SignedInRequest } from "../request.ts";
import { ownPath } from "../return-path.ts";
import type { FormState } from "../take-form.ts";
import { proofOffered, relyingPartyOf } from "./changes.ts";

/** The form of the page that a problem belongs to. */
export type FormName = "add_passkey" | "remove_app" | "backup_codes" | `remove_passkey_${number}`;

export function hasFactor({ appAddedAt, passkeys }: Pick<Factors, "appAddedAt" | "passkeys">): boolean {
  return appAddedAt !== null || passkeys.length > 0;
}

export type FactorsModel = Awaited<ReturnType<typeof factorsModel>>;

interface SentForm {
  readonly form: FormName;
  readonly state: FormState<"proof" | "name">;
}

/** @param passkeyName as typed. @param sent the form that is sent back, and why; null: none. */
export async function factorsModel(page: SignedInRequest, passkeyName: string, sent: SentForm | null) {
  const { accounts, config } = page.services;
  const factors = await accounts.findFactors(page.user.id);
  return {
    ...factors,
    passkeyName,
    sent,
    proof: await proofOffered(page),
    /** The page that a user without backup codes was on the way to when signing in; null: none. */
    next: ownPath(page.query("next")),
    /** This server requires a factor, and the user has none. */
    required: !hasFactor(factors) && config.accounts.requireSecondFactor,
    /** Passkeys work at this origin. */
    passkeysPossible: relyingPartyOf(page.baseUrl) !== undefined,
  };
}
