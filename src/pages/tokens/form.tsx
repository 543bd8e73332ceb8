import { allScopes } from "../../accounts/accounts.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { ProofFields } from "../factors/proof.tsx";
import { type PartProps, useMessages } from "../page.ts";
import { FormEnd } from "../parts/buttons.tsx";
import { Card } from "../parts/card.tsx";
import { keepFirstLineEnd } from "../parts/exact-text.tsx";
import { Checkbox, Field, SelectField, TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { problemsAt } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { fieldNames, offeredDays, type TokenField, type TokensModel } from "./model.ts";

type Props = PartProps<TokensModel>;

const fieldIds: Readonly<Record<Exclude<TokenField, "proof">, string>> = {
  name: "name",
  scopes: fieldNames.scopes.create,
  expiresInDays: "expires_in_days",
  networks: "networks",
};

export function TokenFormCard({ model }: Props) {
  const messages = useMessages();
  const { tokens } = messages;
  const labels = { name: tokens.name, scopes: tokens.mayDo, expiresInDays: tokens.expires, networks: tokens.networks };
  const found = problemsAt(fieldIds, model.state.problems, (field) => labels[field], messages);
  return (
    <Card id="make" heading={tokens.make} class="token-form">
      <FormNotices state={model.state} problems={found} />
      <PostForm class="form" action={model.path}>
        <Name model={model} />
        <Scopes model={model} />
        <Expiry model={model} />
        <Networks model={model} />
        {model.proof !== null && (
          <ProofFields id="token_proof" offered={model.proof} problem={model.state.problems.proof} />
        )}
        <FormEnd label={tokens.submit} />
      </PostForm>
    </Card>
  );
}

function Name({ model }: Props) {
  const { tokens } = useMessages();
  const { form, state } = model;
  return (
    <TextField
      id={fieldIds.name}
      name={fieldNames.name}
      label={tokens.name}
      hint={tokens.nameHint}
      problem={state.problems.name}
      value={form.name}
      required
    />
  );
}

/** The name of each scope and what it allows. */
export function scopeWords({ tokens, admin }: Messages, isService: boolean) {
  const { service } = admin.groupsPage;
  if (isService) {
    return {
      create: { label: tokens.mayCreate, hint: service.mayCreateText },
      read: { label: service.mayRead, hint: service.mayReadText },
      expire: { label: tokens.mayExpire, hint: service.mayExpireText },
    } as const;
  }
  return {
    create: { label: tokens.mayCreate, hint: tokens.mayCreateText },
    read: { label: tokens.mayRead, hint: tokens.mayReadText },
    expire: { label: tokens.mayExpire, hint: tokens.mayExpireText },
  } as const;
}

function Scopes({ model }: Props) {
  const messages = useMessages();
  const { form, state, isService } = model;
  const words = scopeWords(messages, isService);
  return (
    <fieldset class="choices" aria-describedby={state.problems.scopes === undefined ? undefined : "scopes_problem"}>
      <legend class="field-label">{messages.tokens.mayDo}</legend>
      {state.problems.scopes !== undefined && (
        <p class="field-problem" id="scopes_problem">
          {state.problems.scopes}
        </p>
      )}
      {allScopes.map((scope) => (
        <Checkbox
          key={scope}
          id={fieldNames.scopes[scope]}
          name={fieldNames.scopes[scope]}
          label={words[scope].label}
          hint={words[scope].hint}
          checked={form.scopes.includes(scope)}
        />
      ))}
    </fieldset>
  );
}

function Expiry({ model }: Props) {
  const { tokens } = useMessages();
  const { form, state } = model;
  const asked = Number(form.expiresInDays);
  const kept = form.expiresInDays !== "" && state.problems.expiresInDays === undefined && !offeredDays.includes(asked);
  const days = kept ? [...offeredDays, asked] : offeredDays;
  return (
    <SelectField
      id={fieldIds.expiresInDays}
      name={fieldNames.expiresInDays}
      label={tokens.expires}
      hint={tokens.expiresHint}
      problem={state.problems.expiresInDays}
      value={form.expiresInDays}
      options={[
        { value: "", label: tokens.noExpiry },
        ...days.map((count) => ({ value: String(count), label: tokens.afterDays({ count }) })),
      ]}
    />
  );
}

function Networks({ model }: Props) {
  const { tokens } = useMessages();
  const { form, state } = model;
  return (
    <Field
      id={fieldIds.networks}
      label={tokens.networks}
      hint={tokens.networksHint}
      problem={state.problems.networks}
      control={(attributes) => (
        <textarea
          {...attributes}
          class="input"
          name={fieldNames.networks}
          rows={2}
          dir="ltr"
          spellcheck={false}
          autoComplete="off"
        >
          {keepFirstLineEnd(form.networks)}
        </textarea>
      )}
    />
  );
}
