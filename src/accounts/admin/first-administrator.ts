import { hourMs } from "../../base/clock.ts";
import { normalizeEmail } from "../../base/email.ts";
import { AppError } from "../../base/errors.ts";
import { makeReadableCode, readCode } from "../../crypto/readable-code.ts";
import { tooManyAttempts } from "../../limits/limits.ts";
import type { ClientContext, User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import type { SessionStarts } from "../sessions/sessions.ts";
import { type PasswordProblem, passwordProblem } from "../sign-in/password-rules.ts";
import { addBootCode, endFirstRun, isBootCode, isFirstRunOver } from "../store/first-run.ts";
import type { UserStore } from "../store/users.ts";

export interface FirstRunProblems {
  readonly bootCode?: "wrong";
  readonly email?: "malformed";
  readonly password?: PasswordProblem;
}

export type FirstRunOutcome =
  | { readonly outcome: "made"; readonly user: User; readonly sessionToken: string }
  | { readonly outcome: "refused"; readonly problems: FirstRunProblems }
  /** A user exists or has existed. */
  | { readonly outcome: "over" };

interface Deps extends Pick<AccountsDeps, "db" | "clock" | "random" | "argon2" | "settings" | "access" | "limits"> {
  readonly users: UserStore;
  readonly startSession: SessionStarts["start"];
}

const wrongCodes = { name: "boot code", windowMs: hourMs, max: 20, rememberedMax: 20_000 };

function firstRunParts(deps: Deps) {
  const { db } = deps;
  const attempts = deps.limits.inWindows(wrongCodes);

  /** The code has 125 bits: the limit only saves work. Charged first, so that parallel guesses gain nothing. */
  async function chargeAttempt(client: string, now: number): Promise<() => Promise<void>> {
    const charge = await attempts.charge(client, now);
    if (charge.outcome === "refused") throw tooManyAttempts(charge);
    return charge.refund;
  }

  async function isRight(typed: string): Promise<boolean> {
    const code = readCode(typed);
    return code !== undefined && (await isBootCode(db.read, deps.access.digest("boot_code", code)));
  }

  return { ...deps, chargeAttempt, isRight, deps };
}

type FirstRunParts = ReturnType<typeof firstRunParts>;

function bootCodes({ db, settings, deps }: FirstRunParts) {
  return {
    /**
     * Runs at the start of the server. Stores only the code's digest.
     * @returns a new boot code for the operator; undefined: the first run is over, or nobody can sign in.
     */
    async openFirstRun(): Promise<string | undefined> {
      // With single sign-on alone, an operator creates the first administrator by a command.
      if (settings.loginsDisabled || settings.signOnOnly) return undefined;
      const code = makeReadableCode(deps.random);
      return db.writeSerialized("accounts", async (tx) => {
        if (await isFirstRunOver(tx)) return undefined;
        await addBootCode(tx, deps.access.digest("boot_code", readCode(code) ?? code));
        return code;
      });
    },

    isFirstRun: async (): Promise<boolean> => !(await isFirstRunOver(db.read)),
  };
}

function firstAccount({ db, users, clock, argon2, settings, chargeAttempt, isRight, deps }: FirstRunParts) {
  return {
    /**
     * Creates the first administrator. If several people have the code, only one of them succeeds.
     * @throws AppError forbidden (signing in is disabled), too_many_requests, unavailable.
     */
    async createFirstAdministrator(given: {
      bootCode: string;
      email: string;
      password: string;
      client: ClientContext;
    }): Promise<FirstRunOutcome> {
      const { bootCode, email: typed, password, client } = given;
      if (settings.loginsDisabled) throw new AppError("forbidden", "Sign-in is turned off on this server.");
      if (await isFirstRunOver(db.read)) return { outcome: "over" };
      const now = clock.now();
      const refund = await chargeAttempt(client.throttleKey, now);
      // Checked first: the other problems are only reported to somebody who has the code.
      if (!(await isRight(bootCode))) return { outcome: "refused", problems: { bootCode: "wrong" } };
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
      const user = await db.writeSerialized("accounts", async (tx) => {
        if (await isFirstRunOver(tx)) return undefined;
        await endFirstRun(tx);
        return users.insert(tx, { email, passwordHash, admin: true, confirmed: true, language: null, now });
      });
      if (user === undefined) return { outcome: "over" };
      const sessionToken = await deps.startSession(user, client, now);
      if (sessionToken === undefined) throw new AppError("forbidden", "This account may not sign in.");
      return { outcome: "made", user, sessionToken };
    },
  };
}

export function createFirstAdministrator(deps: Deps) {
  const shared = firstRunParts(deps);
  return { ...bootCodes(shared), ...firstAccount(shared) };
}
