import type { Transaction } from "../../database/database.ts";
import type { ClientContext, Session, User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import { isFreshSession } from "../sign-in/passwords.ts";
import type { FactorStore } from "../store/factors.ts";
import type { PasskeyStore } from "../store/passkeys.ts";
import type { FactorRefusal } from "./factor-codes.ts";
import type { Proof, Reauthenticate } from "./second-factor.ts";

/** A change that gives permanent access, such as another factor, an API token or an administrator's action on a user. */
export interface ProtectedChange {
  readonly session: Session;
  readonly client: ClientContext;
  /** Proves that the owner makes the change, and not another person at an unattended screen. See `proofNeeded`. */
  readonly proof: Proof;
}

/**
 * Before the first factor, a fresh session is enough. An older one needs the password: a passkey added at an unattended
 * screen would give permanent access. Once the account has a factor, each change needs the password or any factor.
 * "sign_in_again": the session is not fresh and the account has no password.
 */
type ProofNeeded = "nothing" | "password" | "sign_in_again" | "password_or_factor";

/** Possible for every change. "proof_failed": the proof is missing or wrong. "session_ended": the session ended meanwhile. */
export type ChangeRefusal =
  | { readonly outcome: "proof_failed" | "session_ended" }
  | Extract<FactorRefusal, { readonly outcome: "too_many" }>;

export type ProtectedChanges = ReturnType<typeof createProtectedChanges>;

export function createProtectedChanges(
  deps: Pick<AccountsDeps, "db" | "clock" | "settings"> & {
    readonly factors: FactorStore;
    readonly passkeys: PasskeyStore;
    readonly reauthenticate: Reauthenticate;
  },
) {
  const { db, clock, factors, passkeys } = deps;
  const { signOnOnly } = deps.settings;

  /** The proof that a protected change needs in this session. */
  async function proofNeeded(session: Session): Promise<ProofNeeded> {
    if (signOnOnly) return isFreshSession(session, clock.now()) ? "nothing" : "sign_in_again";
    const { id, hasPassword, hasSecondFactor } = session.user;
    const [{ appAddedAt }, listed] = await Promise.all([factors.findFactors(id), passkeys.listPasskeys(id)]);
    if (hasSecondFactor || appAddedAt !== null || listed.length > 0) return "password_or_factor";
    if (isFreshSession(session, clock.now())) return "nothing";
    return hasPassword ? "password" : "sign_in_again";
  }

  /**
   * Checks the proof, then runs `work` in a transaction with the accounts lock, if the session still exists.
   * @throws AppError unavailable.
   */
  async function change<Result>(
    { session, proof, client }: ProtectedChange,
    work: (tx: Transaction, user: User, now: number) => Promise<Result>,
  ): Promise<Result | ChangeRefusal> {
    const { user } = session;
    let isProven = false;
    if ((await proofNeeded(session)) !== "nothing") {
      if (signOnOnly) return { outcome: "proof_failed" };
      const answer = await deps.reauthenticate(session, proof, client);
      if (answer.outcome === "too_many") return answer;
      if (answer.outcome !== "right") return { outcome: "proof_failed" };
      isProven = true;
    }
    return db.writeSerialized("accounts", async (tx): Promise<Result | ChangeRefusal> => {
      if (!(await factors.isSessionComplete(tx, session.id, user.id))) return { outcome: "session_ended" };
      // A factor may have been added since the proof was checked.
      if (!isProven && !signOnOnly && (await factors.countFactors(tx, user.id)) > 0) return { outcome: "proof_failed" };
      return work(tx, user, clock.now());
    });
  }

  return {
    proofNeeded,
    change,
    /** For a change that another room makes, or another transaction: checks only the proof. */
    confirmChange: (asked: ProtectedChange): Promise<{ readonly outcome: "proven" } | ChangeRefusal> =>
      change(asked, async () => ({ outcome: "proven" }) as const),
  };
}
