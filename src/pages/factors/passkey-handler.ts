import type { FastifyReply } from "fastify";
import { passkeyNameCharactersMax } from "../../accounts/accounts.ts";
import { nameOf } from "../../branding/branding.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { sendJson } from "../../http/headers.ts";
import type { SignedInRequest } from "../request.ts";
import { changeOf, getRelyingParty, passkeyAnswerOf, refusedChange } from "./changes.ts";
import { renderFactors, renderFirstCodes, renderRefused } from "./handler.ts";
import type { FactorsProblem } from "./model.ts";
import { factorsPath } from "./paths.ts";

/** `POST /users/factors/passkeys/options`: what the browser needs to create a passkey. */
export async function offerNewPasskey(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts, branding } = page.services;
  // Browsers show the name beside the new passkey; it is not checked later.
  const party = { ...getRelyingParty(page), name: nameOf(branding.theme()) };
  return sendJson(page.reply, 200, await accounts.offerPasskey(page.session, party));
}

/** `POST /users/factors/proof/options`: what the browser needs to prove a change by a passkey. */
export async function offerProof(page: SignedInRequest): Promise<FastifyReply> {
  return sendJson(page.reply, 200, await page.services.accounts.offerOwnPasskeys(page.session, getRelyingParty(page)));
}

/** `POST /users/factors/passkeys` */
export async function addPasskey(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const { passkeys } = page.messages.factors;
  const passkeyName = textOf(form, "name");
  const party = getRelyingParty(page);
  const given = passkeyAnswerOf(page, form, "passkey") ?? { answer: "", party };
  const answer = await page.services.accounts.addPasskey(changeOf(page, form), { ...given, name: passkeyName });
  const refuse = (at: FactorsProblem["at"], message: string) =>
    renderFactors(page, 422, { passkeyName, problem: { form: "add_passkey", at, message } });
  switch (answer.outcome) {
    case "added":
      if (answer.backupCodes === null) return page.redirect(factorsPath);
      return renderFirstCodes(page, answer.backupCodes);
    case "bad_name":
      return refuse("name", passkeys.nameProblem({ max: passkeyNameCharactersMax }));
    case "bad_passkey":
      return refuse("form", passkeys.bad);
    case "too_many_passkeys":
      return refuse("form", passkeys.tooMany);
    default:
      return renderRefused(page, "add_passkey", refusedChange(page, answer), { passkeyName });
  }
}

/** `POST /users/factors/passkeys/:id/remove` */
export async function removePasskey(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const { id } = page;
  if (id === undefined) return page.notFound();
  const answer = await page.services.accounts.removePasskey(changeOf(page, form), id);
  switch (answer.outcome) {
    case "removed":
      return page.redirect(factorsPath);
    case "unknown":
      return page.notFound();
    case "last_required":
      return renderRefused(page, `remove_passkey_${id}`, {
        status: 422,
        message: page.messages.factors.manage.lastRequired,
      });
    default:
      return renderRefused(page, `remove_passkey_${id}`, refusedChange(page, answer));
  }
}
