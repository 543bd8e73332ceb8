import { type Clock, hourMs } from "../../base/clock.ts";
import { normalizeEmail } from "../../base/email.ts";
import { AppError } from "../../base/errors.ts";
import { digest, equalDigests } from "../../crypto/digests.ts";
import type { Argon2Queue } from "../../crypto/passphrase.ts";
import { readCode } from "../../crypto/readable-code.ts";
import type { Database } from "../../database/database.ts";
import { type Limits, tooManyAttempts } from "../../limits/limits.ts";
import type { ClientContext, User } from "../account.ts";
import type { AccountsDeps, BootCodeFile } from "../deps.ts";
import type { SessionStarts } from "../sessions/sessions.ts";
import { type PasswordProblem, passwordProblem } from "../sign-in/password-rules.ts";
import type { UserStore } from "../store/users.ts";

export interface FirstRunProblems {
  readonly bootCode?: "wrong";
  readonly email?: "malformed";
  readonly password?: PasswordProblem;
}

export type FirstRunOutcome =
  | { readonly outcome: "made"; readonly user: User; readonly sessionToken: string }
  | { readonly outcome: "refused"; readonly problems: FirstRunProblems }
  /** There is a user already. */
  | { readonly outcome: "over" };

interface Deps {
  readonly db: Database;
  readonly users: UserStore;
  readonly clock: Clock;
  readonly argon2: Pick<Argon2Queue, "hashPassword">;
  readonly settings: AccountsDeps["settings"];
  readonly bootCodeFile: BootCodeFile;
  readonly limits: Limits;
  readonly startSession: SessionStarts["start"];
}

const wrongCodes = { name: "boot code", windowMs: hourMs, max: 20, rememberedMax: 10_000 };

export function createFirstAdministrator(deps: Deps) {
  const { db, users, clock, argon2, settings, bootCodeFile } = deps;
  const attempts = deps.limits.inWindows(wrongCodes);

  /** The code has 125 bits: the limit only saves work. Charged first, so that parallel guesses gain nothing. */
  async function chargeAttempt(client: string, now: number): Promise<() => Promise<void>> {
    const charge = await attempts.charge(client, now);
    if (charge.outcome === "refused") throw tooManyAttempts(charge);
    return charge.refund;
  }

  function isRight(typed: string): boolean {
    const code = bootCodeFile.read();
    const [given, expected] = [readCode(typed), code === undefined ? undefined : readCode(code)];
    return given !== undefined && expected !== undefined && equalDigests(digest(given), digest(expected));
  }

  async function isOver(): Promise<boolean> {
    if (!(await users.hadAnyUser())) return false;
    bootCodeFile.remove();
    return true;
  }

  return {
    /**
     * Runs at the start of the server: writes the boot code file while there is no user, and removes it otherwise.
     * @param code the same in all processes that use this database.
     * @returns whether the first run is possible.
     */
    async openFirstRun(code: string): Promise<boolean> {
      if ((await isOver()) || settings.loginsDisabled) return false;
      if (bootCodeFile.read() !== code) {
        bootCodeFile.remove();
        bootCodeFile.make(code);
      }
      return true;
    },

    /** Whether there is no user, not even a disabled one. */
    isFirstRun: async (): Promise<boolean> => !(await isOver()),

    /**
     * Creates the first administrator. If several people have the code, only one of them succeeds.
     * @throws AppError forbidden (signing in is disabled), too_many_requests, unavailable.
     */
    async createFirstAdministrator({
      bootCode,
      email: typed,
      password,
      client,
    }: {
      bootCode: string;
      email: string;
      password: string;
      client: ClientContext;
    }): Promise<FirstRunOutcome> {
      if (settings.loginsDisabled) throw new AppError("forbidden", "Sign-in is turned off on this server.");
      if (await isOver()) return { outcome: "over" };
      const now = clock.now();
      const refund = await chargeAttempt(client.throttleKey, now);
      // Checked first: the other problems are only reported to somebody who has the code.
      if (!isRight(bootCode)) return { outcome: "refused", problems: { bootCode: "wrong" } };
      await refund();
      const email = normalizeEmail(typed);
      const problem = passwordProblem(password, email ?? "");
      if (email === undefined || problem !== undefined) {
        const problems = {
          ...(email === undefined && { email: "malformed" as const }),
          ...(problem !== undefined && { password: problem }),
        };
        return { outcome: "refused", problems };
      }
      const passwordHash = await argon2.hashPassword(password, client.throttleKey);
      const user = await db.writeSerialized("accounts", async (tx) =>
        (await users.hasAnyUser(tx))
          ? undefined
          : users.insert(tx, { email, passwordHash, admin: true, confirmed: true, language: null, now }),
      );
      bootCodeFile.remove();
      if (user === undefined) return { outcome: "over" };
      const sessionToken = await deps.startSession(user, client, now);
      if (sessionToken === undefined) throw new AppError("forbidden", "This account may not sign in.");
      return { outcome: "made", user, sessionToken };
    },
  };
}
