import { signOnSettingsPath } from "../../accounts/accounts.ts";
import { pageHref, usePage } from "../page.ts";
import { Label, PasskeyButton, Submit } from "../parts/buttons.tsx";
import { PasswordField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { type ConfirmProps, PostForm } from "../parts/post-form.tsx";
import type { ProofOffered } from "./changes.ts";
import type { FactorsModel, FormName } from "./model.ts";
import { proofOptionsPath } from "./paths.ts";

interface ProofFieldsProps {
  /** Unique on the page, which can have several. */
  readonly id: string;
  readonly offered: ProofOffered;
  readonly problem: string | undefined;
}

/** The fields `proof` and `proof_passkey`, which a script fills. */
export function ProofFields({ id, offered, problem }: ProofFieldsProps) {
  const page = usePage();
  const { proof } = page.messages.factors;
  const { again } = page.messages.profile;
  if (!offered.password && !offered.code) {
    const back = page.selfPath === null ? "" : `?next=${encodeURIComponent(page.selfPath)}`;
    return (
      <p class="field-hint">
        {again.signIn} <a href={pageHref(page, `${signOnSettingsPath}${back}`)}>{page.messages.singleSignOn.prove}</a>
      </p>
    );
  }
  const withPassword = { label: again.password, hint: again.passwordHint };
  const withCode = { label: offered.password ? proof.label : proof.labelCode, hint: proof.hint };
  const { label, hint } = offered.code ? withCode : withPassword;
  return (
    <div class="stack-small proof">
      <PasswordField id={id} name="proof" label={label} hint={hint} problem={problem} focus={problem !== undefined} />
      {offered.passkey && (
        <PasskeyButton
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

interface ProvenChangeProps
  extends Pick<ConfirmProps, "label" | "accessibleLabel" | "explanation" | "confirm" | "action"> {
  readonly model: FactorsModel;
  readonly form: FormName;
}

/** Two steps without a script, as `Confirm`; the second asks for a proof. */
export function ProvenChange(props: ProvenChangeProps) {
  const { model, form } = props;
  const sent = model.sent?.form === form ? model.sent.state : undefined;
  const isRemoval = form !== "backup_codes";
  return (
    <details class="confirm" open={sent !== undefined}>
      <summary class={isRemoval ? "button button-quiet-danger" : "button"} aria-label={props.accessibleLabel}>
        <Label icon={isRemoval ? "trash" : "dice"} text={props.label} />
      </summary>
      <PostForm class="line confirm-body confirm-proven" action={props.action}>
        <p>{props.explanation}</p>
        {sent !== undefined && <FormNotices state={sent} />}
        {model.proof !== null && (
          <ProofFields id={`${form}_proof`} offered={model.proof} problem={sent?.problems.proof} />
        )}
        <Submit label={props.confirm ?? props.label} look={isRemoval ? "danger" : "primary"} />
      </PostForm>
    </details>
  );
}
