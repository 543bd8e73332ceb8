/** How much is under way at the same time. */
export interface LaneLimits {
  readonly lanesMax: number;
  /** Of all rows under way together; one that weighs more goes alone. */
  readonly weightMax: number;
}

/**
 * Works on rows in several lanes at once, and reads no further than there is room. The first error stops the reading and is
 * thrown once nothing is under way any more; so does `signal`, without an error.
 */
export async function inLanes<Row>(
  rows: AsyncIterable<Row>,
  limits: LaneLimits & { readonly weightOf: (row: Row) => number; readonly signal: AbortSignal },
  work: (row: Row) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let weight = 0;

  const hasRoomFor = (more: number) =>
    underWay.size === 0 || (underWay.size < limits.lanesMax && weight + more <= limits.weightMax);

  function start(row: Row, own: number): void {
    weight += own;
    const lane: Promise<void> = work(row)
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => {
        weight -= own;
        underWay.delete(lane);
      });
    underWay.add(lane);
  }

  try {
    for await (const row of rows) {
      const own = limits.weightOf(row);
      while (!hasRoomFor(own)) await Promise.race(underWay);
      if (failures.length > 0 || limits.signal.aborted) break;
      start(row, own);
    }
  } finally {
    await Promise.all(underWay);
  }
  if (failures.length > 0) throw failures[0];
}
