/** An unpredictable whole number from 0 to `limit` - 1, each equally likely. `limit` is at most 2^32. */
export type RandomBelow = (limit: number) => number;

const range = 2 ** 32;

/**
 * Numbers in the last, incomplete run of `limit` are drawn again: a plain remainder would favour the small ones.
 * @param fill fills an array with random numbers, e.g. `crypto.getRandomValues`.
 */
export function randomBelowFrom(fill: (numbers: Uint32Array<ArrayBuffer>) => void): RandomBelow {
  const drawn = new Uint32Array(1);
  return (limit) => {
    const usable = range - (range % limit);
    for (;;) {
      fill(drawn);
      const [number = range] = drawn;
      if (number < usable) return number % limit;
    }
  };
}
