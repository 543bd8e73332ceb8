/** The order in which stored pushes are claimed. */
export type ClaimPattern = "recent" | "uniform";

const newestShare = 0.05;
const recentShare = 0.8;

/**
 * Chooses different members of a list in the order of creation. "recent": 80 % among the newest 5 %, as people open
 * links soon after they got them; "uniform": among all, which no cache speeds up.
 * @param random 0 to 1.
 */
export function chooseClaims(pattern: ClaimPattern, stored: number, claims: number, random: () => number): number[] {
  const chosen = new Set<number>();
  while (chosen.size < claims) {
    const recent = pattern === "recent" && random() < recentShare;
    // Relative to the newest that is left, so that the range moves as its members are used up.
    const zone = recent ? Math.min(stored, Math.ceil((stored - chosen.size) * newestShare) + chosen.size) : stored;
    const at = stored - 1 - Math.floor(random() * zone);
    chosen.add(at);
  }
  return [...chosen];
}

/** A small generator with a seed, so that every run asks for the same sequence (Mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
