/** One file of an archive. */
export interface ZipEntry {
  /** See `zipNames`. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Yields exactly `sizeBytes` bytes. */
  read(): AsyncIterable<Uint8Array>;
}

/** CRC-32 of `bytes` after others of that CRC: browsers have none, and node:zlib has a fast one. */
type Crc32 = (bytes: Uint8Array, crc: number) => number;

/** From here on a size or an offset has 64 bits (PKWARE APPNOTE 6.3.10, 4.3.9 and 4.5.3). */
const zip64From = 0xffff_ffff;
const localHeaderBytes = 30;
const centralHeaderBytes = 46;
const endBytes = 22;
const zip64EndBytes = 56 + 20;
/** The compression method "none". */
const stored = 0;
/** Bit 3: CRC and sizes follow the content. Bit 11: names are UTF-8. */
const flags = 0x0808;
/** A regular file that its owner may read and write; others may read it. Made on Unix. */
const fileMode = 0o100_644;
const madeOnUnix = 3 << 8;

const utf8 = (text: string) => new TextEncoder().encode(text);
const isLarge = (value: number) => value >= zip64From;
const versionFor = (large: boolean) => (large ? 45 : 20);
const localExtraBytes = (sizeBytes: number) => (isLarge(sizeBytes) ? 20 : 0);
const descriptorBytes = (sizeBytes: number) => (isLarge(sizeBytes) ? 24 : 16);
const centralExtraBytes = (sizeBytes: number, offset: number) =>
  isLarge(sizeBytes) || isLarge(offset) ? 4 + (isLarge(sizeBytes) ? 16 : 0) + (isLarge(offset) ? 8 : 0) : 0;
const needsZip64End = (sizes: readonly number[]) => sizes.some(isLarge);

/** The length of the archive in bytes. */
export function zipBytes(entries: readonly Pick<ZipEntry, "name" | "sizeBytes">[]): number {
  let offset = 0;
  let directory = 0;
  for (const { name, sizeBytes } of entries) {
    const nameBytes = utf8(name).length;
    directory += centralHeaderBytes + nameBytes + centralExtraBytes(sizeBytes, offset);
    offset += localHeaderBytes + nameBytes + localExtraBytes(sizeBytes) + sizeBytes + descriptorBytes(sizeBytes);
  }
  return offset + directory + (needsZip64End([offset, directory]) ? zip64EndBytes : 0) + endBytes;
}

/**
 * An archive of files that are not compressed, piece by piece. Its directory is at the end, so that an archive that was cut
 * opens nowhere. The first piece comes after the first bytes of the first file.
 * @param modifiedMs the time of all files, since the epoch.
 * @throws what the entries throw, and Error for an entry of another length.
 */
export async function* zip(
  entries: readonly ZipEntry[],
  modifiedMs: number,
  crc32: Crc32,
): AsyncGenerator<Uint8Array, void> {
  const time = dosTime(modifiedMs);
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const entry of entries) {
    const header = localHeader(entry, time);
    const startsAt = offset;
    offset += header.length;
    let crc = 0;
    let bytes = 0;
    for await (const chunk of entry.read()) {
      if (bytes === 0) yield header;
      crc = crc32(chunk, crc);
      bytes += chunk.length;
      yield chunk;
    }
    if (bytes === 0) yield header;
    if (bytes !== entry.sizeBytes) throw new Error(`A file has ${bytes} bytes instead of ${entry.sizeBytes}.`);
    const descriptor = dataDescriptor(crc, bytes);
    yield descriptor;
    offset += bytes + descriptor.length;
    directory.push(centralHeader(entry, time, crc, startsAt));
  }
  yield* directory;
  const directoryBytes = directory.reduce((bytes, { length }) => bytes + length, 0);
  yield endOf(entries.length, directoryBytes, offset);
}

/** A record, written field after field; numbers are little-endian. */
class RecordWriter {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
    this.#view = new DataView(this.bytes.buffer);
  }

  shorts(...values: readonly number[]): this {
    for (const value of values) this.#view.setUint16(this.#advance(2), value, true);
    return this;
  }

  longs(...values: readonly number[]): this {
    for (const value of values) this.#view.setUint32(this.#advance(4), value, true);
    return this;
  }

  /** 64 bits each. */
  larges(...values: readonly number[]): this {
    for (const value of values) this.#view.setBigUint64(this.#advance(8), BigInt(value), true);
    return this;
  }

  text(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.#advance(bytes.length));
    return this;
  }

  #advance(length: number): number {
    const at = this.#at;
    this.#at += length;
    return at;
  }
}

function localHeader({ name, sizeBytes }: ZipEntry, time: number): Uint8Array {
  const nameBytes = utf8(name);
  const large = isLarge(sizeBytes);
  const extraBytes = localExtraBytes(sizeBytes);
  const size = large ? zip64From : 0;
  const header = new RecordWriter(localHeaderBytes + nameBytes.length + extraBytes)
    .longs(0x0403_4b50)
    .shorts(versionFor(large), flags, stored)
    .longs(time, 0, size, size)
    .shorts(nameBytes.length, extraBytes)
    .text(nameBytes);
  if (large) writeZip64Extra(header, [sizeBytes, sizeBytes]);
  return header.bytes;
}

function dataDescriptor(crc: number, bytes: number): Uint8Array {
  const descriptor = new RecordWriter(descriptorBytes(bytes)).longs(0x0807_4b50, crc);
  return (isLarge(bytes) ? descriptor.larges(bytes, bytes) : descriptor.longs(bytes, bytes)).bytes;
}

function centralHeader({ name, sizeBytes }: ZipEntry, time: number, crc: number, offset: number): Uint8Array {
  const nameBytes = utf8(name);
  const extraBytes = centralExtraBytes(sizeBytes, offset);
  const size = Math.min(sizeBytes, zip64From);
  const header = new RecordWriter(centralHeaderBytes + nameBytes.length + extraBytes)
    .longs(0x0201_4b50)
    .shorts(madeOnUnix | versionFor(true), versionFor(extraBytes > 0), flags, stored)
    .longs(time, crc, size, size)
    // No comment, the first disk, no attribute of a text.
    .shorts(nameBytes.length, extraBytes, 0, 0, 0, 0, fileMode)
    .longs(Math.min(offset, zip64From))
    .text(nameBytes);
  const large = [...(isLarge(sizeBytes) ? [sizeBytes, sizeBytes] : []), ...(isLarge(offset) ? [offset] : [])];
  if (large.length > 0) writeZip64Extra(header, large);
  return header.bytes;
}

function writeZip64Extra(header: RecordWriter, values: readonly number[]): void {
  header.shorts(1, 8 * values.length).larges(...values);
}

function endOf(count: number, directoryBytes: number, offset: number): Uint8Array {
  const large = needsZip64End([offset, directoryBytes]);
  const end = new RecordWriter((large ? zip64EndBytes : 0) + endBytes);
  if (large) {
    end
      .longs(0x0606_4b50)
      .larges(44)
      .shorts(madeOnUnix | versionFor(true), versionFor(true))
      .longs(0, 0)
      .larges(count, count, directoryBytes, offset)
      .longs(0x0706_4b50, 0)
      .larges(offset + directoryBytes)
      .longs(1);
  }
  return end
    .longs(0x0605_4b50)
    .shorts(0, 0, count, count)
    .longs(Math.min(directoryBytes, zip64From), Math.min(offset, zip64From))
    .shorts(0).bytes;
}

/** Two seconds are its smallest unit, and 1980 its first year. UTC: the archive does not know its reader's time zone. */
function dosTime(ms: number): number {
  const at = new Date(ms);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}

/** What Windows does not allow in a name, and what would make a path of it. */
const notInNames = /[\p{Cc}\\/:*?"<>|]/gu;
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Most file systems allow 255; a number for equal names may follow. */
const nameBytesMax = 240;

/** The part before the endings of a name, and these. */
function partsOf(name: string): readonly [stem: string, ending: string] {
  const [, stem = name, ending = ""] = /^(.+?)((?:\.[^.]{1,10}){0,2})$/s.exec(name) ?? [];
  return [stem, ending];
}

/** With its ending, which programs go by. */
function shortened(name: string): string {
  const [stem, ending] = partsOf(name);
  const characters = [...stem].slice(0, nameBytesMax);
  while (utf8(characters.join("") + ending).length > nameBytesMax) characters.pop();
  return characters.join("") + ending;
}

/**
 * Names that every system can extract: without paths and device names, not too long, and different also where case and
 * Unicode composition are ignored.
 */
export function zipNames(filenames: readonly string[]): string[] {
  const taken = new Set<string>();
  return filenames.map((filename) => {
    const plain = shortened(filename.toWellFormed().replace(notInNames, "_")).replace(/[. ]+$/, "_");
    const safe = plain === "" || deviceName.test(plain) ? `_${plain}` : plain;
    const [stem, ending] = partsOf(safe);
    const compared = (name: string) => name.normalize("NFC").toLowerCase();
    let name = safe;
    for (let copy = 2; taken.has(compared(name)); copy += 1) name = `${stem} (${copy})${ending}`;
    taken.add(compared(name));
    return name;
  });
}
