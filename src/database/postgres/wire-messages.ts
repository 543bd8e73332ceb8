import type { Value } from "../statement.ts";

/**
 * Messages of PostgreSQL's protocol 3 that run a named statement. Source: PostgreSQL's manual, "Message Formats": one byte
 * with the type, four bytes with the length of what follows and their own, the content; numbers are big-endian.
 */

const types = { bind: 0x42, close: 0x43, parse: 0x50 };
const textFormat = 0;
const binaryFormat = 1;
const isNull = -1;
/** For the unnamed portal: describe it, and execute it to its last row. */
const describe = Buffer.from([0x44, 0, 0, 0, 6, 0x50, 0]);
const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
const describeAndExecute = Buffer.concat([describe, execute]);
/** Ends the runs that belong together: the server commits them and becomes ready for the next query. */
export const syncMessage = Buffer.from([0x53, 0, 0, 0, 4]);

/** Runs a statement that is prepared under this name. */
export function runMessages(name: string, values: readonly Value[]): Buffer {
  return bindAnd(execute, name, values);
}

/**
 * Prepares the statement, asks for its columns, and runs it. A statement that is already prepared under this name, in a first
 * run that failed, is closed.
 */
export function firstRunMessages(name: string, text: string, values: readonly Value[]): Buffer {
  const close = message(types.close, `S${name}\0`);
  // No parameter types: the server infers them.
  const parse = message(types.parse, `${name}\0${text}\0\0\0`);
  return Buffer.concat([close, parse, bindAnd(describeAndExecute, name, values)]);
}

function message(type: number, content: string): Buffer {
  const bytes = Buffer.from(`\0\0\0\0\0${content}`);
  bytes[0] = type;
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

/** Binds the values to the unnamed portal. All columns are returned as text. */
function bindAnd(then: Buffer, name: string, values: readonly Value[]): Buffer {
  const given = values.map((value) => (typeof value === "number" ? String(value) : value));
  const valuesBytes = given.reduce<number>((sum, value) => sum + 4 + bytesOf(value), 0);
  const length = 4 + 1 + (name.length + 1) + 2 + 2 * given.length + 2 + valuesBytes + 2;
  const bytes = Buffer.allocUnsafe(1 + length + then.length);
  bytes[0] = types.bind;
  let at = bytes.writeInt32BE(length, 1);
  at += bytes.write(`\0${name}\0`, at, "latin1");
  at = bytes.writeInt16BE(given.length, at);
  for (const value of given) at = bytes.writeInt16BE(Buffer.isBuffer(value) ? binaryFormat : textFormat, at);
  at = bytes.writeInt16BE(given.length, at);
  for (const value of given) at = writeValue(bytes, value, at);
  at = bytes.writeInt16BE(0, at);
  then.copy(bytes, at);
  return bytes;
}

function bytesOf(value: string | Buffer | null): number {
  if (value === null) return 0;
  return typeof value === "string" ? Buffer.byteLength(value) : value.length;
}

/** @returns the position of the next value. */
function writeValue(bytes: Buffer, value: string | Buffer | null, at: number): number {
  if (value === null) return bytes.writeInt32BE(isNull, at);
  const from = at + 4;
  const length = typeof value === "string" ? bytes.write(value, from) : value.copy(bytes, from);
  bytes.writeInt32BE(length, at);
  return from + length;
}
