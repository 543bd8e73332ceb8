import type { PageContext } from "../page-context.ts";
import { Field } from "../parts/field.tsx";
import { PasskeyButton } from "../parts/passkey-button.tsx";
import { proofOptionsPath } from "./paths.ts";

/** By what the person can show that it is the owner who changes something; null: nothing has to be shown yet. */
export interface ProofOffered {
  readonly password: boolean;
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
  const { proof } = page.words.factors;
  return (
    <div class="proof">
      <Field
        id={id}
        label={offered.password ? proof.label : proof.labelCode}
        hint={proof.hint}
        problem={problem}
        control={(attributes) => (
          <input
            {...attributes}
            class="input"
            type="password"
            name="proof"
            dir="ltr"
            required
            autoComplete="current-password"
            data-focus={problem === undefined ? undefined : true}
          />
        )}
      />
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
