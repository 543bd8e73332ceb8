import { type KindOption, kindOptions } from "../../config/topics/kinds.ts";
import { wireName } from "../../http/errors.ts";
import { type PageContext, useMessages, usePage } from "../page.ts";
import { ButtonLink, FormEnd, Label } from "../parts/buttons.tsx";
import { NumberField, SelectField } from "../parts/fields.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { idOfDefault, type KindForm, labelOfName, numberNames } from "./defaults-form.ts";
import type { AccountProps } from "./model.ts";
import { accountPath, presetsPath } from "./path.ts";
import { Section } from "./section.tsx";

export function DefaultsSection({ model }: AccountProps) {
  const messages = useMessages();
  const { profile, kinds } = messages;
  const { defaults } = profile;
  const form = model.defaults;
  const options = [
    { value: "", label: defaults.server({ value: kinds[form.serverFirst] }) },
    ...form.kinds.map(({ kind }) => ({ value: kind, label: kinds[kind] })),
  ];
  return (
    <Section name="defaults" heading={defaults.heading}>
      <p>{defaults.lead}</p>
      <PostForm class="form" action={`${accountPath}/defaults`}>
        <SelectField
          id="first_kind"
          label={defaults.first}
          value={form.first}
          options={options}
          problem={model.state.problems.first_kind}
        />
        <div class="account-kinds">
          {form.kinds.map((kind) => (
            <KindFields key={kind.kind} form={kind} problems={model.state.problems} />
          ))}
        </div>
        <FormEnd label={defaults.submit}>
          <ButtonLink to={presetsPath} label={messages.presets.manage} />
        </FormEnd>
      </PostForm>
    </Section>
  );
}

interface KindProps {
  readonly form: KindForm;
  readonly problems: AccountProps["model"]["state"]["problems"];
}

function KindFields({ form, problems }: KindProps) {
  const page = usePage();
  const { kinds, profile } = page.messages;
  const { defaults } = profile;
  const { kind, settings, values } = form;
  const fieldOf = (name: (typeof numberNames)[number] | KindOption) => ({
    id: idOfDefault(kind, name),
    name: `${kind}[${wireName(name)}]`,
    label: labelOfName(name, page.messages),
    value: values[name],
    problem: problems[idOfDefault(kind, name)],
  });
  const isWrong = Object.keys(problems).some((field) => field.startsWith(`${kind}_`));
  return (
    <details class="account-kind disclosure" open={isWrong}>
      <summary class="line">
        <Label icon={kind} text={kinds[kind]} />
      </summary>
      <fieldset class="stack-small account-kind-fields">
        <legend class="visually-hidden">{kinds[kind]}</legend>
        <div class="pair">
          {numberNames.map((name) => (
            <NumberField
              key={name}
              {...fieldOf(name)}
              range={settings[name]}
              hint={defaults.serverHint({
                min: settings[name].min,
                max: settings[name].max,
                value: settings[name].default,
              })}
              placeholder={String(settings[name].default)}
            />
          ))}
        </div>
        {kindOptions.map((option) =>
          settings[option].offered ? (
            <SelectField key={option} {...fieldOf(option)} options={choiceOptions(settings[option].default, page)} />
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
