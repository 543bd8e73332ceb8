import pg from "pg";
import { AppError, errorCode } from "../../base/errors.ts";

/** Sent with every 503: the time that the pool needs to find a restarted server. */
export const retryAfterSeconds = 2;

/** The connection broke, timed out, or could not be opened: its work may or may not have been executed. */
export class LostConnectionError extends Error {
  override readonly name = "LostConnectionError";
  /** SQLSTATE, or the operating system's code. */
  readonly code: string;

  constructor(cause: unknown) {
    super("The connection to the database was lost.", { cause });
    this.code = errorCode(cause) ?? "CONNECTION_LOST";
  }
}

/** Nothing was executed: no connection could be opened, or it was lost before the commit was sent. */
export class NotConnectedError extends AppError {
  readonly stage: "connecting" | "connected";

  constructor(stage: NotConnectedError["stage"], cause: LostConnectionError) {
    super("unavailable", "The database does not answer.", { retryAfterSeconds, cause });
    this.name = "NotConnectedError";
    this.stage = stage;
  }
}

/** The SQLSTATE of a server error; "" for any other error. Source: PostgreSQL's manual, appendix A. */
export function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? "") : "";
}

/**
 * SQLSTATEs with which the server says that this connection is unusable or leads to a server that accepts no writes:
 * 08 connection, 57P01-57P05 shutdown, crash and start, 25006 standby, 25P03 idle in a transaction for too long, 53300 too
 * many connections. 40003: the server does not know whether the statement was executed.
 */
const connectionStates = /^(08|57P0|25006$|25P03$|40003$|53300$)/;

/** The SQLSTATE with which the server ends a transaction that has waited for its process for too long. */
export const idleInTransaction = "25P03";

/** @returns a LostConnectionError for failures of the connection; errors of the statement itself are returned unchanged. */
export function classifyDriverError(error: unknown): unknown {
  const state = sqlState(error);
  return state === "" || connectionStates.test(state) ? new LostConnectionError(error) : error;
}

/** A conflict or a deadlock between two transactions: the server rolled this one back, and it can be run again. */
export function isConflict(error: unknown): boolean {
  return ["40001", "40P01"].includes(sqlState(error));
}

/**
 * A refusal that is not a bug in the statement: no space, a lock or statement timeout, a failing disk. 26000: a prepared
 * statement is missing, because a pooler that the settings do not name gives the connection to others.
 */
export function isTemporaryRefusal(error: unknown): boolean {
  return /^(53|55P03$|57014$|58|XX|26000$)/.test(sqlState(error));
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === "23505";
}
