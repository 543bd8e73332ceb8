import type { Clock } from "../base/clock.ts";
import { invalidFields } from "../base/errors.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { Accounts } from "./accounts.ts";
import { hasCharacters } from "./character-count.ts";
import { normalizeEmail } from "./email.ts";
import type { AccountStore } from "./store-sqlite.ts";

const passwordCharactersMin = 12;
export const passwordCharactersMax = 1_024;

/** Place in the Argon2 queue of those who make users: not a network address, so no client can share it. */
const operator = "operator";

interface Deps {
  readonly store: AccountStore;
  readonly clock: Clock;
  readonly argon2: Pick<Argon2Queue, "hashPassword">;
}

export function createUsers({ store, clock, argon2 }: Deps): Pick<Accounts, "createUser" | "findUserByEmail"> {
  return {
    async createUser(request) {
      const now = clock.now();
      const email = normalizeEmail(request.email);
      const fits = hasCharacters(request.password, passwordCharactersMin, passwordCharactersMax);
      if (email === undefined || !fits) {
        throw invalidFields({
          ...(email === undefined && { email: ["This is not an e-mail address."] }),
          ...(!fits && {
            password: [`A password has ${passwordCharactersMin} to ${passwordCharactersMax} characters.`],
          }),
        });
      }
      const passwordHash = await argon2.hashPassword(request.password, operator);
      const user = await store.insertUser({ email, passwordHash, admin: request.admin, now });
      if (user === undefined) throw invalidFields({ email: ["This e-mail address is taken."] });
      return user;
    },

    async findUserByEmail(email) {
      const address = normalizeEmail(email);
      return address === undefined ? undefined : store.findUserByEmail(address)?.user;
    },
  };
}
