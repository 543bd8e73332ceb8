import { closeSync, openSync, readSync } from "node:fs";
import { systemErrorCode } from "../../base/system-error.ts";

/** https://www.sqlite.org/fileformat2.html, sections 1.3 (header), 1.6 (pages of b-trees) and 4.1 (write-ahead log). */
const magic = Buffer.from("SQLite format 3\0", "latin1");
const headerBytes = 108;
const userVersionAt = 60;
const treeAt = { type: 100, cells: 103 } as const;
const interiorTable = 5;
const leafTable = 13;
const log = { headerBytes: 32, pageBytesAt: 8, saltAt: 16, saltBytes: 8 } as const;
const frame = { headerBytes: 24, committedPagesAt: 4, saltAt: 8 } as const;
const firstPage = 1;

/**
 * Whether a file is a SQLite database that holds tables and was not created by this program, which sets the schema version
 * in the transaction that creates the first table. The file is not opened with SQLite, because that would change it and
 * create files beside it.
 *
 * Call it only while the process does not have the database open: closing a file releases all of the process's locks on it.
 */
export function isOfAnotherProgram(path: string): boolean {
  const page =
    readFile(`${path}-wal`, findCommittedFirstPage) ?? readFile(path, (file) => readAt(file, 0, headerBytes));
  if (page === undefined || page.length < headerBytes || !page.subarray(0, magic.length).equals(magic)) return false;
  return page.readUInt32BE(userVersionAt) === 0 && holdsTables(page);
}

/** The first page is the root of the schema table. */
function holdsTables(page: Buffer): boolean {
  const type = page.readUInt8(treeAt.type);
  return type === interiorTable || (type === leafTable && page.readUInt16BE(treeAt.cells) > 0);
}

/** @returns the first page after the last committed transaction of the log; undefined: the log does not have it. */
function findCommittedFirstPage(file: number): Buffer | undefined {
  const header = readAt(file, 0, log.headerBytes);
  if (header.length < log.headerBytes) return undefined;
  const frameBytes = frame.headerBytes + header.readUInt32BE(log.pageBytesAt);
  const salt = header.subarray(log.saltAt, log.saltAt + log.saltBytes);
  let [latest, committed]: (number | undefined)[] = [];
  for (let at: number = log.headerBytes; ; at += frameBytes) {
    const head = readAt(file, at, frame.headerBytes);
    // The remaining frames are from before the last checkpoint.
    if (head.length < frame.headerBytes || !head.subarray(frame.saltAt, frame.saltAt + log.saltBytes).equals(salt))
      break;
    if (head.readUInt32BE(0) === firstPage) latest = at + frame.headerBytes;
    if (head.readUInt32BE(frame.committedPagesAt) > 0) committed = latest;
  }
  return committed === undefined ? undefined : readAt(file, committed, headerBytes);
}

/** @returns undefined when the file cannot be read: opening the database reports the reason. */
function readFile(path: string, read: (file: number) => Buffer | undefined): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    return read(file);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readAt(file: number, position: number, bytes: number): Buffer {
  const content = Buffer.alloc(bytes);
  return content.subarray(0, readSync(file, content, 0, bytes, position));
}
