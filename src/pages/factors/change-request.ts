import type { FastifyReply, FastifyRequest } from "fastify";
import type { Accounts, ChangeRefusal, FactorChange, Factors, PasskeyAnswer } from "../../accounts/accounts.ts";
import { AppError } from "../../base/errors.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { clientContextOf, sessionOf } from "../page-scope.ts";
import type { ProofOffered } from "./proof.tsx";
import { relyingPartyOf } from "./relying-party.ts";

/** What a passkey said, in the field of that name; null: it was not asked, or none can be used here. */
export function passkeyAnswerOf(request: FastifyRequest, form: FormFields, name: string): PasskeyAnswer | null {
  const answer = textOf(form, name);
  const party = relyingPartyOf(request.baseUrl);
  return answer === "" || party === undefined ? null : { answer, party };
}

export function changeOf(request: FastifyRequest, form: FormFields): FactorChange {
  const proof = { typed: textOf(form, "proof"), passkey: passkeyAnswerOf(request, form, "proof_passkey") };
  return { session: sessionOf(request), client: clientContextOf(request), proof };
}

/** @returns what the person can show before a change; null: nothing has to be shown. */
export async function proofOffered(
  request: FastifyRequest,
  factors: Factors,
  accounts: Pick<Accounts, "proofNeeded">,
): Promise<ProofOffered | null> {
  const session = sessionOf(request);
  const needed = await accounts.proofNeeded(session);
  if (needed === "nothing") return null;
  const passkey = factors.passkeys.length > 0 && relyingPartyOf(request.baseUrl) !== undefined;
  return { password: session.user.hasPassword, code: needed === "password_or_factor", passkey };
}

/** How a change that was not made is answered, where its own page is shown again. */
export interface RefusedChange {
  readonly status: number;
  readonly message: string;
}

/** @throws AppError not_authenticated when the session has ended meanwhile. */
export function refusedChange(refusal: ChangeRefusal, reply: FastifyReply, { factors }: Messages): RefusedChange {
  switch (refusal.outcome) {
    case "unproven":
      return { status: 422, message: factors.proof.wrong };
    case "too_many":
      return { status: 429, message: tellWait(refusal.retryAfterSeconds, reply, { factors }) };
    case "over":
      throw new AppError("not_authenticated", "This session has ended.");
  }
}

/** Says in the answer's header, and in messages, when codes are tried again. */
export function tellWait(seconds: number, reply: FastifyReply, { factors }: Pick<Messages, "factors">): string {
  reply.header("retry-after", String(seconds));
  return factors.challenge.tooMany({ count: Math.ceil(seconds / 60) });
}
