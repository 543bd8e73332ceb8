import type { Clock } from "../base/clock.ts";
import { type KindName, kindNames } from "../base/push-kinds.ts";
import { RecentEntries } from "../base/recent-entries.ts";
import type { Config, KindSettings, Range } from "../config/config.ts";
import type { InTransaction } from "../database/database.ts";
import { activeRules, combine, noRules, type Policy, type RuleName, ruleNames } from "./policy.ts";
import type { PolicyScope, PolicyStore, StoredPolicy } from "./store/policies.ts";

export * from "./groups.ts";
export * from "./policy.ts";
export type { Group, GroupMember, GroupSummary, Membership } from "./store/groups.ts";
export type { PolicyScope } from "./store/policies.ts";

/** The group of the users who are in no other one. */
export const everybodyElse = "Everybody else";

/** Where rules come from: settings of the environment, or the administrators' pages. */
export type PolicySource =
  | { readonly from: "settings" | "instance" }
  | { readonly from: "group"; readonly name: string };

/** What holds for a caller, and where it comes from. */
export interface CallerPolicy {
  readonly policy: Policy;
  readonly sources: readonly PolicySource[];
}

/** Rules that administrators set on a page. */
export interface SavedPolicy {
  readonly policy: Policy;
  /** 0: none were ever saved. */
  readonly revision: number;
}

export interface ReadPolicy extends SavedPolicy {
  /** The row is not this server's: until rules are saved again, whom they are about can create nothing. */
  readonly isForged: boolean;
}

export type Policies = ReturnType<typeof createPolicies>;

/** Every process knows a change within a second: this old may be what it has read, and a request takes less than the rest. */
const rememberedMs = 500;
const rememberedMax = 10_000;

interface PoliciesDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly store: PolicyStore;
}

type Caller = { readonly id: number } | null;

/** The rules that hold for each caller. */
export function createPolicies({ config, clock, monotonicMs, store }: PoliciesDeps) {
  const settings: Policy = { ...config.policy, kinds: enabledKinds(config), requests: config.requestsEnabled };
  /** By user; null: callers without an account. */
  const remembered = new RecentEntries<number | null, { readonly at: number; readonly found: Promise<CallerPolicy> }>({
    max: rememberedMax,
    periodMs: rememberedMs,
  });

  /** Concurrent requests of one caller share one read, and what follows from it. */
  function find(user: Caller): Promise<CallerPolicy> {
    const now = monotonicMs();
    const userId = user?.id ?? null;
    const known = remembered.get(userId);
    if (known !== undefined && now - known.at < rememberedMs) return known.found;
    const reading = { at: now, found: readOf(userId) };
    remembered.put(userId, reading, now);
    reading.found.catch(() => {
      if (remembered.get(userId) === reading) remembered.delete(userId);
    });
    return reading.found;
  }

  async function readOf(userId: number | null): Promise<CallerPolicy> {
    const { hasForged, instance, everybodyElse: others, groups } = await store.readOfCaller(userId);
    const ofGroups = groups.length > 0 || userId === null ? groups : [{ name: everybodyElse, policy: others }];
    const layers: readonly (PolicySource & { readonly policy: Policy })[] = [
      { from: "settings", policy: settings },
      { from: "instance", policy: readStored(instance).policy },
      ...ofGroups.map(({ name, policy }) => ({ from: "group" as const, name, policy: readStored(policy).policy })),
      ...(hasForged ? [{ from: "instance" as const, policy: nothingAllowed }] : []),
    ];
    const active = layers.filter(({ policy }) => activeRules(policy).length > 0);
    return {
      policy: combine(...layers.map(({ policy }) => policy)),
      sources: active.map(({ policy, ...from }) => from),
    };
  }

  return {
    /** The rules for this user, or for people without an account. */
    of: async (user: Caller): Promise<Policy> => (await find(user)).policy,
    find,
    ofEverybody: async (): Promise<Policy> => (await find(null)).policy,
    /** The rules of the settings alone: no page can loosen them. */
    ofSettings: settings,
    /** For the page that changes them: as they are stored now. */
    read: async (scope: PolicyScope): Promise<ReadPolicy> => readStored(await store.read(scope)),
    /**
     * @param saved the revision is the one that the change was made from.
     * @returns false: somebody else has changed the rules since, or the group is gone, and nothing was saved.
     */
    async save(scope: PolicyScope, { policy, revision }: SavedPolicy, together: InTransaction): Promise<boolean> {
      const isSaved = await store.save(scope, { rules: JSON.stringify(policy), revision }, clock.now(), together);
      remembered.clear();
      return isSaved;
    },
    /** Administrators have closed it on a page; the settings may close it too. */
    isSignUpClosed: async (): Promise<boolean> => readSignUp(await store.read("sign-up")).isClosed,
    /** @returns false: it was so before, or somebody else was quicker, and nothing was saved. */
    async setSignUpClosed(isClosed: boolean, together: InTransaction): Promise<boolean> {
      const stored = await store.read("sign-up");
      if (readSignUp(stored).isClosed === isClosed) return false;
      const revision = stored === "forged" ? 0 : (stored?.revision ?? 0);
      return await store.save("sign-up", { rules: JSON.stringify({ isClosed }), revision }, clock.now(), together);
    },
    /** Groups or their members have changed: this process knows it at once. */
    forget: () => remembered.clear(),
  };
}

/** Where rules cannot be read because somebody has changed their rows: they may have been any. */
const nothingAllowed: Policy = { ...noRules, kinds: [], requests: false, mailDomains: [] };

/** A rule that the stored ones lack is newer than they are, and restricts nothing. */
function readStored(stored: StoredPolicy | "forged" | undefined): ReadPolicy {
  if (stored === undefined || stored === "forged") {
    return { policy: noRules, revision: 0, isForged: stored === "forged" };
  }
  const policy = { ...noRules, ...(JSON.parse(stored.rules) as Partial<Policy>) };
  return { policy, revision: stored.revision, isForged: false };
}

/** A row that somebody has changed opens nothing. */
function readSignUp(stored: StoredPolicy | "forged" | undefined): { readonly isClosed: boolean } {
  if (stored === "forged") return { isClosed: true };
  return stored === undefined ? { isClosed: false } : (JSON.parse(stored.rules) as { readonly isClosed: boolean });
}

/** @returns for people, each rule that differs: what it was and what it is. */
export function describeChange(before: Policy, after: Policy): string {
  const shown = (policy: Policy, name: RuleName) => JSON.stringify(policy[name]);
  return ruleNames
    .filter((name) => shown(before, name) !== shown(after, name))
    .map((name) => `${name}: ${shown(before, name)} → ${shown(after, name)}`)
    .join("; ");
}

function enabledKinds({ kinds, policy }: Pick<Config, "kinds" | "policy">): readonly KindName[] {
  return kindNames.filter((kind) => kinds[kind].enabled && policy.kinds.includes(kind));
}

const dayMinutes = 24 * 60;

type Limits = Pick<KindSettings, "days" | "views">;

/** The settings of a kind as far as the policy allows them. A longest life below one day leaves no days: `days.max` is 0. */
export function settingsUnder(policy: Policy, kind: KindName, settings: KindSettings): KindSettings {
  const { days, views } = leastUnder(policy, settings);
  return {
    ...settings,
    enabled: settings.enabled && policy.kinds.includes(kind),
    days: upTo(wholeDays(policy), days),
    views: upTo(policy.maxViews, views),
  };
}

/** The limits, where the policy allows less than the least of them, with that as the least: otherwise nothing could be chosen. */
export function leastUnder(policy: Pick<Policy, "maxMinutes" | "maxViews">, { days, views }: Limits): Limits {
  return {
    days: { ...days, min: Math.max(1, Math.min(days.min, wholeDays(policy) ?? Infinity)) },
    views: { ...views, min: Math.min(views.min, policy.maxViews ?? Infinity) },
  };
}

function wholeDays({ maxMinutes }: Pick<Policy, "maxMinutes">): number | null {
  return maxMinutes === null ? null : Math.floor(maxMinutes / dayMinutes);
}

function upTo(max: number | null, range: Range): Range {
  if (max === null) return range;
  return { min: range.min, max: Math.min(range.max, max), default: Math.min(range.default, max) };
}

/** The rules at the time when a request was made, for its answers. */
export function rulesOfAnswers({ maxMinutes }: Pick<Policy, "maxMinutes">): Policy {
  return { ...noRules, maxMinutes };
}
