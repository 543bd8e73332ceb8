import { Field } from "../parts/field.tsx";

export interface PasswordFieldProps {
  readonly label: string;
  readonly problem: string | null;
}

/** For asking again: never filled in by us. */
export function PasswordField({ label, problem }: PasswordFieldProps) {
  return (
    <Field
      id="password"
      label={label}
      problem={problem ?? undefined}
      control={(attributes) => (
        <input
          {...attributes}
          class="input"
          type="password"
          name="password"
          required
          autoComplete="current-password"
          data-focus={problem === null ? undefined : true}
        />
      )}
    />
  );
}
