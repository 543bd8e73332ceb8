import { sentenceOf } from "../errors.ts";

type Level = "ok" | "warn" | "fail";

export interface Finding {
  readonly level: Level;
  readonly name: string;
  /** One sentence: the result, or what is wrong and what to do. */
  readonly sentence: string;
}

export const ok = (name: string, sentence: string): Finding => ({ level: "ok", name, sentence });
export const warn = (name: string, sentence: string): Finding => ({ level: "warn", name, sentence });
export const fail = (name: string, sentence: string): Finding => ({ level: "fail", name, sentence });

/** A check that throws counts as failed, and does not prevent the others. */
export async function check(name: string, run: () => Promise<Finding[]> | Finding[]): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    return [fail(name, sentenceOf(error))];
  }
}
