import { secondFactorOptionsPath, secondFactorPath } from "../factors/paths.ts";
import { FormPage } from "../form-page.tsx";
import type { Page, PageContext } from "../page.ts";
import { PasskeyButton, PasskeysMissing, Submit } from "../parts/buttons.tsx";
import { CodeField } from "../parts/fields.tsx";
import { PostButton, PostForm } from "../parts/post-form.tsx";
import type { FormState } from "../take-form.ts";

export interface SecondFactorModel {
  /** The path of this server to go to afterwards, as `ownPath` returned it. */
  readonly next: string | null;
  readonly hasApp: boolean;
  /** A passkey of this account works at this origin. */
  readonly offersPasskey: boolean;
  /** As typed; it is not shown again. */
  readonly backupCode: string;
  readonly state: FormState;
}

/** Fields `code` or `passkey`, and `next`, posted to `/users/second_factor`. */
export function secondFactorView(model: SecondFactorModel, page: PageContext): Page {
  const { challenge, passkeys } = page.messages.factors;
  return (
    <FormPage
      page={page}
      privatePage
      scripts={["passkeys.js"]}
      heading={challenge.heading}
      lead={challenge.lead}
      state={model.state}
    >
      {model.offersPasskey && (
        <PostForm action={secondFactorPath} next={model.next} class="form">
          <PasskeyButton
            action="get"
            options={secondFactorOptionsPath}
            name="passkey"
            label={passkeys.use}
            look={model.hasApp ? "alternative" : "wide"}
          />
          <PasskeysMissing />
        </PostForm>
      )}
      {model.hasApp && (
        <PostForm action={secondFactorPath} next={model.next} class="form" autoComplete="off">
          <CodeField
            of="digits"
            id="code"
            label={challenge.code}
            hint={challenge.codeHint}
            focus={model.backupCode === ""}
          />
          <Submit label={challenge.submit} look="wide" />
        </PostForm>
      )}
      <details class="disclosure" open={model.backupCode !== ""}>
        <summary>{challenge.backup}</summary>
        <PostForm action={secondFactorPath} next={model.next} class="form" autoComplete="off">
          <CodeField
            of="letters and digits"
            id="backup_code"
            label={challenge.backupCode}
            hint={challenge.backupHint}
            focus={model.backupCode !== ""}
          />
          <Submit label={challenge.submit} look="alternative" />
        </PostForm>
      </details>
      <p class="field-hint">{challenge.help}</p>
      <PostButton action="/users/sign_out" label={challenge.leave} look="link" />
    </FormPage>
  );
}
