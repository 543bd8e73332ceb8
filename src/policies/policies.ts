import { type KindName, kindNames } from "../base/push-kinds.ts";
import type { Config, KindSettings, Range } from "../config/config.ts";
import { activeRules, combine, noRules, type Policy } from "./policy.ts";

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

export type Policies = ReturnType<typeof createPolicies>;

/** The rules that hold for each caller. */
export function createPolicies({ config }: { readonly config: Config }) {
  const ofSettings: Policy = { ...config.policy, kinds: enabledKinds(config), requests: config.requestsEnabled };

  function describe(layers: readonly (PolicySource & { readonly policy: Policy })[]): CallerPolicy {
    const sources = layers.filter(({ policy }) => activeRules(policy).length > 0).map(({ from }) => ({ from }));
    return { policy: combine(...layers.map(({ policy }) => policy)), sources };
  }

  async function find(_user: { readonly id: number } | null): Promise<CallerPolicy> {
    return describe([{ from: "settings", policy: ofSettings }]);
  }

  return {
    /** The rules for this user, or for people without an account. */
    of: async (user: { readonly id: number } | null): Promise<Policy> => (await find(user)).policy,
    find,
    /** The rules that hold for everybody. */
    ofEverybody: async (): Promise<Policy> => describe([{ from: "settings", policy: ofSettings }]).policy,
  };
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
