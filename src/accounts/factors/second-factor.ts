import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import { AppError } from "../../base/errors.ts";
import type { Transaction } from "../../database/database.ts";
import type { ClientContext, Session, User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import type { SessionStarts } from "../sessions/sessions.ts";
import { type CodeAnswer, type FactorCodes, type FactorRefusal, looksLikeCode } from "./factor-codes.ts";
import type { ChallengeUse, PasskeyCeremonies, RelyingParty } from "./passkeys.ts";

/** The response of a passkey, and the site that it must belong to. */
export interface PasskeyAnswer {
  /** JSON, as the browser sent it. */
  readonly answer: string;
  readonly party: RelyingParty;
}

export interface WaitingSignIn {
  readonly session: Session;
  readonly sessionToken: string;
  readonly client: ClientContext;
}

/** "session_ended": the waiting session has ended. */
export type FactorGiven =
  | { readonly outcome: "complete"; readonly sessionToken: string }
  | { readonly outcome: "session_ended" }
  | FactorRefusal;

interface SecondFactorDeps extends Pick<AccountsDeps, "settings" | "clock"> {
  readonly codes: FactorCodes;
  readonly ceremonies: PasskeyCeremonies;
  readonly starts: Pick<SessionStarts, "startComplete">;
  readonly findUser: (userId: number) => Promise<User | undefined>;
}

export function createSecondFactor(deps: SecondFactorDeps) {
  const { codes, ceremonies, starts, findUser, settings, clock } = deps;

  /** @param attempt runs in the transaction that starts the session, after all other checks. */
  async function complete(
    waiting: WaitingSignIn,
    attempt: (tx: Transaction) => Promise<CodeAnswer>,
  ): Promise<FactorGiven> {
    const { session, sessionToken, client } = waiting;
    let answer: CodeAnswer | undefined;
    const fresh = await starts.startComplete(session.user, client, clock.now(), {
      replacesToken: sessionToken,
      provided: async (tx) => {
        answer = await attempt(tx);
        return answer.outcome === "right";
      },
    });
    if (fresh !== undefined) return { outcome: "complete", sessionToken: fresh };
    return answer === undefined || answer.outcome === "right" ? { outcome: "session_ended" } : answer;
  }

  return {
    /** Replaces the waiting session by a complete one. @param code of the authenticator app or a backup code, as typed. */
    giveCode(waiting: WaitingSignIn, code: string): Promise<FactorGiven> {
      return complete(waiting, (tx) => codes.tryCode(tx, waiting.session.user.id, code, clock.now()));
    },

    async givePasskey(waiting: WaitingSignIn, { answer, party }: PasskeyAnswer): Promise<FactorGiven> {
      const { session } = waiting;
      const use = await ceremonies.verifyUse(answer, useFor(session), party);
      if (use === undefined || use.passkey.userId !== session.user.id) return { outcome: "wrong" };
      return complete(waiting, async (tx) => ({ outcome: (await use.claim(tx)) ? "right" : "wrong" }));
    },

    /** For the second factor of a waiting session, or to reauthenticate before a change in a complete one. */
    offerOwnPasskeys: (session: Session, party: RelyingParty): Promise<PublicKeyCredentialRequestOptionsJSON> =>
      ceremonies.offerUse(session.user.id, useFor(session), party),

    /** For people who have not signed in. */
    offerAnyPasskey: (party: RelyingParty): Promise<PublicKeyCredentialRequestOptionsJSON> =>
      ceremonies.offerUse(null, { purpose: "sign_in" }, party),

    /**
     * Signs in with a passkey alone. It must have verified its user, so it counts as both factors.
     * @param persistent see `Session.cookieSeconds`.
     * @returns undefined: it is not valid, or its user may not sign in.
     */
    async signInByPasskey(
      { answer, party }: PasskeyAnswer,
      client: ClientContext,
      persistent = false,
    ): Promise<{ user: User; sessionToken: string } | undefined> {
      if (settings.loginsDisabled) return undefined;
      const use = await ceremonies.verifyUse(answer, { purpose: "sign_in" }, party);
      const user = use === undefined ? undefined : await findUser(use.passkey.userId);
      if (use === undefined || user === undefined || (settings.requiresConfirmation && user.confirmedAt === null))
        return undefined;
      const sessionToken = await starts.startComplete(user, client, clock.now(), {
        provided: use.claim,
        persistent,
      });
      return sessionToken === undefined ? undefined : { user, sessionToken };
    },
  };
}

/** The purpose of a passkey response in this session. */
export function useFor(session: Session): ChallengeUse {
  return { purpose: session.waitsForFactor ? "second_factor" : "confirm", sessionId: session.id };
}

/** Proves during a session that its owner makes a change. */
export interface Proof {
  /** The password, a code of the authenticator app, or a backup code; "" with a passkey. */
  readonly typed: string;
  readonly passkey: PasskeyAnswer | null;
}

export type Reauthenticate = (session: Session, proof: Proof, client: ClientContext) => Promise<CodeAnswer>;

export function createReauthentication(
  deps: Pick<AccountsDeps, "db" | "clock"> & {
    readonly codes: FactorCodes;
    readonly ceremonies: PasskeyCeremonies;
    readonly checkPassword: (userId: number, password: string, client: ClientContext) => Promise<boolean>;
  },
): Reauthenticate {
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
    // Some passwords look like a code. Both attempts are counted, so trying both bypasses neither limit.
    const asPassword = await byPassword(session, typed, client);
    return asPassword.outcome === "right" ? asPassword : byCode;
  };
}
