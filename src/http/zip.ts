import { crc32 } from "node:zlib";

/** One file of an archive. */
export interface ZipEntry {
  /** See `zipNames`. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Yields exactly `sizeBytes` bytes. */
  read(): AsyncIterable<Uint8Array>;
}

/** From here on a size or an offset has 64 bits (PKWARE APPNOTE 6.3.10, 4.3.9 and 4.5.3). */
const zip64From = 0xffff_ffff;
const localHeaderBytes = 30;
const centralHeaderBytes = 46;
const endBytes = 22;
const zip64EndBytes = 56 + 20;
/** Bit 3: CRC and sizes follow the content. Bit 11: names are UTF-8. */
const flags = 0x0808;
/** A regular file that its owner may read and write; others may read it. Made on Unix. */
const fileMode = 0o100_644;
const madeOnUnix = 3 << 8;

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
    const nameBytes = Buffer.byteLength(name);
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
export async function* zip(entries: readonly ZipEntry[], modifiedMs: number): AsyncGenerator<Uint8Array, void> {
  const time = dosTime(modifiedMs);
  const directory: Buffer[] = [];
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
  const central = Buffer.concat(directory);
  yield central;
  yield endOf(entries.length, central.length, offset);
}

function localHeader({ name, sizeBytes }: ZipEntry, time: number): Buffer {
  const nameBytes = Buffer.from(name, "utf8");
  const large = isLarge(sizeBytes);
  const header = Buffer.alloc(localHeaderBytes + nameBytes.length + localExtraBytes(sizeBytes));
  header.writeUInt32LE(0x0403_4b50, 0);
  header.writeUInt16LE(versionFor(large), 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt32LE(time, 10);
  if (large) header.writeUInt32LE(zip64From, 18);
  if (large) header.writeUInt32LE(zip64From, 22);
  header.writeUInt16LE(nameBytes.length, 26);
  header.writeUInt16LE(localExtraBytes(sizeBytes), 28);
  nameBytes.copy(header, localHeaderBytes);
  if (large) writeZip64Extra(header, localHeaderBytes + nameBytes.length, [sizeBytes, sizeBytes]);
  return header;
}

function dataDescriptor(crc: number, bytes: number): Buffer {
  const descriptor = Buffer.alloc(descriptorBytes(bytes));
  descriptor.writeUInt32LE(0x0807_4b50, 0);
  descriptor.writeUInt32LE(crc, 4);
  if (isLarge(bytes)) {
    descriptor.writeBigUInt64LE(BigInt(bytes), 8);
    descriptor.writeBigUInt64LE(BigInt(bytes), 16);
  } else {
    descriptor.writeUInt32LE(bytes, 8);
    descriptor.writeUInt32LE(bytes, 12);
  }
  return descriptor;
}

function centralHeader({ name, sizeBytes }: ZipEntry, time: number, crc: number, offset: number): Buffer {
  const nameBytes = Buffer.from(name, "utf8");
  const extraBytes = centralExtraBytes(sizeBytes, offset);
  const header = Buffer.alloc(centralHeaderBytes + nameBytes.length + extraBytes);
  header.writeUInt32LE(0x0201_4b50, 0);
  header.writeUInt16LE(madeOnUnix | versionFor(true), 4);
  header.writeUInt16LE(versionFor(extraBytes > 0), 6);
  header.writeUInt16LE(flags, 8);
  header.writeUInt32LE(time, 12);
  header.writeUInt32LE(crc, 16);
  header.writeUInt32LE(Math.min(sizeBytes, zip64From), 20);
  header.writeUInt32LE(Math.min(sizeBytes, zip64From), 24);
  header.writeUInt16LE(nameBytes.length, 28);
  header.writeUInt16LE(extraBytes, 30);
  header.writeUInt16LE(fileMode, 40);
  header.writeUInt32LE(Math.min(offset, zip64From), 42);
  nameBytes.copy(header, centralHeaderBytes);
  const large = [...(isLarge(sizeBytes) ? [sizeBytes, sizeBytes] : []), ...(isLarge(offset) ? [offset] : [])];
  if (large.length > 0) writeZip64Extra(header, centralHeaderBytes + nameBytes.length, large);
  return header;
}

function writeZip64Extra(header: Buffer, at: number, values: readonly number[]): void {
  header.writeUInt16LE(1, at);
  header.writeUInt16LE(8 * values.length, at + 2);
  for (const [index, value] of values.entries()) header.writeBigUInt64LE(BigInt(value), at + 4 + 8 * index);
}

function endOf(count: number, directoryBytes: number, offset: number): Buffer {
  const large = needsZip64End([offset, directoryBytes]);
  const end = Buffer.alloc((large ? zip64EndBytes : 0) + endBytes);
  let at = 0;
  if (large) {
    end.writeUInt32LE(0x0606_4b50, 0);
    end.writeBigUInt64LE(44n, 4);
    end.writeUInt16LE(madeOnUnix | versionFor(true), 12);
    end.writeUInt16LE(versionFor(true), 14);
    end.writeBigUInt64LE(BigInt(count), 24);
    end.writeBigUInt64LE(BigInt(count), 32);
    end.writeBigUInt64LE(BigInt(directoryBytes), 40);
    end.writeBigUInt64LE(BigInt(offset), 48);
    end.writeUInt32LE(0x0706_4b50, 56);
    end.writeBigUInt64LE(BigInt(offset + directoryBytes), 64);
    end.writeUInt32LE(1, 72);
    at = zip64EndBytes;
  }
  end.writeUInt32LE(0x0605_4b50, at);
  end.writeUInt16LE(count, at + 8);
  end.writeUInt16LE(count, at + 10);
  end.writeUInt32LE(Math.min(directoryBytes, zip64From), at + 12);
  end.writeUInt32LE(Math.min(offset, zip64From), at + 16);
  return end;
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

/** Names that every system can extract: without paths and device names, and different also where case is ignored. */
export function zipNames(filenames: readonly string[]): string[] {
  const taken = new Set<string>();
  return filenames.map((filename) => {
    const plain = filename
      .toWellFormed()
      .replace(notInNames, "_")
      .replace(/[. ]+$/, "_");
    const safe = plain === "" || deviceName.test(plain) ? `_${plain}` : plain;
    const [, stem = safe, ending = ""] = /^(.+?)((?:\.[^.]{1,10}){0,2})$/s.exec(safe) ?? [];
    let name = safe;
    for (let copy = 2; taken.has(name.toLowerCase()); copy += 1) name = `${stem} (${copy})${ending}`;
    taken.add(name.toLowerCase());
    return name;
  });
}
