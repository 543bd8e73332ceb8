import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * Every file under the folder with its bytes, in the order of the paths. A running server may delete a file between listing and
 * reading it. It may also copy the write-ahead log into the database and truncate it: the log is read first, so that what it held
 * is found in one of them.
 */
export function filesIn(folder: string): ReadonlyMap<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  const read = paths.toReversed().map((path) => [relative(folder, path), readIfThere(path)] as const);
  return new Map(read.toReversed().flatMap(([path, bytes]) => (bytes === undefined ? [] : [[path, bytes]])));
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** @returns "file: needle" for each needle that is found in a file as it is, in UTF-16, hex or base64. */
export function findNeedles(
  files: ReadonlyMap<string, Buffer>,
  needles: Readonly<Record<string, string>>,
): readonly string[] {
  const found: string[] = [];
  for (const [name, bytes] of files) {
    for (const [label, needle] of Object.entries(needles)) {
      const plain = Buffer.from(needle);
      const forms = [plain, Buffer.from(needle, "utf16le"), plain.toString("hex"), plain.toString("base64url")];
      if (forms.some((form) => bytes.includes(form))) found.push(`${name}: ${label}`);
    }
  }
  return found;
}

/** Any run of this many bytes of a needle, at a multiple of it, counts as found. */
const pieceBytes = 12;

/**
 * Looks for thousands of random byte strings at once, and for parts of them: a copy that lost its beginning or end to
 * another value is still a copy.
 */
export class NeedleFinder<Label> {
  readonly #byStart = new Map<number, { readonly piece: Buffer; readonly label: Label }[]>();
  /** One bit per 22-bit prefix: most positions in a file are skipped without a lookup in the map. */
  readonly #starts = new Uint8Array(2 ** 19);

  add(label: Label, needle: Buffer): void {
    for (let at = 0; at + pieceBytes <= needle.length; at += pieceBytes) {
      const piece = needle.subarray(at, at + pieceBytes);
      const start = piece.readUInt32LE(0);
      const bit = start & 0x3fffff;
      this.#starts[bit >> 3] = (this.#starts[bit >> 3] ?? 0) | (1 << (bit & 7));
      const pieces = this.#byStart.get(start) ?? [];
      pieces.push({ piece, label });
      this.#byStart.set(start, pieces);
    }
  }

  /** The labels of all needles of which these bytes contain a piece. */
  search(bytes: Buffer): Set<Label> {
    const found = new Set<Label>();
    for (let at = 0; at + pieceBytes <= bytes.length; at += 1) {
      const start = bytes.readUInt32LE(at);
      const bit = start & 0x3fffff;
      if (((this.#starts[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) continue;
      for (const { piece, label } of this.#byStart.get(start) ?? []) {
        if (piece.equals(bytes.subarray(at, at + pieceBytes))) found.add(label);
      }
    }
    return found;
  }
}
