import type { FastifyReply } from "fastify";
import type { FactorGiven, WaitingSignIn } from "../../accounts/accounts.ts";
import { signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { sendJson } from "../../http/headers.ts";
import { enter } from "../entry.tsx";
import { getRelyingParty, passkeyAnswerOf, relyingPartyOf } from "../factors/changes.ts";
import { factorsPath, secondFactorPath } from "../factors/paths.ts";
import type { WaitingRequest } from "../request.ts";
import { ownPath, withNext } from "../return-path.ts";
import { type SecondFactorModel, secondFactorView } from "./view.tsx";

/** `GET /users/second_factor` */
export function showSecondFactor(page: WaitingRequest): Promise<FastifyReply> {
  return renderSecondFactor(page, 200, { next: ownPath(page.query("next")), refusal: null });
}

/** `POST /users/second_factor/options`: what the browser needs to use a passkey. */
export async function offerSecondFactorPasskeys(page: WaitingRequest): Promise<FastifyReply> {
  return sendJson(page.reply, 200, await page.services.accounts.offerOwnPasskeys(page.session, getRelyingParty(page)));
}

/** `POST /users/second_factor` */
export async function checkSecondFactor(page: WaitingRequest): Promise<FastifyReply> {
  const { accounts } = page.services;
  const form = await page.form();
  const next = ownPath(textOf(form, "next"));
  const waiting = waitingSignIn(page);
  const passkey = passkeyAnswerOf(page, form, "passkey");
  const backupCode = textOf(form, "backup_code");
  let given: FactorGiven;
  let reason: "wrong_passkey" | "wrong_backup_code" | "wrong_code";
  if (passkey !== null) {
    reason = "wrong_passkey";
    given = await accounts.givePasskey(waiting, passkey);
  } else {
    reason = backupCode === "" ? "wrong_code" : "wrong_backup_code";
    given = await accounts.giveCode(waiting, backupCode === "" ? textOf(form, "code") : backupCode);
  }
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
      return renderSecondFactor(page, 401, { next, refusal: { reason } });
    case "too_many": {
      page.retryAfter(given.retryAfterSeconds);
      const minutes = Math.ceil(given.retryAfterSeconds / 60);
      return renderSecondFactor(page, 429, { next, refusal: { reason: "too_many", minutes } });
    }
  }
}

function waitingSignIn(page: WaitingRequest): WaitingSignIn {
  const sessionToken = page.services.sessionCookies.find(page.request.raw, page.request.client);
  if (sessionToken === undefined) throw new Error("A waiting session was found without its cookie.");
  return { session: page.session, sessionToken, client: page.clientContext };
}

async function renderSecondFactor(
  page: WaitingRequest,
  status: number,
  shown: Pick<SecondFactorModel, "next" | "refusal">,
): Promise<FastifyReply> {
  const factors = await page.services.accounts.findFactors(page.session.user.id);
  const model: SecondFactorModel = {
    ...shown,
    hasApp: factors.appAddedAt !== null,
    offersPasskey: factors.passkeys.length > 0 && relyingPartyOf(page.baseUrl) !== undefined,
  };
  return page.render(secondFactorView, model, { status, selfPath: withNext(secondFactorPath, shown.next) });
}
