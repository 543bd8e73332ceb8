import { reasonAgainst, type UnusedSetting } from "./password-pusher-settings.ts";
import { type Environment, printable } from "./setting.ts";

const warnedNamesMax = 20;
const nameLengthMax = 100;
/** Characters that somebody mistypes in a name. Any more, and it is more likely the name of something else. */
const mistakesMax = 3;

export function unusedSentence({ name, because }: UnusedSetting): string {
  return `${printable(name)} is not used here, because ${because}.`;
}

/** One warning for each variable whose name looks like a setting's, sorted by name; no values. */
export function unknownNameWarnings(environment: Environment, known: readonly string[]): readonly string[] {
  const knownNames = new Set(known);
  const unknown = Object.keys(environment)
    .filter((name) => /^PWP(USH)?[-_.]/i.test(name) && environment[name] !== undefined && !knownNames.has(name))
    .filter((name) => reasonAgainst(name) === undefined)
    .sort();
  const warnings = unknown.slice(0, warnedNamesMax).map((name) => {
    const nearest = nearestName(name, known);
    const hint = nearest === undefined ? "no setting has a similar name" : `did you mean ${nearest}?`;
    return `${printable(name)} is not a setting of this version and has no effect: ${hint}${nearest === undefined ? "." : ""}`;
  });
  const more = unknown.length - warnings.length;
  return more > 0 ? [...warnings, `${more} more names of this kind are not settings of this version.`] : warnings;
}

/**
 * Optimal string alignment distance (Damerau 1964): the fewest single-character insertions, deletions, replacements and
 * swaps of neighbours that turn one text into the other. Takes time proportional to the product of the lengths.
 */
export function editDistance(from: string, to: string): number {
  let twoBack: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let best = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) best = Math.min(best, (twoBack[column - 2] ?? 0) + 1);
      current.push(best);
    }
    twoBack = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}

/**
 * The known name with the smallest edit distance, the first of several, regardless of case; hyphens and dots count as
 * underscores. undefined if none is so near that a typing mistake is likely.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > nameLengthMax) return undefined;
  const wanted = name.toUpperCase().replace(/[-.]/g, "_");
  let nearest: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const bound = nearest?.distance ?? mistakesMax + 1;
    if (Math.abs(candidate.length - wanted.length) >= bound) continue;
    const distance = editDistance(wanted, candidate.toUpperCase());
    if (distance < bound) nearest = { name: candidate, distance };
  }
  return nearest?.name;
}
