import type { PageContext } from "../page.ts";
import { NumberField, SelectField } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { type AccountProblems, type AccountProps, accountPath, type KindForm } from "./model.ts";
import { Section } from "./section.tsx";

export function DefaultsSection({ model, page }: AccountProps) {
  const { profile, kinds } = page.messages;
  const { defaults } = profile;
  const form = model.defaults;
  const options = [
    { value: "", label: defaults.server({ value: kinds[form.serverFirst] }) },
    ...form.kinds.map(({ kind }) => ({ value: kind, label: kinds[kind] })),
  ];
  return (
    <Section name="defaults" heading={defaults.heading}>
      <p>{defaults.lead}</p>
      <PostForm page={page} class="form" action={`${accountPath}/defaults`}>
        <SelectField
          id="first_kind"
          name="first_kind"
          label={defaults.first}
          value={form.first}
          options={options}
          problem={model.problems.first_kind}
        />
        <div class="account-kinds">
          {form.kinds.map((kind) => (
            <KindFields key={kind.kind} form={kind} problems={model.problems} page={page} />
          ))}
        </div>
        <div class="form-end">
          <button type="submit" class="button button-primary">
            {defaults.submit}
          </button>
        </div>
      </PostForm>
    </Section>
  );
}

interface KindProps {
  readonly form: KindForm;
  readonly problems: AccountProblems;
  readonly page: PageContext;
}

function KindFields({ form, problems, page }: KindProps) {
  const { kinds, newPush, profile } = page.messages;
  const { defaults } = profile;
  const { kind, settings, values } = form;
  const isWrong = Object.keys(problems).some((field) => field.startsWith(`${kind}_`));
  const numbers = [
    { name: "days", label: newPush.days, range: settings.days, value: values.days },
    { name: "views", label: newPush.views, range: settings.views, value: values.views },
  ] as const;
  const choices = [
    {
      name: "retrieval_step",
      label: newPush.retrievalStep,
      option: settings.retrievalStep,
      value: values.retrievalStep,
    },
    {
      name: "deletable_by_viewer",
      label: newPush.deletable,
      option: settings.deletableByViewer,
      value: values.deletableByViewer,
    },
  ] as const;
  return (
    <details class="account-kind" open={isWrong}>
      <summary>
        <Icon name={kind} />
        <span>{kinds[kind]}</span>
      </summary>
      <fieldset class="account-kind-fields">
        <legend class="visually-hidden">{kinds[kind]}</legend>
        <div class="pair">
          {numbers.map(({ name, label, range, value }) => (
            <NumberField
              key={name}
              id={`${kind}_${name}`}
              name={`${kind}[${name}]`}
              label={label}
              range={range}
              value={value}
              hint={defaults.serverHint({ min: range.min, max: range.max, value: range.default })}
              problem={problems[`${kind}_${name}`]}
              placeholder={String(range.default)}
            />
          ))}
        </div>
        {choices.map(({ name, label, option, value }) =>
          option.offered ? (
            <SelectField
              key={name}
              id={`${kind}_${name}`}
              name={`${kind}[${name}]`}
              label={label}
              value={value}
              options={choiceOptions(option.default, page)}
              problem={problems[`${kind}_${name}`]}
            />
          ) : null,
        )}
      </fieldset>
    </details>
  );
}

function choiceOptions(serverDefault: boolean, page: PageContext) {
  const { defaults } = page.messages.profile;
  return [
    { value: "", label: defaults.server({ value: serverDefault ? defaults.on : defaults.off }) },
    { value: "1", label: defaults.on },
    { value: "0", label: defaults.off },
  ];
}
