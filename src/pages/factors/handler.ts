import type { PasskeyAnswer, ProtectedChange } from "../../accounts/accounts.ts";
import { textOf } from "../../http/body/form-fields.ts";
import type { PageServices, Reply, SignedInRequest } from "../request.ts";
import { ownPath, withNext } from "../return-path.ts";
import { type FormDeclaration, formHandler, refused } from "../take-form.ts";
import { backupCodesView } from "./backup-codes.tsx";
import { changeOf, passkeyAnswerOf, refusedChange } from "./changes.ts";
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
export function factorForm(
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
