import { passwordLimits } from "../../accounts/accounts.ts";
import type { PageContext } from "../page-context.ts";
import { Field } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { Notice } from "./notice.tsx";

export interface EmailFieldProps {
  readonly page: PageContext;
  /** As typed, when the form is sent back. */
  readonly value: string;
  readonly problem?: string | undefined;
  /** It takes the focus where scripts run. */
  readonly focus: boolean;
}

/** Named `email`. */
export function EmailField({ page, value, problem, focus }: EmailFieldProps) {
  return (
    <Field
      id="email"
      label={page.words.entry.fields.email}
      problem={problem}
      control={(attributes) => (
        <input
          {...attributes}
          class="input"
          type="email"
          name="email"
          value={value}
          dir="ltr"
          required
          autoComplete="username"
          data-focus={focus ? true : undefined}
        />
      )}
    />
  );
}

export interface NewPasswordFieldProps {
  readonly page: PageContext;
  readonly label: string;
  readonly problem?: string | undefined;
  readonly focus: boolean;
}

/** Named `password`. Nothing cuts off what is too long: the server says so. */
export function NewPasswordField({ page, label, problem, focus }: NewPasswordFieldProps) {
  const { actions, entry } = page.words;
  return (
    <Field
      id="password"
      label={label}
      hint={entry.fields.passwordHint({ min: passwordLimits.min })}
      problem={problem}
      control={(attributes) => (
        <div class="input-row">
          <input
            {...attributes}
            class="input"
            type="password"
            name="password"
            dir="auto"
            required
            minLength={passwordLimits.min}
            autoComplete="new-password"
            data-focus={focus ? true : undefined}
          />
          <button
            type="button"
            class="button"
            hidden
            data-scripted
            data-show={attributes.id}
            data-label-hide={actions.hide}
          >
            <Icon name="eye" />
            <span data-show-label>{actions.show}</span>
          </button>
        </div>
      )}
    />
  );
}

/** @param waitSeconds null: the attempt was not one too many. */
export function TooManyNotice({
  page,
  waitSeconds,
}: {
  readonly page: PageContext;
  readonly waitSeconds: number | null;
}) {
  if (waitSeconds === null) return null;
  return (
    <Notice tone="danger" icon="clock" alert>
      <p>{page.words.problems.tooManyAttempts({ count: waitSeconds })}</p>
    </Notice>
  );
}
