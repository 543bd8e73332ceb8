import { guessableReason } from "@sealpush/age/guessable";
import { minuteMs } from "../base/clock.ts";
import type { FieldProblems } from "../base/errors.ts";
import { addProblem, type Problems } from "../base/field-problems.ts";
import { isSealable, type KindName, kindNames } from "../base/push-kinds.ts";

/**
 * What somebody is about to do, as far as rules judge it. An operation names only what it changes: a rule does not judge what
 * is absent.
 */
export interface Judged {
  /** The kinds of new content: also `file` where another kind has files. */
  readonly kinds?: readonly KindName[];
  readonly isSealedBefore?: boolean;
  /** The passphrase that protects new content; the operation has limited its length. */
  readonly passphrase?: JudgedPassphrase;
  /** `field`: the field that sets the lifetime. */
  readonly lifetime?: { readonly ms: number; readonly field: string };
  readonly views?: number;
  readonly notifiesOnView?: boolean;
  /** The addresses that the link is mailed to, in lower case. */
  readonly recipients?: readonly string[];
  /** The kinds that a request asks for, by the field that does. */
  readonly asks?: Readonly<Record<string, KindName>>;
}

/** `unseen`: the content was sealed under a passphrase before it arrived, or the passphrase stays as it is. */
export type JudgedPassphrase = "none" | "unseen" | { readonly text: string };

interface Rule<Value> {
  /** The value that restricts nothing. */
  readonly noRule: Value;
  /** The stricter of two. Both are within the rule. */
  readonly combine: (one: Value, other: Value) => Value;
  /** @returns for each field that breaks the rule, one sentence for clients of the API. */
  readonly judge: (value: Value, judged: Judged) => FieldProblems;
}

const fine: FieldProblems = {};
const refuse = (field: string, message: string): FieldProblems => ({ [field]: [message] });

/** `judge` is asked only where the rule is on. */
function required(judge: (judged: Judged) => FieldProblems): Rule<boolean> {
  return { noRule: false, combine: (one, other) => one || other, judge: (on, judged) => (on ? judge(judged) : fine) };
}

/** `judge` is asked only where the rule forbids. */
function permitted(judge: (judged: Judged) => FieldProblems): Rule<boolean> {
  return { noRule: true, combine: (one, other) => one && other, judge: (ok, judged) => (ok ? fine : judge(judged)) };
}

function atMost(judge: (max: number, judged: Judged) => FieldProblems): Rule<number | null> {
  return {
    noRule: null,
    combine: (one, other) => (one === null || other === null ? (one ?? other) : Math.min(one, other)),
    judge: (max, judged) => (max === null ? fine : judge(max, judged)),
  };
}

const textOf = ({ passphrase = "none" }: Judged) => (typeof passphrase === "string" ? undefined : passphrase.text);

/** What a caller may do. It only restricts: the settings of kinds and the fixed limits hold besides. */
export interface Policy {
  readonly passphraseRequired: boolean;
  /** Code points. */
  readonly passphraseMinLength: number;
  readonly passphraseCommonAllowed: boolean;
  /** null: no rule. */
  readonly maxMinutes: number | null;
  readonly maxViews: number | null;
  readonly kinds: readonly KindName[];
  readonly encryptionRequired: boolean;
  readonly notifyOnViewRequired: boolean;
  readonly requests: boolean;
  /** Exact and in lower case; null: all. */
  readonly mailDomains: readonly string[] | null;
}

export type RuleName = keyof Policy;

/**
 * Every rule: its values, how two of them combine, and what breaks it. Settings, the API, the pages and the tests derive from
 * this table.
 */
const rules: { readonly [Name in RuleName]: Rule<Policy[Name]> } = {
  passphraseRequired: required(({ passphrase }) =>
    passphrase === "none" ? refuse("passphrase", "can't be blank: the rules of this server require one.") : fine,
  ),
  passphraseMinLength: {
    noRule: 0,
    combine: Math.max,
    judge: (min, judged) => {
      const text = textOf(judged);
      return text === undefined || [...text].length >= min
        ? fine
        : refuse("passphrase", `must have at least ${min} characters by the rules of this server.`);
    },
  },
  passphraseCommonAllowed: permitted((judged) => {
    const text = textOf(judged);
    return text === undefined || guessableReason(text) === undefined
      ? fine
      : refuse("passphrase", "is among the first that attackers try, which the rules of this server forbid.");
  }),
  maxMinutes: atMost((max, { lifetime }) =>
    lifetime === undefined || lifetime.ms <= max * minuteMs
      ? fine
      : refuse(
          lifetime.field,
          `must be at most ${max} ${max === 1 ? "minute" : "minutes"} from the creation by the rules of this server.`,
        ),
  ),
  maxViews: atMost((max, { views = 0 }) =>
    views <= max ? fine : refuse("expireAfterViews", `must be at most ${max} by the rules of this server.`),
  ),
  kinds: {
    noRule: kindNames,
    combine: (one, other) => one.filter((kind) => other.includes(kind)),
    judge(allowed, { kinds = [], asks = {} }) {
      const problems: Problems = {};
      const sentence = (kind: KindName) => `${kind} pushes are not allowed by the rules of this server.`;
      for (const kind of kinds) if (!allowed.includes(kind)) addProblem(problems, "kind", sentence(kind));
      for (const [field, kind] of Object.entries(asks)) {
        if (!allowed.includes(kind)) addProblem(problems, field, sentence(kind));
      }
      return problems;
    },
  },
  encryptionRequired: required(({ isSealedBefore = true }) =>
    isSealedBefore ? fine : refuse("encryption", "is required: the rules of this server allow only end-to-end pushes."),
  ),
  notifyOnViewRequired: required(({ notifiesOnView = true }) =>
    notifiesOnView ? fine : refuse("notifyOnView", "must be true by the rules of this server."),
  ),
  requests: permitted(({ asks }) =>
    asks === undefined ? fine : refuse("request", "Requests are not allowed by the rules of this server."),
  ),
  mailDomains: {
    noRule: null,
    combine: (one, other) =>
      one === null || other === null ? (one ?? other) : one.filter((domain) => other.includes(domain)),
    judge: (domains, { recipients = [] }) =>
      domains === null || recipients.every((address) => domains.includes(address.slice(address.lastIndexOf("@") + 1)))
        ? fine
        : refuse("notifyEmailsTo", `may have only addresses of ${listed(domains)} by the rules of this server.`),
  },
};

export const ruleNames = Object.keys(rules) as readonly RuleName[];

function byRule(choose: <Name extends RuleName>(name: Name) => Policy[Name]): Policy {
  return Object.fromEntries(ruleNames.map((name) => [name, choose(name)])) as unknown as Policy;
}

/** The policy without any rule. */
export const noRules: Policy = byRule((name) => rules[name].noRule);

/** All of these policies at once. */
export function combine(...policies: readonly Policy[]): Policy {
  return policies.reduce(
    (all, policy) => byRule((name) => (rules[name] as Rule<Policy[typeof name]>).combine(all[name], policy[name])),
    noRules,
  );
}

/** The kinds of push that this policy leaves: what the server must not see is neither an address nor a QR code. */
export function allowedKinds({ kinds, encryptionRequired }: Policy): readonly KindName[] {
  return encryptionRequired ? kinds.filter(isSealable) : kinds;
}

/** The names of the rules that restrict something. */
export function activeRules(policy: Policy): readonly RuleName[] {
  return ruleNames.filter((name) => JSON.stringify(policy[name]) !== JSON.stringify(noRules[name]));
}

/** @returns what breaks the rules, by field; empty: nothing. */
export function findViolations(policy: Policy, judged: Judged): FieldProblems {
  const problems: Problems = {};
  for (const name of ruleNames) {
    if (policy[name] === rules[name].noRule) continue;
    const found = (rules[name] as Rule<unknown>).judge(policy[name], judged);
    if (found === fine) continue;
    for (const [field, sentences] of Object.entries(found)) {
      for (const sentence of sentences) addProblem(problems, field, sentence);
    }
  }
  return problems;
}

function listed(domains: readonly string[]): string {
  return domains.length === 0 ? "no domain" : domains.join(", ");
}
