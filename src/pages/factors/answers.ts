import type { FastifyReply, FastifyRequest } from "fastify";
import { sendPage } from "../../http/headers.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext, userOf } from "../page-scope.ts";
import { backupCodesView } from "./backup-codes.tsx";
import { proofOffered, type RefusedChange } from "./change-request.ts";
import { type FactorsModel, type FormName, hasFactor } from "./model.ts";
import { factorsPath } from "./paths.ts";
import { relyingPartyOf } from "./relying-party.ts";
import { factorsView } from "./view.tsx";

/** Open to people who lack a required factor: they come here for one. */
export const readingFactors = { access: "page_session", changesState: false, beforeFactor: true } as const;
export const changingFactors = { access: "page_session", changesState: true, beforeFactor: true } as const;

type Shown = Partial<Pick<FactorsModel, "passkeyName" | "problem">>;

export async function sendFactors(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  shown: Shown,
): Promise<FastifyReply> {
  const factors = await deps.accounts.findFactors(userOf(request).id);
  const proof = await proofOffered(request, factors, deps.accounts);
  const model: FactorsModel = {
    ...{ passkeyName: "", problem: null, ...shown, ...factors, proof },
    required: !hasFactor(factors) && deps.config.accounts.requireSecondFactor,
    passkeysPossible: relyingPartyOf(request.baseUrl) !== undefined,
  };
  const page = pageContext(request, deps, request.method === "GET" ? factorsPath : null);
  return sendPage(reply, status, renderPage(factorsView(model, page)));
}

/** The page again, with what was wrong at the proof of that form. */
export function sendRefused(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  form: FormName,
  { status, message }: RefusedChange,
  shown: Shown = {},
): Promise<FastifyReply> {
  return sendFactors(request, reply, deps, status, { ...shown, problem: { form, at: "proof", message } });
}

/** Answered at once instead of by a redirect: this answer is the only place the codes ever stand. */
export function sendBackupCodes(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  made: { readonly codes: readonly string[]; readonly added: boolean },
): FastifyReply {
  const page = pageContext(request, deps, null);
  // Whoever was sent here for a factor has one now, and goes on.
  const next = made.added && deps.config.accounts.requireSecondFactor ? "/" : factorsPath;
  return sendPage(reply, 200, renderPage(backupCodesView({ ...made, next }, page)));
}
