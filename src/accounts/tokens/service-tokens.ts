import type { Clock } from "../../base/clock.ts";
import type { InTransaction, Transaction } from "../../database/database.ts";
import type { User } from "../account.ts";
import type { ClaimedGroups } from "../deps.ts";
import type { ChangeRefusal, ProtectedChange, ProtectedChanges } from "../factors/protected-changes.ts";
import type { ServiceAccountStore } from "../store/service-accounts.ts";
import type { MadeToken, NewTokens, TokenLimits } from "./api-tokens.ts";

interface Deps {
  readonly clock: Clock;
  readonly store: ServiceAccountStore;
  readonly groups: Pick<ClaimedGroups, "addServiceAccount" | "exists">;
  readonly tokens: NewTokens;
  readonly change: ProtectedChanges["change"];
}

interface WantedToken {
  readonly groupId: number;
  readonly name: string;
  readonly limits: TokenLimits;
  /** Written in the same transaction. */
  readonly together: InTransaction;
}

/** Tokens of groups, which work on when a person leaves. Administrators make them. */
export function createServiceTokens({ clock, store, groups, tokens, change }: Deps) {
  return {
    /**
     * The first one makes the service account of the group. @returns "unknown": the group is gone.
     * @throws AppError as `createToken`.
     */
    createServiceToken: (
      asked: ProtectedChange,
      { groupId, name, limits, together }: WantedToken,
    ): Promise<({ readonly outcome: "made" } & MadeToken) | { readonly outcome: "unknown" } | ChangeRefusal> =>
      change(asked, async (tx, _user, now) => {
        if (!(await groups.exists(tx, groupId))) return { outcome: "unknown" };
        const { userId, isNew } = await store.findOrMake(tx, groupId, now);
        if (isNew) await groups.addServiceAccount(tx, { groupId, userId }, now);
        const made = await tokens.make(tx, { userId, name, limits, origin: asked.client });
        await together(tx);
        return { outcome: "made", ...made };
      }),

    /** The account that has the pushes of the group's service tokens; undefined: there was never one. */
    findServiceAccount: (groupId: number): Promise<User | undefined> => store.find(groupId),

    /** The group whose service account has this id; undefined: the account is a person's, or gone. */
    findServiceGroup: (userId: number): Promise<number | undefined> => store.groupOf(userId),

    /** In the transaction that deletes the group. @returns the id of the account; undefined: there is none. */
    removeServiceAccount: (tx: Transaction, groupId: number): Promise<number | undefined> =>
      store.remove(tx, groupId, clock.now()),
  };
}
