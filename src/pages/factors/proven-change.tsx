import type { PageContext } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { FactorsModel, FormName } from "./model.ts";
import { ProofFields } from "./proof.tsx";

export interface ProvenChangeProps {
  readonly page: PageContext;
  readonly model: FactorsModel;
  readonly form: FormName;
  readonly label: string;
  /** Where several of these stand on one page: what this one is about. */
  readonly accessibleLabel?: string;
  readonly explanation: string;
  readonly confirm: string;
  readonly action: string;
}

/** Two steps without a script, as `Confirm`; the second asks who it is. */
export function ProvenChange(props: ProvenChangeProps) {
  const { page, model, form } = props;
  const problem = model.problem?.form === form ? model.problem : undefined;
  const isRemoval = form !== "backup_codes";
  return (
    <details class="confirm" open={problem !== undefined}>
      <summary class={isRemoval ? "button button-quiet-danger" : "button"} aria-label={props.accessibleLabel}>
        <Icon name={isRemoval ? "trash" : "dice"} />
        <span>{props.label}</span>
      </summary>
      <PostForm page={page} class="confirm-body confirm-proven" action={props.action}>
        <p>{props.explanation}</p>
        {problem !== undefined && problem.at === "form" && (
          <p class="field-problem" role="alert">
            {problem.message}
          </p>
        )}
        {model.proof !== null && (
          <ProofFields
            page={page}
            id={`${form}_proof`}
            offered={model.proof}
            problem={problem?.at === "proof" ? problem.message : undefined}
          />
        )}
        <button type="submit" class={isRemoval ? "button button-danger" : "button button-primary"}>
          {props.confirm}
        </button>
      </PostForm>
    </details>
  );
}
