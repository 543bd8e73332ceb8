import { Field } from "../parts/field.tsx";

export interface SelectFieldProps {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly options: readonly { readonly value: string; readonly label: string; readonly lang?: string }[];
}

export function SelectField({ id, name, label, value, problem, options }: SelectFieldProps) {
  return (
    <Field
      id={id}
      label={label}
      problem={problem}
      control={(attributes) => (
        <select {...attributes} class="input" name={name}>
          {options.map((option) => (
            <option key={option.value} value={option.value} lang={option.lang} selected={option.value === value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    />
  );
}
