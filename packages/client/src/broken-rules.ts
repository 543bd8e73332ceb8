import { guessableReason } from "@sealpush/age/guessable";
import { durationMinutes, type Policy } from "./api-types.ts";
import type { NewPush } from "./push-types.ts";

type Limits = Pick<
  NewPush,
  "kind" | "preset" | "expire_after_days" | "expire_after_duration" | "expires_at" | "expire_after_views"
>;

export interface PlannedPush extends Limits {
  readonly hasFiles: boolean;
  readonly isEndToEnd: boolean;
  readonly hasPassphrase: boolean;
}

/**
 * What the server would refuse of a push whose content is not known yet, so that nobody is asked for a secret in vain. The
 * server is the judge: what is not recognised here, it refuses.
 * @returns one sentence each.
 */
export function rulesBrokenBy(push: PlannedPush, policy: Policy, now: number): readonly string[] {
  const refusedKind = kindsOf(push).find((kind) => !policy.kinds.includes(kind));
  const minutes = minutesOf(push, now);
  const { max_minutes: maxMinutes, max_views: maxViews } = policy;
  const found: readonly (string | false)[] = [
    refusedKind !== undefined && `The rules of this server do not allow ${refusedKind} pushes.`,
    policy.encryption_required && !push.isEndToEnd && "The rules of this server allow only end-to-end pushes.",
    policy.passphrase.required && !push.hasPassphrase && "The rules of this server require a passphrase.",
    maxMinutes !== null &&
      minutes > maxMinutes &&
      `The rules of this server allow a life of at most ${maxMinutes} minutes.`,
    maxViews !== null &&
      (push.expire_after_views ?? 0) > maxViews &&
      `The rules of this server allow at most ${maxViews} views.`,
  ];
  return found.filter((sentence) => sentence !== false);
}

/** Without files, a preset may name the kind, which only the server knows. */
function kindsOf({ kind, preset, hasFiles }: PlannedPush): Policy["kinds"] {
  const others = hasFiles ? (["file"] as const) : [];
  if (kind !== undefined) return [kind, ...others];
  return hasFiles || preset !== undefined ? others : ["text"];
}

/** 0: the server's default, which follows its rules. */
function minutesOf({ expires_at: instant, expire_after_duration: code, expire_after_days: days }: Limits, now: number) {
  if (instant !== undefined) return (Date.parse(instant) - now) / 60_000;
  return code === undefined ? (days ?? 0) * 24 * 60 : (durationMinutes[code] ?? 0);
}

/** Only the sender of an end-to-end push can check this. @returns undefined: the passphrase breaks no rule. */
export function ruleBrokenByPassphrase(passphrase: string, { passphrase: rules }: Policy): string | undefined {
  if ([...passphrase].length < rules.min_length) {
    return `The rules of this server require a passphrase of at least ${rules.min_length} characters.`;
  }
  const isGuessable = !rules.common_allowed && guessableReason(passphrase) !== undefined;
  return isGuessable ? "The rules of this server forbid passphrases that attackers try first." : undefined;
}
