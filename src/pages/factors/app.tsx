import type { FastifyReply } from "fastify";
import { nameOf } from "../../branding/branding.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref, untranslated } from "../page.ts";
import { CopyButton } from "../parts/buttons.tsx";
import { CodeField, Field } from "../parts/fields.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { QrCode } from "../parts/qr-code.tsx";
import type { SignedInRequest } from "../request.ts";
import { changeOf, proofOffered, refusedChange, retryMessage } from "./changes.ts";
import { renderFirstCodes, renderRefused } from "./handler.ts";
import type { ProofOffered } from "./model.ts";
import { appPath, factorsPath } from "./paths.ts";
import { ProofFields } from "./proof.tsx";

/** `GET /users/factors/authenticator_app` */
export function showApp(page: SignedInRequest): Promise<FastifyReply> {
  return renderApp(page, 200, "", null);
}

/** `POST /users/factors/authenticator_app` */
export async function addApp(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const { app } = page.messages.factors;
  const setUp = textOf(form, "set_up");
  const code = textOf(form, "code");
  const answer = await page.services.accounts.addAuthenticatorApp(changeOf(page, form), { setUp, code });
  const refuse = (status: number, problem: NonNullable<AppModel["problem"]>) => renderApp(page, status, setUp, problem);
  switch (answer.outcome) {
    case "added":
      if (answer.backupCodes === null) return page.redirect(factorsPath);
      return renderFirstCodes(page, answer.backupCodes);
    case "wrong_code":
      return refuse(422, { at: "code", message: app.wrong });
    case "stale":
      return refuse(422, { at: "form", message: app.stale });
    case "too_many":
      return refuse(429, { at: "form", message: retryMessage(page, answer.retryAfterSeconds) });
    default: {
      const { status, message } = refusedChange(page, answer);
      return refuse(status, { at: "proof", message });
    }
  }
}

/** `POST /users/factors/authenticator_app/remove` */
export async function removeApp(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const answer = await page.services.accounts.removeAuthenticatorApp(changeOf(page, form));
  switch (answer.outcome) {
    case "removed":
      return page.redirect(factorsPath);
    case "unknown":
      return page.notFound();
    case "last_required":
      return renderRefused(page, "remove_app", {
        status: 422,
        message: page.messages.factors.manage.lastRequired,
      });
    default:
      return renderRefused(page, "remove_app", refusedChange(page, answer));
  }
}

/** @param setUp of the secret to show again; an invalid or expired one is replaced by a new secret. */
async function renderApp(
  page: SignedInRequest,
  status: number,
  setUp: string,
  problem: AppModel["problem"],
): Promise<FastifyReply> {
  const { accounts, branding } = page.services;
  const factors = await accounts.findFactors(page.session.user.id);
  // The host name tells the entries of two servers apart in one app. In the QR code's address a colon ends the issuer.
  const name = nameOf(branding.theme()).replaceAll(":", " ");
  const issuer = `${name} (${new URL(page.baseUrl).hostname})`;
  const offer = accounts.offerAuthenticatorApp(page.session, issuer, setUp);
  const proof = await proofOffered(page);
  const model = { ...offer, problem, proof, replaces: factors.appAddedAt !== null };
  return page.render(appView, model, { status, selfPath: page.isGet ? appPath : null });
}

interface AppModel {
  /** `otpauth://` with the secret, for the QR code. */
  readonly uri: string;
  /** The secret, to be typed. */
  readonly base32: string;
  /** Sent back with the code. */
  readonly setUp: string;
  /** The account has an app already; this one replaces it. */
  readonly replaces: boolean;
  readonly proof: ProofOffered | null;
  readonly problem: { readonly at: "code" | "proof" | "form"; readonly message: string } | null;
}

/** Fields `set_up`, `code` and the proof, posted to `/users/factors/authenticator_app`. */
function appView(model: AppModel, page: PageContext): Page {
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
              <output {...attributes} class="exact-text totp-key" dir="ltr" translate={untranslated}>
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
