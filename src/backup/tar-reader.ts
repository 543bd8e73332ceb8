import { BackupError } from "./backup-error.ts";
import { headerSum } from "./tar-writer.ts";

/** A file in an archive. Its content has to be read, or left, before the next one is asked for. */
export interface Member {
  readonly path: string;
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

const blockBytes = 512;
const extendedBytesMax = 64 * 1024;

/**
 * The files of an archive as `tarHeader` and common tools write it. Folders are passed over; links and all else that is
 * no file are refused, since nothing of the kind is in a backup. Holds one chunk of the source at a time.
 * @throws BackupError when it is no archive, ends too early, or is damaged.
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<Member> {
  const reader = new BlockReader(source);
  let sizeOfNext: number | undefined;
  try {
    for (;;) {
      const block = await reader.take(blockBytes);
      if (block.every((byte) => byte === 0)) {
        await reader.leaveRest();
        return;
      }
      if (readOctal(block, 148, 8) !== headerSum(block)) {
        throw new BackupError("This is no tar archive, or a damaged one. If it is compressed or encrypted, undo that.");
      }
      const bytes = sizeOfNext ?? readSize(block);
      sizeOfNext = undefined;
      const type = String.fromCharCode(block[156] ?? 0);
      if (type === "x") {
        sizeOfNext = sizeIn(await extended(reader, bytes));
      } else if (type === "g" || type === "5") {
        await reader.leave(padded(bytes));
      } else if (type === "0" || type === "\0") {
        const content = reader.content(bytes);
        yield { path: readPath(block), bytes, content };
        for await (const chunk of content) void chunk;
        await reader.leave(padded(bytes) - bytes);
      } else {
        throw new BackupError("The archive holds something that is no file and in no backup.");
      }
    }
  } finally {
    await reader.close();
  }
}

class BlockReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** A copy of exactly so many bytes. */
  async take(bytes: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const chunk of this.content(bytes)) parts.push(chunk);
    return Buffer.concat(parts);
  }

  async leave(bytes: number): Promise<void> {
    for await (const chunk of this.content(bytes)) void chunk;
  }

  /** Each byte comes once, whoever iterates. */
  content(bytes: number): AsyncIterableIterator<Uint8Array> {
    const pull = (bytesMax: number) => this.#pull(bytesMax);
    let left = bytes;
    const iterator: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]: () => iterator,
      async next() {
        if (left === 0) return { done: true, value: undefined };
        const chunk = await pull(left);
        if (chunk === undefined) throw new BackupError("The archive ends too early: a part of it is missing.");
        left -= chunk.length;
        return { done: false, value: chunk };
      },
    };
    return iterator;
  }

  /** So that whoever writes into a pipe comes to an end. */
  async leaveRest(): Promise<void> {
    while ((await this.#pull(Number.MAX_SAFE_INTEGER)) !== undefined);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #pull(bytesMax: number): Promise<Uint8Array | undefined> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return undefined;
      this.#rest = next.value;
    }
    const chunk = this.#rest.subarray(0, bytesMax);
    this.#rest = this.#rest.subarray(chunk.length);
    return chunk;
  }
}

function padded(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

async function extended(reader: BlockReader, bytes: number): Promise<string> {
  if (bytes > extendedBytesMax) throw new BackupError("The archive has a header that is too long.");
  const records = await reader.take(bytes);
  await reader.leave(padded(bytes) - bytes);
  return records.toString("utf8");
}

/** No path in a backup is long enough to stand in one, and times and owners do not matter. */
function sizeIn(records: string): number | undefined {
  const size = /(?:^|\n)\d+ size=(\d{1,15})\n/.exec(records)?.[1];
  return size === undefined ? undefined : Number(size);
}

/** Octal digits; or, where the first bit is set, a binary number (GNU). */
function readSize(block: Buffer): number {
  const size = ((block[124] ?? 0) & 0x80) === 0 ? readOctal(block, 124, 12) : Number(block.readBigUInt64BE(128));
  if (!Number.isSafeInteger(size)) throw new BackupError("The archive names a file of a length that cannot be.");
  return size;
}

function readOctal(block: Buffer, at: number, length: number): number {
  const text = textAt(block, at, length).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

/** Common tools write `./` before each path of a folder that they pack. */
function readPath(block: Buffer): string {
  const prefix = textAt(block, 345, 155);
  const name = textAt(block, 0, 100);
  return (prefix === "" ? name : `${prefix}/${name}`).replace(/^\.\//, "");
}

function textAt(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString("latin1", 0, end < 0 ? length : end);
}
