import { passkeyNameCharactersMax } from "../../accounts/accounts.ts";
import { nameOf } from "../../branding/branding.ts";
import { sendJson } from "../../http/headers.ts";
import type { Reply, SignedInRequest } from "../request.ts";
import { formHandler, refused } from "../take-form.ts";
import { getRelyingParty, refusedChange } from "./changes.ts";
import { factorForm, removeFactor, renderFirstCodes } from "./handler.ts";
import { factorsPath } from "./paths.ts";

/** `POST /users/factors/passkeys/options`: what the browser needs to create a passkey. */
export async function offerNewPasskey(page: SignedInRequest): Promise<Reply> {
  const { accounts, branding } = page.services;
  // Browsers show the name beside the new passkey; it is not checked later.
  const party = { ...getRelyingParty(page), name: nameOf(branding.theme()) };
  return sendJson(page.reply, 200, await accounts.offerPasskey(page.session, party));
}

/** `POST /users/factors/proof/options`: what the browser needs to prove a change by a passkey. */
export async function offerProof(page: SignedInRequest): Promise<Reply> {
  return sendJson(page.reply, 200, await page.services.accounts.offerOwnPasskeys(page.session, getRelyingParty(page)));
}

/** `POST /users/factors/passkeys` */
export const addPasskey = formHandler(
  factorForm(() => "add_passkey"),
  async (page, { change, passkeyName: name, passkey }) => {
    const { passkeys } = page.messages.factors;
    const given = passkey ?? { answer: "", party: getRelyingParty(page) };
    const answer = await page.services.accounts.addPasskey(change, { ...given, name });
    switch (answer.outcome) {
      case "added":
        if (answer.backupCodes === null) return page.redirect(factorsPath);
        return renderFirstCodes(page, answer.backupCodes);
      case "bad_name":
        return refused({ name: passkeys.nameProblem({ max: passkeyNameCharactersMax }) });
      case "bad_passkey":
        return refused({}, { refusal: passkeys.bad });
      case "too_many_passkeys":
        return refused({}, { refusal: passkeys.tooMany });
      default:
        return refusedChange(page, answer);
    }
  },
);

/** `POST /users/factors/passkeys/:id/remove` */
export const removePasskey = removeFactor(
  (page) => `remove_passkey_${page.id}`,
  (page, change) => page.services.accounts.removePasskey(change, page.id),
);
