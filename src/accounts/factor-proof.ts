import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { Database } from "../database/database.ts";
import type { ClientContext, Session } from "./account.ts";
import { type CodeAnswer, type FactorCodes, looksLikeCode } from "./factor-codes.ts";
import type { PasskeyCeremonies } from "./passkeys.ts";
import { type PasskeyAnswer, useFor } from "./second-factor.ts";

/** Shows again who it is, in the middle of a session. */
export interface Proof {
  /** The password, a code of the authenticator app, or a backup code, in one field; "" when a passkey answers. */
  readonly typed: string;
  readonly passkey: PasskeyAnswer | null;
}

export type ProveAgain = (session: Session, proof: Proof, client: ClientContext) => Promise<CodeAnswer>;

export function createProveAgain(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly codes: FactorCodes;
  readonly ceremonies: PasskeyCeremonies;
  readonly checkPassword: (userId: number, password: string, client: ClientContext) => Promise<boolean>;
}): ProveAgain {
  const { db, clock, codes, ceremonies } = deps;

  async function byPasskey(session: Session, { answer, party }: PasskeyAnswer): Promise<CodeAnswer> {
    const use = await ceremonies.verifyUse(answer, useFor(session), party);
    const right =
      use !== undefined && use.passkey.userId === session.user.id && (await db.writeSerialized("accounts", use.claim));
    return { outcome: right ? "right" : "wrong" };
  }

  async function byPassword(session: Session, password: string, client: ClientContext): Promise<CodeAnswer> {
    if (!session.user.hasPassword || password === "") return { outcome: "wrong" };
    try {
      return { outcome: (await deps.checkPassword(session.user.id, password, client)) ? "right" : "wrong" };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "too_many_requests") throw error;
      return { outcome: "too_many", retryAfterSeconds: error.retryAfterSeconds ?? 60 };
    }
  }

  return async (session, { typed, passkey }, client) => {
    if (passkey !== null) return byPasskey(session, passkey);
    if (!looksLikeCode(typed)) return byPassword(session, typed, client);
    const byCode = await db.writeSerialized("accounts", (tx) => codes.tryCode(tx, session.user.id, typed, clock.now()));
    if (byCode.outcome === "right") return byCode;
    // Some passwords look like a code. Each is counted where it was tried, so trying both is no way around either count.
    const asPassword = await byPassword(session, typed, client);
    return asPassword.outcome === "right" ? asPassword : byCode;
  };
}
