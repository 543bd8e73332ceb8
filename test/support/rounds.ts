const percent = Number(process.env.SEALPUSH_TEST_ROUNDS_PERCENT || "100");

/** How often a test repeats what ends at another moment each time. @param all how often `npm run test:rest` does. */
export function roundsOf(all: number): number {
  return Math.max(1, Math.round((all * percent) / 100));
}
