import type { FastifyReply } from "fastify";
import type { SignedInRequest } from "../request.ts";
import { ownPath, withNext } from "../return-path.ts";
import { backupCodesView } from "./backup-codes.tsx";
import { changeOf, proofOffered, type RefusedChange, refusedChange, relyingPartyOf } from "./changes.ts";
import { type FactorsModel, type FormName, hasFactor } from "./model.ts";
import { factorsPath } from "./paths.ts";
import { factorsView } from "./view.tsx";

/** `GET /users/factors` */
export function showFactors(page: SignedInRequest): Promise<FastifyReply> {
  return renderFactors(page, 200, {});
}

/** `POST /users/factors/backup_codes` */
export async function createBackupCodes(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const answer = await page.services.accounts.makeBackupCodes(changeOf(page, form));
  switch (answer.outcome) {
    case "made":
      return page.render(backupCodesView, {
        codes: answer.backupCodes,
        added: false,
        next: nextOf(page) ?? factorsPath,
      });
    case "unknown":
      return page.notFound();
    default:
      return renderRefused(page, "backup_codes", refusedChange(page, answer));
  }
}

/** The page that a user without backup codes was on the way to when signing in. */
const nextOf = (page: SignedInRequest) => ownPath(page.query("next"));

type Shown = Partial<Pick<FactorsModel, "passkeyName" | "problem">>;

export async function renderFactors(page: SignedInRequest, status: number, shown: Shown): Promise<FastifyReply> {
  const { accounts, config } = page.services;
  const factors = await accounts.findFactors(page.user.id);
  const proof = await proofOffered(page);
  const model: FactorsModel = {
    passkeyName: "",
    problem: null,
    ...shown,
    ...factors,
    proof,
    next: nextOf(page),
    required: !hasFactor(factors) && config.accounts.requireSecondFactor,
    passkeysPossible: relyingPartyOf(page.baseUrl) !== undefined,
  };
  return page.render(factorsView, model, { status, selfPath: page.isGet ? withNext(factorsPath, model.next) : null });
}

/** The page again, with the problem at the proof of this form. */
export function renderRefused(
  page: SignedInRequest,
  form: FormName,
  { status, message }: RefusedChange,
  shown: Shown = {},
): Promise<FastifyReply> {
  return renderFactors(page, status, { ...shown, problem: { form, at: "proof", message } });
}

/**
 * The codes that were created with a first factor. Answer without a redirect: they are not stored, so they can be shown only here.
 */
export function renderFirstCodes(page: SignedInRequest, codes: readonly string[]): FastifyReply {
  // A user who was sent here for the required factor has one now, and goes on.
  const next = page.services.config.accounts.requireSecondFactor ? "/" : factorsPath;
  return page.render(backupCodesView, { codes, added: true, next });
}
