const blockBytes = 512;
/** Eleven octal digits; a larger file says its length in an extended header before it. */
const plainBytesMax = 8 ** 11 - 1;

/** Two empty blocks. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockBytes);

/**
 * The header of a file that only its user may read, as POSIX.1-2001 has it (ustar, with a pax header where the length
 * wants one). @param path at most 100 bytes. @param modifiedAt ms since the epoch.
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

/** What follows so many bytes of content up to the next header. */
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

/** Of all bytes of a header, its own field taken for blanks. */
export function headerSum(block: Uint8Array): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/** `length keyword=value`, where the length counts its own digits. */
function paxRecord(keyword: string, value: string): string {
  const rest = ` ${keyword}=${value}\n`;
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return `${length}${rest}`;
}
