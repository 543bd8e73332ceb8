import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, InTransaction, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { groupMembers, policies, userGroups } from "./tables.ts";

const reading = policies.reading();
const groups = userGroups.reading();
const members = groupMembers.reading();
type UnopenedPolicy = UnopenedRow<typeof reading>;
type UnopenedGroup = UnopenedRow<typeof groups>;
type UnopenedMember = UnopenedRow<typeof members>;
/** The columns of group and member are null in the row of a policy that is no group's. */
type CallerRow = UnopenedPolicy & { readonly [Column in keyof UnopenedGroup]: UnopenedGroup[Column] | null } & {
  readonly [Column in keyof UnopenedMember]: UnopenedMember[Column] | null;
};

/** Whom rules are for: everybody, the members of a group, or the users who are in no group. */
export type PolicyScope = "instance" | "everybody else" | { readonly groupId: number };

/** `sign-up`: whether people may make accounts themselves, for everybody. */
type StoredScope = PolicyScope | "sign-up";

export interface StoredPolicy {
  readonly rules: string;
  readonly revision: number;
}

const ofScope = sql<[scope: string], UnopenedPolicy>(`SELECT ${reading.selectList} FROM policies WHERE scope = ?`);
/** One statement, because it is part of each creation. There are few policies: one for each group. */
const ofCaller = sql<[userId: number], CallerRow>(
  `SELECT ${reading.selectList}, ${groups.selectList}, ${members.selectList} FROM policies
   LEFT JOIN group_members ON group_members.group_id = policies.group_id AND group_members.user_id = ?
   LEFT JOIN user_groups ON user_groups.id = policies.group_id
   WHERE policies.scope <> 'sign-up' AND (policies.group_id IS NULL OR group_members.user_id IS NOT NULL)
   ORDER BY user_groups.name`,
);
const put = policies.insertion(
  `ON CONFLICT (scope) DO UPDATE SET rules = excluded.rules, revision = excluded.revision,
     updated_at = excluded.updated_at, mac = excluded.mac`,
);

const groupOf = (scope: StoredScope) => (typeof scope === "string" ? null : scope.groupId);
const nameOf = (scope: StoredScope) => (typeof scope === "string" ? scope : `group ${scope.groupId}`);

/** A group has a row from its creation on. */
export async function putGroupPolicy(tx: Transaction, access: AccessKeys, groupId: number, now: number): Promise<void> {
  const scope = { groupId };
  await put(tx, access, { scope: nameOf(scope), groupId, rules: "{}", revision: 0, updatedAt: now });
}

/** No user has this id. */
const nobody = 0;

export type PolicyStore = ReturnType<typeof createPolicyStore>;

export function createPolicyStore(db: Database, access: AccessKeys) {
  const opened = (row: UnopenedPolicy | undefined): StoredPolicy | undefined => reading.open(access, row);

  /** The name of the caller's group; undefined: a row is not this server's. */
  function groupIn(row: CallerRow): string | undefined {
    const member = members.open(access, row as UnopenedMember);
    const group = groups.open(access, row as UnopenedGroup);
    return member === undefined ? undefined : group?.name;
  }

  return {
    /** undefined: none was ever saved. "forged": the row is not this server's, which is reported. */
    async read(scope: StoredScope): Promise<StoredPolicy | "forged" | undefined> {
      const row = await db.read.one(ofScope, nameOf(scope));
      return row === undefined ? undefined : (opened(row) ?? "forged");
    },

    /** The rules that may hold for a caller. `groups`: all that the caller is in. @param userId null: a caller without an account. */
    async readOfCaller(userId: number | null) {
      const rows = await db.read.all(ofCaller, userId ?? nobody);
      const found = rows.map((row) => ({
        scope: row.policyScope,
        policy: opened(row),
        group: row.policyGroupId === null ? null : groupIn(row),
      }));
      const policyOf = (scope: PolicyScope) => found.find((each) => each.scope === nameOf(scope))?.policy;
      // A user can be a member twice: by hand and by claim.
      const byName = new Map(
        found.flatMap(({ group, policy }) => (typeof group === "string" ? [[group, policy]] : [])),
      );
      return {
        /** A row about this caller is not this server's, which is reported: what it said is unknown. */
        hasForged: found.some(({ group, policy }) => group === undefined || policy === undefined),
        instance: policyOf("instance"),
        everybodyElse: policyOf("everybody else"),
        groups: [...byName].map(([name, policy]) => ({ name, policy })),
      };
    },

    /** @returns false: the stored revision is not `revision` any more, or the group is gone, so nothing was written. */
    async save(
      scope: StoredScope,
      { rules, revision }: StoredPolicy,
      now: number,
      together: InTransaction,
    ): Promise<boolean> {
      return await db.writeSerialized("accounts", async (tx) => {
        const row = await tx.one(ofScope, nameOf(scope));
        const groupId = groupOf(scope);
        if ((opened(row)?.revision ?? 0) !== revision || (groupId !== null && row === undefined)) return false;
        await put(tx, access, { scope: nameOf(scope), groupId, rules, revision: revision + 1, updatedAt: now });
        await together(tx);
        return true;
      });
    },
  };
}
