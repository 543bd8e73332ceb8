import { isFields } from "../base/json.ts";
import type { Value } from "../database/statement.ts";

/** A move cannot be done or has failed. The message is one sentence for the operator. */
export class MoveError extends Error {
  override readonly name = "MoveError";
}

/** How far a move has come. It is written in the transaction that writes the rows. */
export interface Progress {
  /** Digest of the source's index key: a move continues only from the same source. */
  readonly source: string;
  /** The table that is being copied; undefined: none yet. */
  readonly table: string | undefined;
  /** The key of its last copied row; undefined: none. */
  readonly after: readonly Value[] | undefined;
}

const bytesPrefix = "base64:";

export function writeProgress({ source, table, after }: Progress): string {
  return JSON.stringify({ source, table, after: after?.map(toJson) });
}

/** @throws MoveError for text that `writeProgress` did not write. */
export function readProgress(text: string): Progress {
  const parsed: unknown = JSON.parse(text);
  if (!isFields(parsed) || typeof parsed.source !== "string") throw unreadable();
  const { source, table, after } = parsed;
  return {
    source,
    table: typeof table === "string" ? table : undefined,
    after: Array.isArray(after) ? after.map(fromJson) : undefined,
  };
}

/** Strings get a prefix too, so that none can look like bytes. */
function toJson(value: Value): string | number | null {
  if (Buffer.isBuffer(value)) return `${bytesPrefix}${value.toString("base64")}`;
  return typeof value === "string" ? `text:${value}` : value;
}

function fromJson(value: unknown): Value {
  if (typeof value === "number" || value === null) return value;
  if (typeof value !== "string") throw unreadable();
  if (value.startsWith(bytesPrefix)) return Buffer.from(value.slice(bytesPrefix.length), "base64");
  return value.slice("text:".length);
}

function unreadable(): MoveError {
  return new MoveError(
    "The progress of the move cannot be read from the destination: create the destination again and start over.",
  );
}
