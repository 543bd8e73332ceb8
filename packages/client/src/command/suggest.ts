/** What somebody may have meant, for an error message: " Did you mean push?"; "": no name is similar. */
export function didYouMean(typed: string, names: readonly string[]): string {
  // Longer words are no slip of the finger.
  if (typed.length > 30) return "";
  const near = names
    .map((name) => ({ name, distance: distanceOf(typed.toLowerCase(), name) }))
    .filter(({ name, distance }) => distance <= 2 && distance < name.length / 2)
    .sort((a, b) => a.distance - b.distance)[0];
  return near === undefined ? "" : ` Did you mean ${near.name}?`;
}

/** The distance by Damerau and Levenshtein: letters that are missing, additional, different or exchanged with their neighbour. */
function distanceOf(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const edits = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1)];
      row.push(Math.min(...edits, ...(isSwapped ? [(beforeLast[j - 2] ?? 0) + 1] : [])));
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
