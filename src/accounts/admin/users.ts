import type { Clock } from "../../base/clock.ts";
import { normalizeEmail } from "../../base/email.ts";
import { invalidFields } from "../../base/errors.ts";
import type { Argon2Queue } from "../../crypto/passphrase.ts";
import type { InTransaction } from "../../database/database.ts";
import type { User } from "../account.ts";
import { passwordProblem, passwordSentences } from "../sign-in/password-rules.ts";
import type { UserStore } from "../store/users.ts";

/** Key of operators in the Argon2 queue: not a network address, so no client can share it. */
export const operator = "operator";

interface Deps {
  readonly store: UserStore;
  readonly clock: Clock;
  readonly argon2: Pick<Argon2Queue, "hashPassword">;
}

export function createUsers({ store, clock, argon2 }: Deps) {
  return {
    /**
     * For operators: the address counts as confirmed. @param together written in the same transaction.
     * @throws AppError invalid_fields on `email` (malformed, taken) or `password` (password-rules.ts).
     */
    async createUser(
      request: { email: string; password: string; admin: boolean },
      together?: (made: User) => InTransaction,
    ): Promise<User> {
      const now = clock.now();
      const email = normalizeEmail(request.email);
      const problem = passwordProblem(request.password, email ?? "");
      if (email === undefined || problem !== undefined) {
        throw invalidFields({
          ...(email === undefined && { email: ["This is not an email address."] }),
          ...(problem !== undefined && { password: [passwordSentences[problem]] }),
        });
      }
      const passwordHash = await argon2.hashPassword(request.password, operator);
      const user = await store.insertUser(
        { email, passwordHash, now, admin: request.admin, confirmed: true, language: null },
        together,
      );
      if (user === undefined) throw invalidFields({ email: ["This email address is taken."] });
      return user;
    },

    async findUserByEmail(email: string): Promise<User | undefined> {
      const address = normalizeEmail(email);
      return address === undefined ? undefined : (await store.findUserByEmail(address))?.user;
    },

    findUser: (userId: number): Promise<User | undefined> => store.findUser(userId),
  };
}
