import { secondFactorOptionsPath, secondFactorPath } from "../factors/paths.ts";
import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { PasskeyButton, PasskeysMissing } from "../parts/buttons.tsx";
import { CodeField } from "../parts/fields.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";

export interface SecondFactorModel {
  /** The path of this server to go to afterwards, as `ownPath` returned it. */
  readonly next: string | null;
  readonly hasApp: boolean;
  /** A passkey of this account works at this origin. */
  readonly offersPasskey: boolean;
  readonly refusal:
    | { readonly reason: "wrong_code" | "wrong_backup_code" | "wrong_passkey" }
    | { readonly reason: "too_many"; readonly minutes: number }
    | null;
}

/** Fields `code` or `passkey`, and `next`, posted to `/users/second_factor`. */
export function secondFactorView(model: SecondFactorModel, page: PageContext): Page {
  const { challenge, passkeys } = page.messages.factors;
  const { refusal } = model;
  const wrong = refusal?.reason === "wrong_passkey" ? passkeys.bad : challenge.wrong;
  return (
    <Layout page={page} title={challenge.heading} width="narrow" privatePage scripts={["passkeys.js"]}>
      <div class="card">
        <h1>{challenge.heading}</h1>
        <p class="lead">{challenge.lead}</p>
        {refusal !== null && (
          <Notice tone="danger" icon="alert" alert>
            <p>{refusal.reason === "too_many" ? challenge.tooMany({ count: refusal.minutes }) : wrong}</p>
          </Notice>
        )}
        {model.offersPasskey && (
          <PostForm page={page} action={secondFactorPath} class="form">
            <Next next={model.next} />
            <PasskeyButton
              page={page}
              action="get"
              options={secondFactorOptionsPath}
              name="passkey"
              label={passkeys.use}
              wide={model.hasApp ? "secondary" : "primary"}
            />
            <PasskeysMissing page={page} />
          </PostForm>
        )}
        {model.hasApp && <AppForm model={model} page={page} />}
        <BackupForm model={model} page={page} />
        <p class="field-hint">{challenge.help}</p>
        <PostForm page={page} action="/users/sign_out">
          <button type="submit" class="link-button">
            {challenge.leave}
          </button>
        </PostForm>
      </div>
    </Layout>
  );
}

interface FormProps {
  readonly model: SecondFactorModel;
  readonly page: PageContext;
}

function AppForm({ model, page }: FormProps) {
  const { challenge } = page.messages.factors;
  return (
    <PostForm page={page} action={secondFactorPath} class="form" autoComplete="off">
      <Next next={model.next} />
      <CodeField
        of="digits"
        id="code"
        label={challenge.code}
        hint={challenge.codeHint}
        focus={model.refusal?.reason !== "wrong_backup_code"}
      />
      <button type="submit" class="button button-primary button-large button-wide">
        {challenge.submit}
      </button>
    </PostForm>
  );
}

function BackupForm({ model, page }: FormProps) {
  const { challenge } = page.messages.factors;
  return (
    <details class="disclosure" open={model.refusal?.reason === "wrong_backup_code"}>
      <summary>{challenge.backup}</summary>
      <PostForm page={page} action={secondFactorPath} class="form" autoComplete="off">
        <Next next={model.next} />
        <CodeField
          of="letters and digits"
          id="backup_code"
          label={challenge.backupCode}
          hint={challenge.backupHint}
          focus={model.refusal?.reason === "wrong_backup_code"}
        />
        <button type="submit" class="button button-wide">
          {challenge.submit}
        </button>
      </PostForm>
    </details>
  );
}

function Next({ next }: { readonly next: string | null }) {
  return next === null ? null : <input type="hidden" name="next" value={next} />;
}
