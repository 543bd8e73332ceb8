import type { Clock } from "../base/clock.ts";
import { type KindName, kindNames } from "../base/push-kinds.ts";
import type { Config, KindSettings, Range } from "../config/config.ts";
import type { InTransaction } from "../database/database.ts";
import { activeRules, combine, noRules, type Policy, type RuleName, ruleNames } from "./policy.ts";
import type { PolicyStore } from "./store/policies.ts";

export * from "./policy.ts";

/** Where rules come from: settings of the environment, or the administrators' page. */
export interface PolicySource {
  readonly from: "settings" | "instance";
}

/** What holds for a caller, and where it comes from. */
export interface CallerPolicy {
  readonly policy: Policy;
  readonly sources: readonly PolicySource[];
}

/** The rules of the administrators' page. */
export interface InstancePolicy {
  readonly policy: Policy;
  /** 0: none were ever saved. */
  readonly revision: number;
}

export type Policies = ReturnType<typeof createPolicies>;

/** Every process knows a change within a second: this old may be what it has read, and a request takes less than the rest. */
const rememberedMs = 500;

interface PoliciesDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly store: PolicyStore;
}

/** The rules that hold for each caller. */
export function createPolicies({ config, clock, monotonicMs, store }: PoliciesDeps) {
  const settings: Policy = { ...config.policy, kinds: enabledKinds(config), requests: config.requestsEnabled };
  let remembered: { readonly at: number; readonly found: Promise<CallerPolicy> } | undefined;

  /** Concurrent requests share one read, and what follows from it. */
  function everybody(): Promise<CallerPolicy> {
    const now = monotonicMs();
    if (remembered !== undefined && now - remembered.at < rememberedMs) return remembered.found;
    const reading = { at: now, found: readEverybody() };
    remembered = reading;
    reading.found.catch(() => {
      if (remembered === reading) remembered = undefined;
    });
    return reading.found;
  }

  async function readEverybody(): Promise<CallerPolicy> {
    const { policy } = await readInstance(store);
    const layers = [
      { from: "settings", policy: settings },
      { from: "instance", policy },
    ] as const;
    const sources = layers.filter((layer) => activeRules(layer.policy).length > 0).map(({ from }) => ({ from }));
    return { policy: combine(settings, policy), sources };
  }

  const find = (_user: { readonly id: number } | null): Promise<CallerPolicy> => everybody();

  return {
    /** The rules for this user, or for people without an account. */
    of: async (user: { readonly id: number } | null): Promise<Policy> => (await find(user)).policy,
    find,
    /** The rules that hold for everybody. */
    ofEverybody: async (): Promise<Policy> => (await everybody()).policy,
    /** The rules of the settings alone: no page can loosen them. */
    ofSettings: settings,
    /** For the page that changes them: as they are stored now. */
    readInstance: (): Promise<InstancePolicy> => readInstance(store),
    /**
     * @param revision the one that the change was made from.
     * @returns false: somebody else has changed the rules since, and nothing was saved.
     */
    async saveInstance(policy: Policy, revision: number, together: InTransaction): Promise<boolean> {
      const isSaved = await store.save(JSON.stringify(policy), revision, clock.now(), together);
      remembered = undefined;
      return isSaved;
    },
  };
}

/** A rule that the stored ones lack is newer than they are, and restricts nothing. */
async function readInstance(store: PolicyStore): Promise<InstancePolicy> {
  const stored = await store.read();
  if (stored === undefined) return { policy: noRules, revision: 0 };
  return { policy: { ...noRules, ...(JSON.parse(stored.rules) as Partial<Policy>) }, revision: stored.revision };
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

/** The settings of a kind as far as the policy allows them. A longest life below one day leaves no days: `days.max` is 0. */
export function settingsUnder(policy: Policy, kind: KindName, settings: KindSettings): KindSettings {
  const days = policy.maxMinutes === null ? null : Math.floor(policy.maxMinutes / dayMinutes);
  return {
    ...settings,
    enabled: settings.enabled && policy.kinds.includes(kind),
    days: upTo(days, settings.days),
    views: upTo(policy.maxViews, settings.views),
  };
}

function upTo(max: number | null, range: Range): Range {
  if (max === null) return range;
  return { min: range.min, max: Math.min(range.max, max), default: Math.min(range.default, max) };
}

/** The rules at the time when a request was made, for its answers. */
export function rulesOfAnswers({ maxMinutes }: Pick<Policy, "maxMinutes">): Policy {
  return { ...noRules, maxMinutes };
}
