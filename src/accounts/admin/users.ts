import { normalizeEmail } from "../../base/email.ts";
import { AppError, invalidFields } from "../../base/errors.ts";
import type { InTransaction } from "../../database/database.ts";
import type { User } from "../account.ts";
import { putMailedLink } from "../account-emails.ts";
import type { AccountsDeps } from "../deps.ts";
import { passwordProblem, passwordSentences } from "../sign-in/password-rules.ts";
import type { MailedLinkStore } from "../store/mailed-links.ts";
import type { UserStore } from "../store/users.ts";

/** Key of operators in the Argon2 queue: not a network address, so no client can share it. */
export const operator = "operator";

interface Deps extends Pick<AccountsDeps, "random" | "access" | "requestedOutbox" | "clock" | "argon2" | "settings"> {
  readonly store: UserStore;
  readonly links: MailedLinkStore;
}

/** 24 characters. */
const randomPasswordBytes = 18;

export function createUsers(deps: Deps) {
  const { store, clock, random, argon2, settings, requestedOutbox: outbox } = deps;
  /** For a new user: an operator hands it over, or nobody ever knows it. */
  const makePassword = () => random.bytes(randomPasswordBytes).toString("base64url");

  const users = {
    makePassword,

    /**
     * For operators: the address counts as confirmed. @param request `password` null: for single sign-on alone. @param together written in the same transaction.
     * @throws AppError invalid_fields on `email` (malformed, taken) or `password` (password-rules.ts).
     */
    async createUser(
      request: { email: string; password: string | null; admin: boolean },
      together?: (made: User) => InTransaction,
    ): Promise<User> {
      const now = clock.now();
      const email = normalizeEmail(request.email);
      const { password } = request;
      const problem = password === null ? undefined : passwordProblem(password, email ?? "");
      if (email === undefined || problem !== undefined) {
        throw invalidFields({
          ...(email === undefined && { email: ["This is not an email address."] }),
          ...(problem !== undefined && { password: [passwordSentences[problem]] }),
        });
      }
      const passwordHash = password === null ? "" : await argon2.hashPassword(password, operator);
      const user = await store.insertUser(
        { email, passwordHash, now, admin: request.admin, confirmed: true, language: null, isUnused: true },
        together,
      );
      if (user === undefined) throw invalidFields({ email: ["This email address is taken."] });
      return user;
    },

    async findUserByEmail(email: string): Promise<User | undefined> {
      const address = normalizeEmail(email);
      return address === undefined ? undefined : (await store.findUserByEmail(address))?.user;
    },

    /** See `isBreakGlassIn`. */
    isBreakGlass: (userId: number): Promise<boolean> => store.isBreakGlass(userId),

    findUser: (userId: number): Promise<User | undefined> => store.findUser(userId),

    /** Invitations can be mailed: a mail server is configured, and accounts have passwords. */
    invitesUsers: outbox.open && !settings.signOnOnly,

    /**
     * Creates a user as `createUser`, who gets a link by email to choose the password.
     * @param request `language` of the email; null: the server's default. @throws AppError as `createUser`, and forbidden (this server sends no emails).
     */
    async inviteUser(
      request: { email: string; admin: boolean; language: string | null },
      together: (made: User) => InTransaction,
    ): Promise<User> {
      if (!outbox.open) throw new AppError("forbidden", "This server sends no emails.");
      if (settings.signOnOnly) throw new AppError("forbidden", "Accounts of this server have no passwords.");
      const { language, ...wanted } = request;
      return await users.createUser({ ...wanted, password: makePassword() }, (made) => async (tx) => {
        await together(made)(tx);
        await putMailedLink({ ...deps, outbox }, tx, made, { purpose: "invitation", language, now: made.createdAt });
      });
    },
  };
  return users;
}
