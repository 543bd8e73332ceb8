/** Numbers from 0 up to but not including 1, the same for the same seed: xorshift32 (Marsaglia, 2003). */
export function seededNumbers(seed: number): () => number {
  let state = seed === 0 ? 1 : seed | 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
