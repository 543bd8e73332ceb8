import { nearestName } from "./nearest-name.ts";
import { reasonAgainst, type UnusedSetting } from "./password-pusher-settings.ts";
import type { Environment } from "./read-settings.ts";
import { printable } from "./setting.ts";

const warnedNamesMax = 20;

export function unusedSentence({ name, because }: UnusedSetting): string {
  return `${printable(name)} is not used here, because ${because}.`;
}

/** One warning for each variable that looks like a setting but is none, in the order of their names; no values. */
export function unknownNameWarnings(environment: Environment, known: readonly string[]): readonly string[] {
  const knownNames = new Set(known);
  const unknown = Object.keys(environment)
    .filter((name) => /^PWP(USH)?_/i.test(name) && environment[name] !== undefined && !knownNames.has(name))
    .filter((name) => reasonAgainst(name) === undefined)
    .sort();
  const warnings = unknown.slice(0, warnedNamesMax).map((name) => {
    const nearest = nearestName(name, known);
    const hint = nearest === undefined ? "no setting has a name like it" : `did you mean ${nearest}?`;
    return `${printable(name)} is not a setting of this version and has no effect: ${hint}${nearest === undefined ? "." : ""}`;
  });
  const more = unknown.length - warnings.length;
  return more > 0 ? [...warnings, `${more} more names of this kind are not settings of this version.`] : warnings;
}
