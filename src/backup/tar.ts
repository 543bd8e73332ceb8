import { BackupError } from "./durable-files.ts";

const blockBytes = 512;
/** Eleven octal digits. The size of a larger file is in an extended header before it. */
const plainBytesMax = 8 ** 11 - 1;

/** Two empty blocks. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockBytes);

/**
 * The header of a file that only its user may read, by POSIX.1-2001: ustar, with a pax header if the size needs one.
 * @param path at most 100 bytes. @param modifiedAt ms since the epoch.
 */
export function tarHeader(path: string, bytes: number, modifiedAt: number): Buffer {
  if (bytes <= plainBytesMax) return header(path, "0", bytes, modifiedAt);
  const records = Buffer.from(paxRecord("size", String(bytes)));
  return Buffer.concat([
    header("pax-header", "x", records.length, modifiedAt),
    records,
    tarPadding(records.length),
    header(path, "0", 0, modifiedAt),
  ]);
}

/** The padding after so many bytes of content. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);
}

function header(path: string, type: "0" | "x", bytes: number, modifiedAt: number): Buffer {
  const name = Buffer.from(path);
  if (name.length > 100) throw new Error("A path in an archive has 100 bytes at most.");
  const block = Buffer.alloc(blockBytes);
  name.copy(block);
  block.write(octal(0o600, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(bytes, 11), 124);
  block.write(octal(Math.max(0, Math.floor(modifiedAt / 1_000)), 11), 136);
  block.write(type, 156);
  block.write("ustar\0", 257);
  block.write("00", 263);
  block.write(`${octal(headerSum(block), 6)}\0 `, 148);
  return block;
}

/** The sum of all bytes of a header, with its own field counted as spaces. */
export function headerSum(block: Uint8Array): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/** `length keyword=value`, where the length includes its own digits. */
function paxRecord(keyword: string, value: string): string {
  const rest = ` ${keyword}=${value}\n`;
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return `${length}${rest}`;
}

/** A file in an archive. Its content has to be read or skipped before the next one is requested. */
export interface Member {
  readonly path: string;
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

const extendedBytesMax = 64 * 1024;

/**
 * The files of an archive that `tarHeader` or common tools wrote. Folders are skipped. Links and other entries are refused:
 * a backup has none. Holds one chunk of the source at a time.
 * @throws BackupError if it is not an archive, is incomplete, or is damaged.
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<Member> {
  const reader = new BlockReader(source);
  let sizeOfNext: number | undefined;
  try {
    for (;;) {
      const block = await reader.take(blockBytes);
      if (block.every((byte) => byte === 0)) {
        await reader.skipRest();
        return;
      }
      if (readOctal(block, 148, 8) !== headerSum(block)) {
        throw new BackupError(
          "This is not a tar archive, or it is damaged. If it is compressed or encrypted, decompress or decrypt it first.",
        );
      }
      const bytes = sizeOfNext ?? readSize(block);
      sizeOfNext = undefined;
      const type = String.fromCharCode(block[156] ?? 0);
      if (type === "x") {
        sizeOfNext = sizeIn(await readExtended(reader, bytes));
      } else if (type === "g" || type === "5") {
        await reader.skip(padded(bytes));
      } else if (type === "0" || type === "\0") {
        const content = reader.content(bytes);
        yield { path: readPath(block), bytes, content };
        for await (const chunk of content) void chunk;
        await reader.skip(padded(bytes) - bytes);
      } else {
        throw new BackupError("The archive holds an entry that is not a file, which no backup has.");
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

  /** Copies exactly this many bytes. */
  async take(bytes: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const chunk of this.content(bytes)) parts.push(chunk);
    return Buffer.concat(parts);
  }

  async skip(bytes: number): Promise<void> {
    for await (const chunk of this.content(bytes)) void chunk;
  }

  /** Returns each byte once, also if there are several iterators. */
  content(bytes: number): AsyncIterableIterator<Uint8Array> {
    const pull = (bytesMax: number) => this.#pull(bytesMax);
    let left = bytes;
    const iterator: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]: () => iterator,
      async next() {
        if (left === 0) return { done: true, value: undefined };
        const chunk = await pull(left);
        if (chunk === undefined) throw new BackupError("The archive ends too early: it is incomplete.");
        left -= chunk.length;
        return { done: false, value: chunk };
      },
    };
    return iterator;
  }

  /** Reads to the end, so that a process that writes into a pipe can finish. */
  async skipRest(): Promise<void> {
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

async function readExtended(reader: BlockReader, bytes: number): Promise<string> {
  if (bytes > extendedBytesMax) throw new BackupError("The archive has a header that is too long.");
  const records = await reader.take(bytes);
  await reader.skip(padded(bytes) - bytes);
  return records.toString("utf8");
}

/** Only the size of an extended header matters: paths in a backup are short, and times and owners are ignored. */
function sizeIn(records: string): number | undefined {
  const size = /(?:^|\n)\d+ size=(\d{1,15})\n/.exec(records)?.[1];
  return size === undefined ? undefined : Number(size);
}

/** Octal digits, or a binary number if the first bit is set (GNU). */
function readSize(block: Buffer): number {
  const size = ((block[124] ?? 0) & 0x80) === 0 ? readOctal(block, 124, 12) : Number(block.readBigUInt64BE(128));
  if (!Number.isSafeInteger(size)) throw new BackupError("The archive contains a file with an invalid size.");
  return size;
}

function readOctal(block: Buffer, at: number, length: number): number {
  const text = textAt(block, at, length).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

/** Common tools write `./` before each path of a folder. */
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
