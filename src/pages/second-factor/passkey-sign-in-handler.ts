import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendJson, sendPage } from "../../http/headers.ts";
import { enter } from "../entry.ts";
import { passkeyAnswerOf } from "../factors/change-request.ts";
import { getRelyingParty } from "../factors/passkey-handler.ts";
import { passkeySignInOptionsPath, passkeySignInPath } from "../factors/paths.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, type PageDeps, pageContext } from "../page-scope.ts";
import { ownPath } from "../return-path.ts";
import { passkeyRefusedView } from "./passkey-refused-view.tsx";

/** Signing in by a passkey alone, from the sign-in page. */
export function registerPasskeySignIn(server: FastifyInstance, deps: PageDeps): void {
  const changing = { access: "page", changesState: true } as const;
  server.post(passkeySignInOptionsPath, { config: changing }, async (request, reply) => {
    refuseWithoutLogins(deps);
    return sendJson(reply, 200, await deps.accounts.offerAnyPasskey(getRelyingParty(request)));
  });
  server.post(passkeySignInPath, { config: changing }, (request, reply) => signIn(request, reply, deps));
}

async function signIn(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  refuseWithoutLogins(deps);
  const form = await receiveForm(request, deps.bodyBudget);
  const next = ownPath(textOf(form, "next"));
  const passkey = passkeyAnswerOf(request, form, "passkey");
  const signedIn =
    passkey === null ? undefined : await deps.accounts.signInByPasskey(passkey, clientContextOf(request));
  if (signedIn === undefined) {
    return sendPage(reply, 401, renderPage(passkeyRefusedView({ next }, pageContext(request, deps, null))));
  }
  return enter(signedIn.sessionToken, next ?? "/", request, reply, deps);
}

function refuseWithoutLogins({ config }: PageDeps): void {
  if (config.accounts.loginsDisabled) throw new AppError("forbidden", "Sign-in is turned off on this server.");
}
