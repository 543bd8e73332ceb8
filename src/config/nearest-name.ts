const nameLengthMax = 100;

/**
 * The fewest single-character insertions, deletions, replacements and swaps of neighbours that turn one text into the
 * other, no part being touched twice (optimal string alignment; Damerau 1964). Costs the product of the lengths.
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
 * The known name with the smallest edit distance, the first of several; case counts for nothing. undefined only when
 * there is none, or for a name longer than any setting's could be.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > nameLengthMax) return undefined;
  const wanted = name.toUpperCase();
  let nearest: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const bound = nearest?.distance ?? Number.POSITIVE_INFINITY;
    if (Math.abs(candidate.length - wanted.length) >= bound) continue;
    const distance = editDistance(wanted, candidate.toUpperCase());
    if (distance < bound) nearest = { name: candidate, distance };
  }
  return nearest?.name;
}
