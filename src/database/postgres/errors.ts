import pg from "pg";
import { AppError } from "../../base/errors.ts";

/** With every 503: as long as the pool takes to find a server that is back. */
export const retryAfterSeconds = 2;

/** The connection broke, timed out, or could not be made: what ran on it may have happened or not. */
export class LostConnectionError extends Error {
  override readonly name = "LostConnectionError";
  /** SQLSTATE, or the system's code. */
  readonly code: string;

  constructor(cause: unknown) {
    super("The connection to the database was lost.", { cause });
    this.code = codeOf(cause);
  }
}

/** Nothing was sent: no connection could be made, or the transaction had not come to its commit. */
export class NotConnectedError extends AppError {
  constructor(cause: LostConnectionError) {
    super("unavailable", "The database does not answer.", { retryAfterSeconds, cause });
    this.name = "NotConnectedError";
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "CONNECTION_LOST";
}

/** SQLSTATE of an error that the server sent; "" for any other. Source: PostgreSQL's manual, appendix A. */
export function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? "") : "";
}

/**
 * Classes in which the server says that this connection is of no use, or leads to a server that takes no writes:
 * 08 connection, 57P01-57P05 shutdown, crash, start, 25006 a standby, 25P03 idle for too long in a transaction,
 * 53300 too many connections. 40003: it does not know itself whether the statement was done.
 */
const ofTheConnection = /^(08|57P0|25006$|25P03$|40003$|53300$)/;

/** What a driver's error means here: a statement that failed by itself stays as it is. */
export function told(error: unknown): unknown {
  const state = sqlState(error);
  return state === "" || ofTheConnection.test(state) ? new LostConnectionError(error) : error;
}

/** Two transactions were in each other's way and the server undid this one: it asks that it be run again. */
export function isConflict(error: unknown): boolean {
  return ["40001", "40P01"].includes(sqlState(error));
}

/** The server refuses for now: no room, a lock or a statement that took too long, a failing disk. */
export function isRefusalForNow(error: unknown): boolean {
  return /^(53|55P03$|57014$|58|XX)/.test(sqlState(error));
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === "23505";
}
