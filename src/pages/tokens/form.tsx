import { allScopes } from "../../accounts/accounts.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { ProofFields } from "../factors/proof.tsx";
import { type PartProps, useMessages } from "../page.ts";
import { FormEnd } from "../parts/buttons.tsx";
import { Card } from "../parts/card.tsx";
import { Checkbox, fieldsOf, SelectField, TextAreaField, TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { problemsAt } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { offeredDays, scopeFields } from "./model.ts";
import type { TokensModel } from "./take-token.ts";

type Props = PartProps<TokensModel>;

export function TokenFormCard({ model }: Props) {
  const messages = useMessages();
  const { tokens } = messages;
  const labels = { name: tokens.name, scopes: tokens.mayDo, expiresInDays: tokens.expires, networks: tokens.networks };
  const found = problemsAt(labels, model.state.problems, messages, { scopes: scopeFields.create });
  const words = scopeWords(messages, model.isService);
  const field = fieldsOf(labels, model.form, model.state.problems);
  return (
    <Card id="make" heading={tokens.make} class="token-form">
      <FormNotices state={model.state} problems={found} />
      <PostForm class="form" action={model.path}>
        <TextField {...field("name")} hint={tokens.nameHint} required />
        <fieldset
          class="choices"
          aria-describedby={model.state.problems.scopes === undefined ? undefined : "scopes_problem"}
        >
          <legend class="field-label">{tokens.mayDo}</legend>
          {model.state.problems.scopes !== undefined && (
            <p class="field-problem" id="scopes_problem">
              {model.state.problems.scopes}
            </p>
          )}
          {allScopes.map((scope) => (
            <Checkbox
              key={scope}
              id={scopeFields[scope]}
              label={words[scope].label}
              hint={words[scope].hint}
              checked={model.form.scopes.includes(scope)}
            />
          ))}
        </fieldset>
        <SelectField {...field("expiresInDays")} hint={tokens.expiresHint} options={expiryOptions(model, messages)} />
        <TextAreaField
          {...field("networks")}
          hint={tokens.networksHint}
          rows={2}
          area={{ dir: "ltr", spellcheck: false, autoComplete: "off" }}
        />
        {model.proof !== null && (
          <ProofFields id="token_proof" offered={model.proof} problem={model.state.problems.proof} />
        )}
        <FormEnd label={tokens.submit} />
      </PostForm>
    </Card>
  );
}

/** The name of each scope and what it allows. */
export function scopeWords({ tokens, admin }: Messages, isService: boolean) {
  const { service } = admin.groupsPage;
  if (isService) {
    return {
      create: { label: tokens.mayCreate, hint: service.mayCreateText },
      read: { label: service.mayRead, hint: service.mayReadText },
      edit: { label: tokens.mayEdit, hint: service.mayEditText },
      expire: { label: tokens.mayExpire, hint: service.mayExpireText },
    } as const;
  }
  return {
    create: { label: tokens.mayCreate, hint: tokens.mayCreateText },
    read: { label: tokens.mayRead, hint: tokens.mayReadText },
    edit: { label: tokens.mayEdit, hint: tokens.mayEditText },
    expire: { label: tokens.mayExpire, hint: tokens.mayExpireText },
  } as const;
}

function expiryOptions({ form, state }: TokensModel, { tokens }: Messages) {
  const asked = Number(form.expiresInDays);
  const kept = form.expiresInDays !== "" && state.problems.expiresInDays === undefined && !offeredDays.includes(asked);
  const days = kept ? [...offeredDays, asked] : offeredDays;
  return [
    { value: "", label: tokens.noExpiry },
    ...days.map((count) => ({ value: String(count), label: tokens.afterDays({ count }) })),
  ];
}
