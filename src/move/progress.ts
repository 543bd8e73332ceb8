import type { Value } from "../database/statement.ts";
import { MoveError } from "./move-error.ts";

/** How far a move has come; it is written in the transaction that writes the rows. */
export interface Progress {
  /** Of the source's index key: a move goes on only from where it began. */
  readonly source: string;
  /** The table that is being filled; undefined: none yet. */
  readonly table: string | undefined;
  /** The key of its last row that is there; undefined: none. */
  readonly after: readonly Value[] | undefined;
}

const bytesPrefix = "base64:";

export function writeProgress({ source, table, after }: Progress): string {
  return JSON.stringify({ source, table, after: after?.map(toJson) });
}

/** @throws MoveError when it is not what `writeProgress` wrote. */
export function readProgress(text: string): Progress {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null) throw unreadable();
  const { source, table, after } = { ...parsed } as Readonly<Record<string, unknown>>;
  if (typeof source !== "string") throw unreadable();
  return {
    source,
    table: typeof table === "string" ? table : undefined,
    after: Array.isArray(after) ? after.map(fromJson) : undefined,
  };
}

/** A text of a key never begins like one of bytes does here: it is quoted. */
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
  return new MoveError("What the destination says of the move into it cannot be read: make it anew and start again.");
}
