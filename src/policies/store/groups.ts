import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, InTransaction, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { putGroupPolicy } from "./policies.ts";
import { groupMembers, userGroups } from "./tables.ts";

const reading = userGroups.reading("createdAt");
const members = groupMembers.reading("addedAt");
type UnopenedGroup = UnopenedRow<typeof reading>;
type UnopenedMember = UnopenedRow<typeof members>;

export interface Group {
  readonly id: number;
  readonly name: string;
  /** The value of the groups claim that makes a user a member; null: only administrators make members. */
  readonly claim: string | null;
  /** Members see the names, states and trails of each other's pushes, never links or content. */
  readonly sharesActivity: boolean;
}

export interface GroupSummary extends Group {
  readonly members: number;
}

/** `email`: for people to read; it decides nothing. */
export interface GroupMember {
  readonly userId: number;
  readonly email: string;
  readonly byHand: boolean;
  readonly byClaim: boolean;
}

export interface Membership extends Group {
  readonly byClaim: boolean;
  readonly addedAt: number;
}

const all = sql<[], UnopenedGroup>(`SELECT ${reading.selectList} FROM user_groups ORDER BY name`);
const byId = sql<[id: number], UnopenedGroup>(`SELECT ${reading.selectList} FROM user_groups WHERE id = ?`);
const byName = sql<[name: string], { id: number }>("SELECT id FROM user_groups WHERE name = ?");
const userExists = sql<[userId: number], { one: number }>("SELECT 1 AS one FROM users WHERE id = ?");
const countAll = sql<[], { count: number }>("SELECT count(*) AS count FROM user_groups");
const insertGroup = userGroups.insertion();
const removeGroup = sql<[id: number]>("DELETE FROM user_groups WHERE id = ?");
/** The service account of a group is a member that no page shows as one. */
const joinPeople = "JOIN users ON users.id = group_members.user_id AND users.service_group_id IS NULL";
const memberCounts = sql<[], { groupId: number; members: number }>(
  `SELECT group_id AS groupId, count(DISTINCT user_id) AS members FROM group_members ${joinPeople} GROUP BY group_id`,
);
const memberCount = sql<[groupId: number], { members: number }>(
  `SELECT count(DISTINCT user_id) AS members FROM group_members ${joinPeople} WHERE group_id = ?`,
);
const usersInNoGroup = sql<[], { users: number }>(
  "SELECT count(*) AS users FROM users WHERE NOT EXISTS (SELECT 1 FROM group_members WHERE user_id = users.id)",
);
const searchBy = (contains: string) =>
  `SELECT user_id AS userId, email, min(by_claim) AS byClaimMin, max(by_claim) AS byClaimMax
   FROM group_members ${joinPeople}
   WHERE group_id = ? AND ${contains} > 0 GROUP BY user_id, email ORDER BY email LIMIT ? OFFSET ?`;
const searchMembers = sql<
  [groupId: number, text: string, limit: number, offset: number],
  { userId: number; email: string; byClaimMin: number; byClaimMax: number }
>({ sqlite: searchBy("instr(email, ?)"), postgres: searchBy("strpos(email, ?)") });
const membershipsOf = sql<[userId: number], UnopenedGroup & UnopenedMember>(
  `SELECT ${reading.selectList}, ${members.selectList} FROM group_members
   JOIN user_groups ON user_groups.id = group_members.group_id WHERE user_id = ? ORDER BY user_groups.name`,
);
/** Materialized: otherwise, before its statistics are taken anew, PostgreSQL may read the whole group for each of its members. */
const membershipsAround = sql<[groupId: number], { userId: number; email: string; groupId: number }>(
  `WITH around AS MATERIALIZED (SELECT DISTINCT user_id AS member FROM group_members WHERE group_id = ?)
   SELECT DISTINCT user_id AS userId, email, group_id AS groupId FROM around
   JOIN group_members ON group_members.user_id = member ${joinPeople} ORDER BY email, group_id`,
);
const putMember = groupMembers.insertion(
  `ON CONFLICT (user_id, group_id, by_claim) DO UPDATE SET mac = excluded.mac WHERE group_members.mac IS DISTINCT FROM excluded.mac`,
);
const removeMember = sql<[userId: number, groupId: number]>(
  "DELETE FROM group_members WHERE user_id = ? AND group_id = ? AND by_claim = 0",
);
const removeByClaim = sql<[userId: number, groupId: number]>(
  "DELETE FROM group_members WHERE user_id = ? AND group_id = ? AND by_claim = 1",
);
const removeAllByClaim = sql<[groupId: number]>("DELETE FROM group_members WHERE group_id = ? AND by_claim = 1");

const groupsMax = 200;
/** Random, so that no id returns: an old form never names another group. Below 2 ** 48, as those of users. */
const idBytes = 6;

export type GroupStore = ReturnType<typeof createGroupStore>;

interface StoreParts {
  readonly db: Database;
  readonly access: AccessKeys;
  readonly random: Random;
}

async function findIn(connection: ReadConnection, access: AccessKeys, id: number): Promise<Group | undefined> {
  return reading.open(access, await connection.one(byId, id));
}

function isSame(one: Omit<Group, "id">, other: Omit<Group, "id">): boolean {
  return one.name === other.name && one.claim === other.claim && one.sharesActivity === other.sharesActivity;
}

function groupChanges({ db, access, random }: StoreParts) {
  return {
    insert: (group: Omit<Group, "id">, now: number, together: InTransaction): Promise<Group | "taken" | "too_many"> =>
      db.writeSerialized("accounts", async (tx) => {
        if ((await tx.one(byName, group.name)) !== undefined) return "taken";
        if (((await tx.one(countAll))?.count ?? 0) >= groupsMax) return "too_many";
        const id = random.bytes(idBytes).readUIntBE(0, idBytes);
        await insertGroup(tx, access, { id, ...group, createdAt: now });
        await putGroupPolicy(tx, access, id, now);
        await together(tx);
        return { id, ...group };
      }),

    /** Members by another claim stay no longer. */
    change: (
      { id, ...group }: Group,
      together: (before: Group) => InTransaction,
    ): Promise<"changed" | "taken" | "unknown"> =>
      db.writeSerialized("accounts", async (tx) => {
        const before = await findIn(tx, access, id);
        if (before === undefined) return "unknown";
        const holder = await tx.one(byName, group.name);
        if (holder !== undefined && holder.id !== id) return "taken";
        if (isSame(before, group)) return "changed";
        await userGroups.change(tx, access, id, group);
        if (before.claim !== group.claim) await tx.run(removeAllByClaim, id);
        await together(before)(tx);
        return "changed";
      }),

    /** With its rules and memberships. @returns false: there is no such group. */
    remove: (id: number, together: InTransaction): Promise<boolean> =>
      db.writeSerialized("accounts", async (tx) => {
        if ((await tx.run(removeGroup, id)) === 0) return false;
        await together(tx);
        return true;
      }),

    /** @returns false: the group or the user is gone, or there is nothing to change. */
    setMember: (
      { userId, groupId, isMember }: { userId: number; groupId: number; isMember: boolean },
      now: number,
      together: InTransaction,
    ): Promise<boolean> =>
      db.writeSerialized("accounts", async (tx) => {
        if ((await findIn(tx, access, groupId)) === undefined) return false;
        if ((await tx.one(userExists, userId)) === undefined) return false;
        const changed = isMember
          ? await putMember(tx, access, { userId, groupId, byClaim: false, addedAt: now })
          : await tx.run(removeMember, userId, groupId);
        if (changed === 0) return false;
        await together(tx);
        return true;
      }),
  };
}

function groupLists({ db, access }: StoreParts) {
  return {
    find: (id: number): Promise<Group | undefined> => findIn(db.read, access, id),

    /** By name. */
    async list(): Promise<readonly GroupSummary[]> {
      const counts = new Map((await db.read.all(memberCounts)).map((row) => [row.groupId, row.members]));
      const groups = reading.openAll(access, await db.read.all(all));
      return groups.map((group) => ({ ...group, members: counts.get(group.id) ?? 0 }));
    },

    countMembers: async (groupId: number): Promise<number> => (await db.read.one(memberCount, groupId))?.members ?? 0,

    countUsersInNoGroup: async (): Promise<number> => (await db.read.one(usersInNoGroup))?.users ?? 0,

    /** By address. @param text a part of the address; "": all. */
    async searchMembers(groupId: number, text: string, limit: number, offset: number): Promise<readonly GroupMember[]> {
      const rows = await db.read.all(searchMembers, groupId, text, limit, offset);
      return rows.map(({ userId, email, byClaimMin, byClaimMax }) => ({
        ...{ userId, email, byHand: byClaimMin === 0, byClaim: byClaimMax === 1 },
      }));
    },

    /** The user's groups, by name. */
    async listOf(userId: number): Promise<readonly Membership[]> {
      const rows = await db.read.all(membershipsOf, userId);
      return rows.flatMap((row) => {
        const member = members.open(access, row);
        const group = reading.open(access, row);
        return member === undefined || group === undefined ? [] : [{ ...group, ...member }];
      });
    },

    /** All groups of everybody who is in this one, by address. */
    membershipsAround: (groupId: number) => db.read.all(membershipsAround, groupId),
  };
}

/** Memberships by the groups claim of single sign-on. */
function claimedGroups({ db, access }: StoreParts) {
  async function claimed(connection: ReadConnection): Promise<readonly Group[]> {
    const groups = reading.openAll(access, await connection.all(all));
    return groups.filter(({ claim }) => claim !== null);
  }

  return {
    exists: async (tx: Transaction, groupId: number): Promise<boolean> =>
      (await findIn(tx, access, groupId)) !== undefined,

    /** The rules of the group hold for its service account. Requires the accounts lock. */
    async addServiceAccount(
      tx: Transaction,
      { groupId, userId }: { readonly groupId: number; readonly userId: number },
      now: number,
    ): Promise<void> {
      await putMember(tx, access, { userId, groupId, byClaim: false, addedAt: now });
    },

    /** The values of the groups claim that make members. */
    claims: async (): Promise<readonly string[]> => (await claimed(db.read)).map(({ claim }) => claim ?? ""),

    /**
     * The user is from now on in the groups with these claims, and in no other one by claim. Requires the accounts lock.
     * @returns the names of the groups by claim before and after; undefined: nothing has changed.
     */
    async setByClaim(
      tx: Transaction,
      userId: number,
      values: readonly string[],
      now: number,
    ): Promise<{ readonly before: readonly string[]; readonly after: readonly string[] } | undefined> {
      const rows = await tx.all(membershipsOf, userId);
      const held = rows.filter((row) => members.open(access, row)?.byClaim === true).map(({ groupId }) => groupId);
      const groups = await claimed(tx);
      const isNamed = ({ claim }: Group) => claim !== null && values.includes(claim);
      const nameAll = (chosen: readonly Group[]) => chosen.map(({ name }) => name);
      const before = groups.filter(({ id }) => held.includes(id));
      const after = groups.filter(isNamed);
      if (nameAll(before).join("\n") === nameAll(after).join("\n")) return undefined;
      for (const { id } of before) if (!after.some((group) => group.id === id)) await tx.run(removeByClaim, userId, id);
      for (const { id: groupId } of after) {
        await putMember(tx, access, { userId, groupId, byClaim: true, addedAt: now });
      }
      return { before: nameAll(before), after: nameAll(after) };
    },
  };
}

export function createGroupStore(db: Database, access: AccessKeys, random: Random) {
  const parts = { db, access, random };
  return { ...groupChanges(parts), ...groupLists(parts), ...claimedGroups(parts) };
}
