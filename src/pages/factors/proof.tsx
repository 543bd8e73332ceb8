import type { PageContext } from "../page.ts";
import { PasskeyButton } from "../parts/buttons.tsx";
import { PasswordField } from "../parts/fields.tsx";
import { proofOptionsPath } from "./paths.ts";

/** By what the person can show that it is the owner who changes something; by none: only by signing in again. */
export interface ProofOffered {
  readonly password: boolean;
  /** A factor stands: a code of the app or a backup code will do. */
  readonly code: boolean;
  /** A passkey of this account can be used here. */
  readonly passkey: boolean;
}

export interface ProofFieldsProps {
  readonly page: PageContext;
  /** Several of these stand on one page. */
  readonly id: string;
  readonly offered: ProofOffered;
  readonly problem: string | undefined;
}

/** Fields `proof`, or `proof_passkey` where a script has filled it. */
export function ProofFields({ page, id, offered, problem }: ProofFieldsProps) {
  const { proof } = page.messages.factors;
  const { again } = page.messages.profile;
  if (!offered.password && !offered.code) return <p class="field-hint">{again.signIn}</p>;
  const alone = { label: again.password, hint: again.passwordHint };
  const withCode = { label: offered.password ? proof.label : proof.labelCode, hint: proof.hint };
  const { label, hint } = offered.code ? withCode : alone;
  return (
    <div class="proof">
      <PasswordField id={id} name="proof" label={label} hint={hint} problem={problem} focus={problem !== undefined} />
      {offered.passkey && (
        <PasskeyButton
          page={page}
          action="get"
          options={proofOptionsPath}
          name="proof_passkey"
          label={proof.passkey}
          insteadOf={id}
        />
      )}
    </div>
  );
}
