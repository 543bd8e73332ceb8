import { isIP } from "node:net";
import type { ChangeRefusal, PasskeyAnswer, ProtectedChange, RelyingParty } from "../../accounts/accounts.ts";
import { AppError } from "../../base/errors.ts";
import { productName } from "../../branding/branding.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import type { PageRequest, SignedInRequest } from "../request.ts";
import { refused } from "../take-form.ts";

/** The passkey's answer in this field; null: the field is empty, or passkeys do not work at this origin. */
export function passkeyAnswerOf(page: PageRequest, form: FormFields, name: string): PasskeyAnswer | null {
  const answer = textOf(form, name);
  const party = relyingPartyOf(page.baseUrl);
  return answer === "" || party === undefined ? null : { answer, party };
}

export function changeOf(page: SignedInRequest, form: FormFields): ProtectedChange {
  const proof = { typed: textOf(form, "proof"), passkey: passkeyAnswerOf(page, form, "proof_passkey") };
  return { session: page.session, client: page.clientContext, proof };
}

/** How a user can prove a change. With neither a password nor a code: only by signing in again. */
export interface ProofOffered {
  readonly password: boolean;
  /** The account has a factor: a code of the app or a backup code is accepted. */
  readonly code: boolean;
  /** A passkey of this account works at this origin. */
  readonly passkey: boolean;
}

/** @returns null: no proof is needed. */
export async function proofOffered(page: SignedInRequest): Promise<ProofOffered | null> {
  const { session } = page;
  const { accounts } = page.services;
  const needed = await accounts.proofNeeded(session);
  if (needed === "nothing") return null;
  const { passkeys } = await accounts.findFactors(session.user.id);
  const passkey = passkeys.length > 0 && relyingPartyOf(page.baseUrl) !== undefined;
  return { password: session.user.hasPassword, code: needed === "password_or_factor", passkey };
}

/** Sets Retry-After where it applies. @throws AppError not_authenticated if the session has ended meanwhile. */
export function refusedChange(page: PageRequest, refusal: ChangeRefusal) {
  switch (refusal.outcome) {
    case "proof_failed":
      return refused({ proof: page.messages.factors.proof.wrong });
    case "too_many":
      return refused({ proof: retryMessage(page, refusal.retryAfterSeconds) }, { status: 429 });
    case "session_ended":
      throw new AppError("not_authenticated", "This session has ended.");
  }
}

/** @throws AppError not_found if passkeys do not work at this origin. */
export function getRelyingParty(page: PageRequest): RelyingParty {
  return relyingPartyOf(page.baseUrl) ?? page.notFound();
}

/** Sets Retry-After. @returns the sentence that says when codes are accepted again. */
export function retryMessage(page: PageRequest, seconds: number): string {
  page.retryAfter(seconds);
  return page.messages.factors.challenge.tooMany({ count: Math.ceil(seconds / 60) });
}

/**
 * @param baseUrl the origin of this server, as the request reached it.
 * @returns undefined if browsers offer no passkeys there: they require a host name and https, or localhost.
 */
export function relyingPartyOf(baseUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  if (isIP(hostname) !== 0 || hostname.startsWith("[") || (protocol !== "https:" && !isLocal)) return undefined;
  return { id: hostname, origin, name: productName };
}
