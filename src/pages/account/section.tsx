import type { ComponentChildren } from "preact";
import { useMessages } from "../page.ts";
import { PasswordField } from "../parts/fields.tsx";
import type { AccountField, AccountModel } from "./model.ts";

export interface SectionProps {
  readonly name: string;
  readonly heading: string;
  readonly children: ComponentChildren;
}

export function Section({ name, heading, children }: SectionProps) {
  return (
    <section class="card account-section" id={`${name}_section`} aria-labelledby={`${name}_heading`}>
      <h2 id={`${name}_heading`}>{heading}</h2>
      {children}
    </section>
  );
}

export interface AskAgainProps {
  readonly id: Extract<AccountField, "email_password" | "delete_password">;
  readonly model: Pick<AccountModel, "hasPassword" | "email" | "state">;
}

/** Asks for the password again. A user without one must have signed in recently; the server checks that itself. */
export function AskAgain({ id, model }: AskAgainProps) {
  const { again } = useMessages().profile;
  const problem = model.state.problems[id];
  if (!model.hasPassword) {
    return (
      <p class={problem === undefined ? "field-hint" : "field-problem"} id={id} tabIndex={-1}>
        {problem ?? again.signIn}
      </p>
    );
  }
  return <PasswordField id={id} name="password" label={again.password} hint={again.passwordHint} problem={problem} />;
}
