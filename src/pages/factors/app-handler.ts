import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { nameOf } from "../../branding/branding.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo } from "../answers.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext, sessionOf } from "../page-scope.ts";
import { changingFactors, readingFactors, sendBackupCodes, sendRefused } from "./answers.ts";
import { type AppModel, appView } from "./app-view.tsx";
import { changeOf, proofOffered, refusedChange, tellWait } from "./change-request.ts";
import { appPath, factorsPath, removeAppPath } from "./paths.ts";

export function registerAppPages(server: FastifyInstance, deps: PageDeps): void {
  server.get(appPath, { config: readingFactors }, (request, reply) => sendApp(request, reply, deps, 200, "", null));
  server.post(appPath, { config: changingFactors }, (request, reply) => addApp(request, reply, deps));
  server.post(removeAppPath, { config: changingFactors }, (request, reply) => removeApp(request, reply, deps));
}

async function addApp(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const page = pageContext(request, deps, null);
  const { app } = page.messages.factors;
  const setUp = textOf(form, "set_up");
  const change = changeOf(request, form);
  const answer = await deps.accounts.addAuthenticatorApp(change, { setUp, code: textOf(form, "code") });
  const again = (status: number, problem: NonNullable<AppModel["problem"]>) =>
    sendApp(request, reply, deps, status, setUp, problem);
  switch (answer.outcome) {
    case "added":
      if (answer.backupCodes === null) return goTo(factorsPath, request, reply, deps);
      return sendBackupCodes(request, reply, deps, { codes: answer.backupCodes, added: true });
    case "wrong_code":
      return again(422, { at: "code", message: app.wrong });
    case "stale":
      return again(422, { at: "form", message: app.stale });
    case "too_many":
      return again(429, { at: "form", message: tellWait(answer.retryAfterSeconds, reply, page.messages) });
    default: {
      const { status, message } = refusedChange(answer, reply, page.messages);
      return again(status, { at: "proof", message });
    }
  }
}

/** @param setUp of the offer to show again; one that is none, or has run out, gives way to a new one. */
async function sendApp(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  setUp: string,
  problem: AppModel["problem"],
): Promise<FastifyReply> {
  const session = sessionOf(request);
  const factors = await deps.accounts.findFactors(session.user.id);
  // Named by the server, so that codes of two servers stay apart in one app.
  const issuer = `${issuerName(deps)} (${new URL(request.baseUrl).hostname})`;
  const offer = deps.accounts.offerAuthenticatorApp(session, issuer, setUp);
  const proof = await proofOffered(request, factors, deps.accounts);
  const model = { ...offer, problem, proof, replaces: factors.appAddedAt !== null };
  const page = pageContext(request, deps, request.method === "GET" ? appPath : null);
  return sendPage(reply, status, renderPage(appView(model, page)));
}

/** In the address of the QR code a colon ends the issuer. */
function issuerName({ branding }: PageDeps): string {
  return nameOf(branding.theme()).replaceAll(":", " ");
}

async function removeApp(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const page = pageContext(request, deps, null);
  const answer = await deps.accounts.removeAuthenticatorApp(changeOf(request, form));
  switch (answer.outcome) {
    case "removed":
      return goTo(factorsPath, request, reply, deps);
    case "unknown":
      throw new AppError("not_found", "not-found");
    case "last_required":
      return sendRefused(request, reply, deps, "remove_app", {
        ...{ status: 422, message: page.messages.factors.manage.lastRequired },
      });
    default:
      return sendRefused(request, reply, deps, "remove_app", refusedChange(answer, reply, page.messages));
  }
}
