import type { PasskeyAnswer, WaitingSignIn } from "../../accounts/accounts.ts";
import { signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { sendJson } from "../../http/headers.ts";
import { enter } from "../entry.tsx";
import { getRelyingParty, passkeyAnswerOf, relyingPartyOf, retryMessage } from "../factors/changes.ts";
import { factorsPath, secondFactorOptionsPath, secondFactorPath } from "../factors/paths.ts";
import { FormPage } from "../form-page.tsx";
import type { Page, PageContext } from "../page.ts";
import { PasskeyButton, PasskeysMissing, Submit } from "../parts/buttons.tsx";
import { CodeField } from "../parts/fields.tsx";
import { PostButton, PostForm } from "../parts/post-form.tsx";
import type { Reply, WaitingRequest } from "../request.ts";
import { ownPath, withNext } from "../return-path.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "../take-form.ts";

interface Typed extends Pick<SecondFactorModel, "next" | "backupCode"> {
  readonly code: string;
  readonly passkey: PasskeyAnswer | null;
}

const secondFactorForm: FormDeclaration<WaitingRequest, Typed, never> = {
  read: (fields, page) => ({
    next: ownPath(textOf(fields, "next")),
    code: textOf(fields, "code"),
    backupCode: textOf(fields, "backup_code"),
    passkey: passkeyAnswerOf(page, fields, "passkey"),
  }),
  async show(page, { next, backupCode }, state) {
    const factors = await page.services.accounts.findFactors(page.session.user.id);
    const model: SecondFactorModel = {
      next,
      backupCode,
      state,
      hasApp: factors.appAddedAt !== null,
      offersPasskey: factors.passkeys.length > 0 && relyingPartyOf(page.baseUrl) !== undefined,
    };
    return page.render(secondFactorView, model, { status: state.status, selfPath: withNext(secondFactorPath, next) });
  },
};

/** `GET /users/second_factor` */
export async function showSecondFactor(page: WaitingRequest): Promise<Reply> {
  const next = ownPath(page.query("next"));
  return secondFactorForm.show(page, { next, code: "", backupCode: "", passkey: null }, untouched);
}

/** `POST /users/second_factor/options`: what the browser needs to use a passkey. */
export async function offerSecondFactorPasskeys(page: WaitingRequest): Promise<Reply> {
  return sendJson(page.reply, 200, await page.services.accounts.offerOwnPasskeys(page.session, getRelyingParty(page)));
}

/** `POST /users/second_factor` */
export const checkSecondFactor = formHandler(secondFactorForm, async (page, { next, code, backupCode, passkey }) => {
  const { accounts } = page.services;
  const { challenge, passkeys } = page.messages.factors;
  const waiting = waitingSignIn(page);
  const given =
    passkey === null
      ? await accounts.giveCode(waiting, backupCode === "" ? code : backupCode)
      : await accounts.givePasskey(waiting, passkey);
  switch (given.outcome) {
    case "complete": {
      const isByApp = passkey === null && backupCode === "";
      const lacksCodes = isByApp && (await accounts.findFactors(page.session.user.id)).backupCodesLeft === 0;
      // Imported users have none. Without them, a lost phone would lock the user out.
      return enter(page, given.sessionToken, lacksCodes ? withNext(factorsPath, next ?? "/") : (next ?? "/"));
    }
    case "session_ended":
      return page.redirect(withNext(signInPath, next));
    case "wrong":
      return refused({}, { status: 401, refusal: passkey === null ? challenge.wrong : passkeys.bad });
    case "too_many":
      return refused({}, { status: 429, refusal: retryMessage(page, given.retryAfterSeconds) });
  }
});

function waitingSignIn(page: WaitingRequest): WaitingSignIn {
  const sessionToken = page.services.sessionCookies.find(page.request.raw, page.request.client);
  if (sessionToken === undefined) throw new Error("A waiting session was found without its cookie.");
  return { session: page.session, sessionToken, client: page.clientContext };
}

interface SecondFactorModel {
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
function secondFactorView(model: SecondFactorModel, page: PageContext): Page {
  const { challenge, passkeys } = page.messages.factors;
  return (
    <FormPage
      page={page}
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
      <PostButton action="/users/sign_out" label={challenge.leave} look="action" />
    </FormPage>
  );
}
