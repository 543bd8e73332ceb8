interface Limits<Row> {
  readonly tasksMax: number;
  /** The total of the rows in progress. A row that exceeds it is processed alone. */
  readonly weightMax: number;
  readonly weightOf: (row: Row) => number;
  readonly signal: AbortSignal;
}

/**
 * Processes several rows at once, and reads no more rows than the limits allow. The first error stops reading and is thrown
 * once no task is running. `signal` stops reading without an error.
 */
export async function runConcurrently<Row>(
  rows: AsyncIterable<Row>,
  limits: Limits<Row>,
  work: (row: Row) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let totalWeight = 0;

  const hasRoomFor = (weight: number) =>
    running.size === 0 || (running.size < limits.tasksMax && totalWeight + weight <= limits.weightMax);

  function start(row: Row, weight: number): void {
    totalWeight += weight;
    const task: Promise<void> = work(row)
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => {
        totalWeight -= weight;
        running.delete(task);
      });
    running.add(task);
  }

  try {
    for await (const row of rows) {
      const weight = limits.weightOf(row);
      while (!hasRoomFor(weight)) await Promise.race(running);
      if (failures.length > 0 || limits.signal.aborted) break;
      start(row, weight);
    }
  } finally {
    await Promise.all(running);
  }
  if (failures.length > 0) throw failures[0];
}
