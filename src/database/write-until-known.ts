import { OutcomeUnknownError } from "./database.ts";

const triesMax = 5;

/**
 * Runs a write again when nobody can say whether it has happened: for writes that find themselves done, and do nothing
 * then. @returns what the last try gave, and how many there were.
 */
export async function writeUntilKnown<T>(
  write: () => Promise<T>,
): Promise<{ readonly value: T; readonly tries: number }> {
  for (let tries = 1; ; tries += 1) {
    try {
      return { value: await write(), tries };
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError) || tries === triesMax) throw error;
    }
  }
}
