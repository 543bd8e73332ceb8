import { type PasskeyAnswer, type ProtectedChange, passkeyNameCharactersMax } from "../../accounts/accounts.ts";
import { nameOf } from "../../branding/branding.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { sendJson } from "../../http/headers.ts";
import type { PageServices, Reply, SignedInRequest } from "../request.ts";
import { ownPath, withNext } from "../return-path.ts";
import { type FormDeclaration, formHandler, refused } from "../take-form.ts";
import { backupCodesView } from "./backup-codes.tsx";
import { changeOf, getRelyingParty, passkeyAnswerOf, refusedChange } from "./changes.ts";
import { type FactorsModel, type FormName, factorsModel } from "./model.ts";
import { factorsPath } from "./paths.ts";
import { factorsView } from "./view.tsx";

/** `GET /users/factors` */
export function showFactors(page: SignedInRequest): Promise<Reply> {
  return renderFactors(page, "", null);
}

interface Typed {
  readonly change: ProtectedChange;
  readonly passkeyName: string;
  readonly passkey: PasskeyAnswer | null;
}

/** A form of the page of factors. */
function factorForm(
  nameOf: (page: SignedInRequest) => FormName,
): FormDeclaration<SignedInRequest, Typed, "proof" | "name"> {
  return {
    read: (fields, page) => ({
      change: changeOf(page, fields),
      passkeyName: textOf(fields, "name"),
      passkey: passkeyAnswerOf(page, fields, "passkey"),
    }),
    show: (page, { passkeyName }, state) => renderFactors(page, passkeyName, { form: nameOf(page), state }),
  };
}

/** `POST /users/factors/backup_codes` */
export const createBackupCodes = formHandler(
  factorForm(() => "backup_codes"),
  async (page, { change }) => {
    const answer = await page.services.accounts.makeBackupCodes(change);
    switch (answer.outcome) {
      case "made": {
        const next = ownPath(page.query("next")) ?? factorsPath;
        return page.render(backupCodesView, { codes: answer.backupCodes, added: false, next });
      }
      case "unknown":
        return page.notFound();
      default:
        return refusedChange(page, answer);
    }
  },
);

async function renderFactors(page: SignedInRequest, passkeyName: string, sent: FactorsModel["sent"]): Promise<Reply> {
  const model = await factorsModel(page, passkeyName, sent);
  const path = withNext(factorsPath, model.next);
  return page.renderForm(factorsView, model, { status: sent?.state.status ?? 200, path });
}

type Removed = Awaited<ReturnType<PageServices["accounts"]["removePasskey"]>>;

/** How a factor is removed, whichever it is. */
export function removeFactor(
  formOf: (page: SignedInRequest) => FormName,
  remove: (page: SignedInRequest, change: ProtectedChange) => Promise<Removed>,
) {
  return formHandler(factorForm(formOf), async (page, { change }) => {
    const answer = await remove(page, change);
    switch (answer.outcome) {
      case "removed":
        return page.redirect(factorsPath);
      case "unknown":
        return page.notFound();
      case "last_required":
        return refused({ proof: page.messages.factors.manage.lastRequired });
      default:
        return refusedChange(page, answer);
    }
  });
}

/**
 * The codes that were created with a first factor. Answer without a redirect: they are not stored, so they can be shown only here.
 */
export function renderFirstCodes(page: SignedInRequest, codes: readonly string[]): Reply {
  // A user who was sent here for the required factor has one now, and goes on.
  const next = page.services.config.accounts.requireSecondFactor ? "/" : factorsPath;
  return page.render(backupCodesView, { codes, added: true, next });
}

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
