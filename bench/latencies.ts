/** Buckets per doubling: the error of a value is below 1.6 %. */
const bucketsPerOctave = 64;
const octaves = 40;

/** Latencies in microseconds, in buckets that grow with the value: constant memory, however many are recorded. */
export class Latencies {
  readonly #counts = new Uint32Array(bucketsPerOctave * octaves);
  #count = 0;

  record(micros: number): void {
    const bucket = Math.floor(Math.log2(Math.max(1, micros)) * bucketsPerOctave);
    const at = Math.min(bucket, this.#counts.length - 1);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /** @param share 0 to 1. @returns microseconds; 0 when nothing was recorded. */
  percentile(share: number): number {
    const wanted = this.#count * share;
    let seen = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count;
      if (count > 0 && seen >= wanted) return 2 ** ((bucket + 0.5) / bucketsPerOctave);
    }
    return 0;
  }
}
