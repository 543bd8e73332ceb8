import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { CopyButton } from "../parts/buttons.tsx";
import { CodeField, Field } from "../parts/fields.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { QrCode } from "../parts/qr-code.tsx";
import { appPath, factorsPath } from "./paths.ts";
import { ProofFields, type ProofOffered } from "./proof.tsx";

export interface AppModel {
  /** `otpauth://` with the secret, for the QR code. */
  readonly uri: string;
  /** The secret for typing. */
  readonly base32: string;
  /** Comes back with the code. */
  readonly setUp: string;
  /** An app stands already, and this one would take its place. */
  readonly replaces: boolean;
  readonly proof: ProofOffered | null;
  readonly problem: { readonly at: "code" | "proof" | "form"; readonly message: string } | null;
}

/** Fields `set_up`, `code` and the proof, posted to `/users/factors/authenticator_app`. */
export function appView(model: AppModel, page: PageContext): Page {
  const { app, manage } = page.messages.factors;
  const { problem } = model;
  const problemAt = (at: "code" | "proof") => (problem?.at === at ? problem.message : undefined);
  return (
    <Layout page={page} title={app.setUpHeading} width="narrow" privatePage scripts={["passkeys.js"]}>
      <div class="card" data-secret>
        <h1>{app.setUpHeading}</h1>
        {problem?.at === "form" && (
          <Notice tone="danger" icon="alert" alert>
            <p>{problem.message}</p>
          </Notice>
        )}
        <p>{app.scan}</p>
        <div class="qr-frame">
          <QrCode text={model.uri} label={app.qrLabel} />
        </div>
        <Field
          id="key"
          label={app.key}
          hint={app.keyHint}
          control={(attributes) => (
            <div class="input-row">
              <output {...attributes} class="exact-text totp-key" dir="ltr" translate={false}>
                {model.base32.match(/.{1,4}/g)?.join(" ")}
              </output>
              <CopyButton messages={page.messages} of="key" label={app.copyKey} />
            </div>
          )}
        />
        <PostForm page={page} action={appPath} class="form" autoComplete="off">
          <input type="hidden" name="set_up" value={model.setUp} />
          <CodeField
            of="digits"
            id="code"
            label={app.code}
            hint={app.codeHint}
            problem={problemAt("code")}
            focus={problem?.at === "code"}
          />
          {model.proof !== null && (
            <ProofFields page={page} id="proof" offered={model.proof} problem={problemAt("proof")} />
          )}
          {model.replaces && <p class="field-hint">{app.replaces}</p>}
          <button type="submit" class="button button-primary button-large button-wide">
            {app.submit}
          </button>
        </PostForm>
        <a href={pageHref(page, factorsPath)}>{manage.back}</a>
      </div>
    </Layout>
  );
}
