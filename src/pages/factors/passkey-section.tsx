import type { Passkey } from "../../accounts/accounts.ts";
import { type PartProps, useMessages } from "../page.ts";
import { PasskeyButton, PasskeysMissing } from "../parts/buttons.tsx";
import { Card } from "../parts/card.tsx";
import { Fact } from "../parts/fact.tsx";
import { TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { LocalTime } from "../parts/times.tsx";
import type { FactorsModel } from "./model.ts";
import { newPasskeyOptionsPath, passkeysPath, removePasskeyPath } from "./paths.ts";
import { ProofFields, ProvenChange } from "./proof.tsx";

type SectionProps = PartProps<FactorsModel>;

export function PasskeySection({ model }: SectionProps) {
  const { passkeys } = useMessages().factors;
  const sent = model.sent?.form === "add_passkey" ? model.sent.state : undefined;
  return (
    <Card id="passkeys" heading={passkeys.heading}>
      <p>{passkeys.text}</p>
      {model.passkeys.length === 0 ? (
        <p class="field-hint">{passkeys.none}</p>
      ) : (
        <ul class="rows">
          {model.passkeys.map((passkey) => (
            <Row key={passkey.id} passkey={passkey} model={model} />
          ))}
        </ul>
      )}
      {/* A script shows the form in browsers with passkeys; elsewhere a sentence explains why it is missing. */}
      {model.passkeysPossible ? (
        <>
          <PasskeysMissing />
          <div hidden data-with-passkeys>
            <PostForm action={passkeysPath} class="form group">
              {sent !== undefined && <FormNotices state={sent} />}
              <TextField
                id="name"
                label={passkeys.name}
                hint={passkeys.nameHint}
                problem={sent?.problems.name}
                value={model.passkeyName}
                required
              />
              {model.proof !== null && (
                <ProofFields id="add_passkey_proof" offered={model.proof} problem={sent?.problems.proof} />
              )}
              <PasskeyButton action="create" options={newPasskeyOptionsPath} name="passkey" label={passkeys.add} />
            </PostForm>
          </div>
        </>
      ) : (
        <p class="field-hint">{passkeys.noDomain}</p>
      )}
    </Card>
  );
}

function Row({ passkey, model }: SectionProps & { readonly passkey: Passkey }) {
  const { passkeys, manage } = useMessages().factors;
  const { lastUsedAt } = passkey;
  return (
    <li class="row">
      <h3 dir="auto">{passkey.name}</h3>
      <dl class="facts facts-inline">
        <Fact label={manage.added} value={<LocalTime timeMs={passkey.createdAt} />} />
        <Fact label={manage.lastUsed} value={lastUsedAt === null ? manage.never : <LocalTime timeMs={lastUsedAt} />} />
      </dl>
      <ProvenChange
        model={model}
        form={`remove_passkey_${passkey.id}`}
        label={passkeys.remove}
        accessibleLabel={passkeys.removeOne({ name: passkey.name })}
        explanation={passkeys.removeText}
        confirm={passkeys.removeConfirm}
        action={removePasskeyPath(passkey.id)}
      />
    </li>
  );
}
