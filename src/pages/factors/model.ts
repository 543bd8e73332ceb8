import type { Factors } from "../../accounts/accounts.ts";
import type { FormState } from "../take-form.ts";

/** The form of the page that a problem belongs to. */
export type FormName = "add_passkey" | "remove_app" | "backup_codes" | `remove_passkey_${number}`;

export function hasFactor({ appAddedAt, passkeys }: Pick<Factors, "appAddedAt" | "passkeys">): boolean {
  return appAddedAt !== null || passkeys.length > 0;
}

export interface FactorsModel extends Factors {
  /** null: a change needs no proof. */
  readonly proof: ProofOffered | null;
  /** This server requires a factor, and the user has none. */
  readonly required: boolean;
  /** The page that the user was on the way to; null: none. */
  readonly next: string | null;
  /** Passkeys work at this origin. */
  readonly passkeysPossible: boolean;
  /** As typed, when the form is sent back. */
  readonly passkeyName: string;
  /** The form that is sent back, and why; null: none. */
  readonly sent: { readonly form: FormName; readonly state: FormState<"proof" | "name"> } | null;
}

/** How a user can prove a change. With neither a password nor a code: only by signing in again. */
export interface ProofOffered {
  readonly password: boolean;
  /** The account has a factor: a code of the app or a backup code is accepted. */
  readonly code: boolean;
  /** A passkey of this account works at this origin. */
  readonly passkey: boolean;
}
