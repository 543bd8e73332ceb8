import { AppError } from "../base/errors.ts";
import { capabilitiesOf, type Database } from "../database/database.ts";
import { createInMemoryLimits } from "./in-memory-limits.ts";
import type { RequestCounts } from "./request-counts.ts";
import { createSharedLimits } from "./shared-limits.ts";

/** So many attempts of one key in so long a time. */
export interface Limit {
  /** Tells its keys from those of other limits. */
  readonly name: string;
  readonly windowMs: number;
  readonly max: number;
  /** Keys that one process remembers in its own memory; beyond it the oldest are forgotten. */
  readonly rememberedMax: number;
}

export type Charge =
  /** `refund` takes the charge back; to be called once at most. */
  { readonly outcome: "charged"; refund(): Promise<void> } | Refused;

export interface Refused {
  readonly outcome: "refused";
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/**
 * Charged before the attempt is made and given back when it was no guess, so that attempts sent in parallel, to however
 * many processes, gain nothing. A refused attempt is not counted. A window from the future means that a clock was set
 * back: it must not lock anybody out until then.
 */
export interface Counter {
  charge(key: string, now: number): Promise<Charge>;
}

/** Where attempts are counted: in this process, or over all that share a database. */
export interface Limits {
  /** In windows that begin with a key's first attempt after the window before. */
  inWindows(limit: Limit): Counter;
  /** In any stretch of time of a window's length. */
  sliding(limit: Limit): Counter;
  /** What other processes have let pass; undefined: there are none to ask. */
  readonly requests: RequestCounts | undefined;
  /** Forgets what is over. @returns how many rows, at most `rowsMax` of each kind. */
  removeOver(now: number, rowsMax: number): Promise<number>;
}

/**
 * Where several processes may use the database, they count together in it; otherwise the process counts in memory.
 * @param onUnanswered called when the database does not answer and this process counts alone.
 */
export function createLimits(db: Database, onUnanswered: (error: unknown) => void): Limits {
  return capabilitiesOf[db.engine].manyProcesses ? createSharedLimits(db, onUnanswered) : createInMemoryLimits();
}

export function tooManyAttempts({ retryAfterSeconds }: Refused): AppError {
  return new AppError("too_many_requests", "Too many attempts. Try again later.", { retryAfterSeconds });
}
