import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { passkeyNameCharactersMax, type RelyingParty } from "../../accounts/accounts.ts";
import { AppError } from "../../base/errors.ts";
import { nameOf } from "../../branding/branding.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendJson } from "../../http/headers.ts";
import { goTo } from "../answers.ts";
import { idOf, type PageDeps, pageContext, sessionOf } from "../page-scope.ts";
import { changingFactors, sendBackupCodes, sendFactors, sendRefused } from "./answers.ts";
import { changeOf, passkeyAnswerOf, refusedChange } from "./change-request.ts";
import type { FactorsProblem } from "./model.ts";
import { factorsPath, newPasskeyOptionsPath, passkeysPath, proofOptionsPath, removePasskeyPath } from "./paths.ts";
import { relyingPartyOf } from "./relying-party.ts";

export function registerPasskeyPages(server: FastifyInstance, deps: PageDeps): void {
  server.post(newPasskeyOptionsPath, { config: changingFactors }, async (request, reply) =>
    sendJson(reply, 200, await deps.accounts.offerPasskey(sessionOf(request), namedRelyingParty(request, deps))),
  );
  server.post(proofOptionsPath, { config: changingFactors }, async (request, reply) =>
    sendJson(reply, 200, await deps.accounts.offerOwnPasskeys(sessionOf(request), getRelyingParty(request))),
  );
  server.post(passkeysPath, { config: changingFactors }, (request, reply) => addPasskey(request, reply, deps));
  server.post(removePasskeyPath(":id"), { config: changingFactors }, (request, reply) =>
    removePasskey(request, reply, deps),
  );
}

/** @throws AppError not_found: no passkey can be used at this address of the server. */
export function getRelyingParty(request: FastifyRequest): RelyingParty {
  const party = relyingPartyOf(request.baseUrl);
  if (party === undefined) throw new AppError("not_found", "not-found");
  return party;
}

/** Browsers show the name beside a new passkey; nothing is checked against it later. */
function namedRelyingParty(request: FastifyRequest, { branding }: PageDeps): RelyingParty {
  return { ...getRelyingParty(request), name: nameOf(branding.theme()) };
}

async function addPasskey(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const page = pageContext(request, deps, null);
  const { passkeys } = page.messages.factors;
  const passkeyName = textOf(form, "name");
  const party = getRelyingParty(request);
  const given = passkeyAnswerOf(request, form, "passkey") ?? { answer: "", party };
  const answer = await deps.accounts.addPasskey(changeOf(request, form), { ...given, name: passkeyName });
  const again = (at: FactorsProblem["at"], message: string) =>
    sendFactors(request, reply, deps, 422, { passkeyName, problem: { form: "add_passkey", at, message } });
  switch (answer.outcome) {
    case "added":
      if (answer.backupCodes === null) return goTo(factorsPath, request, reply, deps);
      return sendBackupCodes(request, reply, deps, { codes: answer.backupCodes, added: true });
    case "bad_name":
      return again("name", passkeys.nameProblem({ max: passkeyNameCharactersMax }));
    case "bad_passkey":
      return again("form", passkeys.bad);
    case "too_many_passkeys":
      return again("form", passkeys.tooMany);
    default: {
      const refused = refusedChange(answer, reply, page.messages);
      return sendRefused(request, reply, deps, "add_passkey", refused, { passkeyName });
    }
  }
}

async function removePasskey(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const page = pageContext(request, deps, null);
  const id = idOf(request);
  if (id === undefined) throw new AppError("not_found", "not-found");
  const answer = await deps.accounts.removePasskey(changeOf(request, form), id);
  switch (answer.outcome) {
    case "removed":
      return goTo(factorsPath, request, reply, deps);
    case "unknown":
      throw new AppError("not_found", "not-found");
    case "last_required":
      return sendRefused(request, reply, deps, `remove_passkey_${id}`, {
        ...{ status: 422, message: page.messages.factors.manage.lastRequired },
      });
    default:
      return sendRefused(request, reply, deps, `remove_passkey_${id}`, refusedChange(answer, reply, page.messages));
  }
}
