import type { Clock } from "../base/clock.ts";
import type { InTransaction } from "../database/database.ts";
import { combine, type Policy } from "./policy.ts";
import type { Group, GroupMember, GroupStore, GroupSummary } from "./store/groups.ts";
import type { PolicyScope } from "./store/policies.ts";

export const membersPerPage = 100;
export const groupNameMax = 64;
export const claimMax = 256;

export type Groups = ReturnType<typeof createGroups>;

interface GroupsDeps {
  readonly store: GroupStore;
  readonly clock: Clock;
  readonly policies: {
    readonly ofSettings: Policy;
    read(scope: PolicyScope): Promise<{ readonly policy: Policy }>;
    forget(): void;
  };
}

/** The groups of users, as administrators see and change them. Each group has rules of its own. */
export function createGroups({ store, clock, policies }: GroupsDeps) {
  async function thenForget<Result>(change: Promise<Result>): Promise<Result> {
    const result = await change;
    policies.forget();
    return result;
  }

  /** What rules leave when the group is gone: of the instance, and of the user's other groups or everybody else. */
  async function policiesWithout(groupId: number): Promise<PoliciesWithout> {
    const of = async (scope: PolicyScope) => (await policies.read(scope)).policy;
    const base = combine(policies.ofSettings, await of("instance"));
    const group = await of({ groupId });
    const byGroup = new Map<number, Policy>();
    for (const { id } of await store.list()) byGroup.set(id, id === groupId ? group : await of({ groupId: id }));
    return { base, group, byGroup, others: await of("everybody else") };
  }

  return {
    list: (): Promise<readonly GroupSummary[]> => store.list(),
    find: (id: number): Promise<Group | undefined> => store.find(id),
    listOf: store.listOf,
    countMembers: store.countMembers,
    countUsersInNoGroup: store.countUsersInNoGroup,
    /** @param text a part of the address. @param page from 1. */
    async searchMembers(groupId: number, text: string, page: number): Promise<readonly GroupMember[]> {
      // No address contains NUL, and PostgreSQL's text type does not allow it.
      if (text.includes("\0")) return [];
      const part = text.trim().toLowerCase().normalize("NFC");
      return store.searchMembers(groupId, part, membersPerPage, (page - 1) * membersPerPage);
    },

    create: (group: Omit<Group, "id">, together: InTransaction): Promise<Group | "taken" | "too_many"> =>
      thenForget(store.insert(group, clock.now(), together)),
    /** Members by another claim stay no longer. */
    change: (group: Group, together: (before: Group) => InTransaction): Promise<"changed" | "taken" | "unknown"> =>
      thenForget(store.change(group, together)),
    /** @returns false: there is no such group. */
    remove: (id: number, together: InTransaction): Promise<boolean> => thenForget(store.remove(id, together)),
    /** By hand. @returns false: the group or the user is gone, or there is nothing to change. */
    setMember: (
      member: { userId: number; groupId: number; isMember: boolean },
      together: InTransaction,
    ): Promise<boolean> => thenForget(store.setMember(member, clock.now(), together)),

    /** The groups that show this user the activity of their members, by name. Read anew: a removed member loses it at once. */
    async findSharing(userId: number): Promise<readonly Group[]> {
      const sharing = (await store.listOf(userId)).filter(({ sharesActivity }) => sharesActivity);
      // A user can be a member twice: by hand and by claim.
      return [...new Map(sharing.map((group) => [group.id, group])).values()];
    },

    /** The addresses of the members whose rules get weaker if the group is deleted. */
    async findWeakenedBy(groupId: number): Promise<readonly string[]> {
      const policiesThen = await policiesWithout(groupId);
      const people = new Map<string, number[]>();
      for (const row of await store.membershipsAround(groupId)) {
        const rest = people.get(row.email) ?? [];
        if (row.groupId !== groupId) rest.push(row.groupId);
        people.set(row.email, rest);
      }
      return weakened(people, policiesThen);
    },
  };
}

interface PoliciesWithout {
  readonly base: Policy;
  /** The rules of the group that goes. */
  readonly group: Policy;
  readonly byGroup: ReadonlyMap<number, Policy>;
  /** The rules of people in no group. */
  readonly others: Policy;
}

/** @param people the other groups of each member, by address. */
function weakened(
  people: ReadonlyMap<string, readonly number[]>,
  { base, group, byGroup, others }: PoliciesWithout,
): readonly string[] {
  const byRest = new Map<string, boolean>();
  const isWeaker = (rest: readonly number[]) => {
    const left = rest.flatMap((id) => byGroup.get(id) ?? []);
    const now = combine(base, ...left, group);
    const then = combine(base, ...(left.length > 0 ? left : [others]));
    return isStricter(now, then);
  };
  for (const rest of people.values()) byRest.set(rest.join(), byRest.get(rest.join()) ?? isWeaker(rest));
  return [...people].filter(([, rest]) => byRest.get(rest.join()) === true).map(([email]) => email);
}

/** Whether the first policy refuses something that the second one allows. */
export function isStricter(policy: Policy, other: Policy): boolean {
  return JSON.stringify(combine(other, policy)) !== JSON.stringify(combine(other));
}
