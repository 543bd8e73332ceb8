import type { ProtectedChange } from "../../accounts/accounts.ts";
import { nameOf } from "../../branding/branding.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref, untranslated } from "../page.ts";
import { CopyButton, Submit } from "../parts/buttons.tsx";
import { CodeField, Field } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { QrCode } from "../parts/qr-code.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "../take-form.ts";
import { changeOf, proofOffered, refusedChange } from "./changes.ts";
import { removeFactor, renderFirstCodes } from "./handler.ts";
import { appPath, factorsPath } from "./paths.ts";
import { ProofFields } from "./proof.tsx";

interface Typed {
  readonly change: ProtectedChange;
  /** The secret to show again; an invalid or expired one is replaced by a new one. */
  readonly setUp: string;
  readonly code: string;
}

const appForm: FormDeclaration<SignedInRequest, Typed, "code" | "proof"> = {
  read: (fields, page) => ({
    change: changeOf(page, fields),
    setUp: textOf(fields, "set_up"),
    code: textOf(fields, "code"),
  }),
  show: (page, { setUp }, state) => renderApp(page, setUp, state),
};

/** `GET /users/factors/authenticator_app` */
export function showApp(page: SignedInRequest): Promise<Reply> {
  return renderApp(page, "", untouched);
}

/** `POST /users/factors/authenticator_app` */
export const addApp = formHandler(appForm, async (page, { change, setUp, code }) => {
  const { app } = page.messages.factors;
  const answer = await page.services.accounts.addAuthenticatorApp(change, { setUp, code });
  switch (answer.outcome) {
    case "added":
      if (answer.backupCodes === null) return page.redirect(factorsPath);
      return renderFirstCodes(page, answer.backupCodes);
    case "wrong_code":
      return refused({ code: app.wrong });
    case "stale":
      return refused({}, { refusal: app.stale });
    default:
      return refusedChange(page, answer);
  }
});

/** `POST /users/factors/authenticator_app/remove` */
export const removeApp = removeFactor(
  () => "remove_app",
  (page, change) => page.services.accounts.removeAuthenticatorApp(change),
);

async function renderApp(page: SignedInRequest, setUp: string, state: FormState<"code" | "proof">): Promise<Reply> {
  const model = await appModel(page, setUp, state);
  return page.renderForm(appView, model, { status: state.status, path: appPath });
}

async function appModel(page: SignedInRequest, setUp: string, state: FormState<"code" | "proof">) {
  const { accounts, branding } = page.services;
  const { appAddedAt } = await accounts.findFactors(page.session.user.id);
  // The host name tells the entries of two servers apart in one app. In the QR code's address a colon ends the issuer.
  const name = nameOf(branding.theme()).replaceAll(":", " ");
  const issuer = `${name} (${new URL(page.baseUrl).hostname})`;
  const offer = accounts.offerAuthenticatorApp(page.session, issuer, setUp);
  return {
    ...offer,
    state,
    proof: await proofOffered(page),
    /** The account has an app already; this one replaces it. */
    replaces: appAddedAt !== null,
  };
}

/** Fields `set_up`, `code` and the proof, posted to `/users/factors/authenticator_app`. */
function appView(model: Awaited<ReturnType<typeof appModel>>, page: PageContext): Page {
  const { app, manage } = page.messages.factors;
  const { problems } = model.state;
  return (
    <Layout page={page} title={app.setUpHeading} width="narrow" scripts={["passkeys.js"]}>
      <div class="card" data-secret>
        <h1>{app.setUpHeading}</h1>
        <FormNotices state={model.state} />
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
              <output {...attributes} class="exact-text totp-key" dir="ltr" translate={untranslated}>
                {model.base32.match(/.{1,4}/g)?.join(" ")}
              </output>
              <CopyButton of="key" label={app.copyKey} />
            </div>
          )}
        />
        <PostForm action={appPath} class="form" autoComplete="off">
          <input type="hidden" name="set_up" value={model.setUp} />
          <CodeField
            of="digits"
            id="code"
            label={app.code}
            hint={app.codeHint}
            problem={problems.code}
            focus={problems.code !== undefined}
          />
          {model.proof !== null && <ProofFields id="proof" offered={model.proof} problem={problems.proof} />}
          {model.replaces && <p class="field-hint">{app.replaces}</p>}
          <Submit label={app.submit} look="wide" />
        </PostForm>
        <a href={pageHref(page, factorsPath)}>{manage.back}</a>
      </div>
    </Layout>
  );
}
