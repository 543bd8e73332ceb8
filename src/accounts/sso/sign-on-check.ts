import { isSameIssuer } from "../../config/issuers.ts";
import type { User } from "../account.ts";
import type { Administrator } from "../admin/admin-actions.ts";
import type { AccountsDeps } from "../deps.ts";
import { recordAction } from "../store/administration.ts";
import type { IdentityStore, Relinking } from "../store/identities.ts";
import type { UserStore } from "../store/users.ts";

interface Deps extends Pick<AccountsDeps, "db" | "clock"> {
  readonly users: UserStore;
  readonly identities: IdentityStore;
  readonly relinking: Relinking;
}

/** For operators, in a shell. */
export function createSignOnCheck({ db, clock, users, identities, relinking }: Deps) {
  return {
    /** What single sign-on finds in an account. `isLinked`: an identity of this issuer is. */
    async signOnFacts(user: User, issuer: string) {
      const linked = await identities.listIdentities(user.id);
      return {
        user,
        isLinked: linked.some((identity) => isSameIssuer(identity.issuer, issuer)),
        isUnused: await users.isUnused(user.id),
        isBreakGlass: await users.isBreakGlass(user.id),
      };
    },

    /** The accounts with an identity of the issuer; `moves`: its object id is known. */
    async listRelinkable(issuer: string): Promise<readonly { readonly userId: number; readonly moves: boolean }[]> {
      const found = await relinking.ofIssuer(issuer);
      return found.map(({ userId, objectId }) => ({ userId, moves: objectId !== null }));
    },

    /** From now on the next sign-on of each person moves the identity to the new subject. @returns how many may move. */
    allowRelinking: (issuer: string, by: Administrator): Promise<number> =>
      db.writeSerialized("accounts", async (tx) => {
        const count = await relinking.allowMoves(tx, issuer);
        await recordAction(tx, { by, action: "allowed_relinking", subject: String(count), now: clock.now() });
        return count;
      }),
  };
}
