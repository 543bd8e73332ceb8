import { randomBytes } from "node:crypto";

const coreBytes = 16;
/** The length of the beginning and of the end of a secret that are searched for, so that a truncated one is found too. */
const partCharacters = 16;

interface Needle {
  readonly name: string;
  readonly form: string;
  readonly bytes: Buffer;
}

/** Unique secrets, and a search for them in every encoding. */
export class Canaries {
  readonly #needles: Needle[] = [];
  #search: ((bytes: Buffer) => ReadonlySet<Needle>) | undefined;

  /** A new secret. It has characters around its core that JSON, HTML, URLs and forms encode differently. */
  make(name: string): string {
    const core = this.makeCore(name);
    return `"<${core}> & +%/=;`;
  }

  /** A new secret of hex digits only. */
  makeCore(name: string): string {
    const core = randomBytes(coreBytes).toString("hex");
    this.add(name, core);
    return core;
  }

  /** Adds a secret of the server: a token, a download ticket, a session. */
  add(name: string, value: string): void {
    if (value.length < partCharacters) throw new Error(`${name} is too short to be distinguished from random text.`);
    for (const part of new Set([value.slice(0, partCharacters), value.slice(-partCharacters)])) {
      for (const [form, bytes] of formsOf(part)) this.#needles.push({ name, form, bytes });
    }
    this.#search = undefined;
  }

  /** @returns the names of the secrets that occur in any encoding. */
  namesIn(bytes: Buffer): readonly string[] {
    return [...new Set(this.#in(bytes).map(({ name }) => name))].sort();
  }

  /** @returns `name (encoding)` of each finding, for error messages. */
  findingsIn(bytes: Buffer): readonly string[] {
    return [...new Set(this.#in(bytes).map(({ name, form }) => `${name} (${form})`))].sort();
  }

  #in(bytes: Buffer): readonly Needle[] {
    this.#search ??= searchFor(this.#needles);
    return [...this.#search(bytes)];
  }
}

/**
 * Searches for all needles in one pass (Wu and Manber, "A fast algorithm for multi-pattern searching", 1994): the memory of a
 * server is large, and one pass for each needle takes a minute.
 */
export function searchFor<Each extends Pick<Needle, "bytes">>(
  needles: readonly Each[],
): (bytes: Buffer) => ReadonlySet<Each> {
  const length = Math.min(...needles.map(({ bytes }) => bytes.length));
  /** How far two bytes at the end of the window are from the end of the nearest needle that has them. */
  const shifts = new Uint16Array(0x10000).fill(length - 1);
  const endingIn = new Map<number, Each[]>();
  for (const needle of needles) {
    for (let at = 1; at < length; at += 1) {
      const pair = needle.bytes.readUInt16BE(at - 1);
      shifts[pair] = Math.min(shifts[pair] ?? 0, length - 1 - at);
    }
    const last = needle.bytes.readUInt16BE(length - 2);
    endingIn.set(last, [...(endingIn.get(last) ?? []), needle]);
  }
  return (bytes) => {
    const found = new Set<Each>();
    for (let at = length - 1; at < bytes.length; ) {
      const pair = ((bytes[at - 1] ?? 0) << 8) | (bytes[at] ?? 0);
      const shift = shifts[pair] ?? 0;
      if (shift === 0) {
        const start = at - length + 1;
        for (const needle of endingIn.get(pair) ?? []) {
          const end = start + needle.bytes.length;
          if (end <= bytes.length && bytes.compare(needle.bytes, 0, needle.bytes.length, start, end) === 0) {
            found.add(needle);
          }
        }
      }
      at += Math.max(shift, 1);
    }
    return found;
  };
}

function formsOf(part: string): ReadonlyMap<string, Buffer> {
  const bytes = Buffer.from(part, "utf8");
  const hex = bytes.toString("hex");
  const forms = new Map<string, Buffer>([
    ["plain", bytes],
    ["upper case", Buffer.from(part.toUpperCase())],
    ["UTF-16", Buffer.from(part, "utf16le")],
    ["hex", Buffer.from(hex)],
    ["upper hex", Buffer.from(hex.toUpperCase())],
    ["percent-encoded", Buffer.from(hex.toUpperCase().replace(/../g, "%$&"))],
    ["escaped", Buffer.from([...bytes].map((byte) => `\\u00${byte.toString(16).padStart(2, "0")}`).join(""))],
    ["list of bytes", Buffer.from([...bytes].join(","))],
  ]);
  for (const before of [0, 1, 2]) {
    const base64 = base64Within(bytes, before);
    forms.set(`base64 after ${before}`, Buffer.from(base64));
    forms.set(`base64url after ${before}`, Buffer.from(base64.replaceAll("+", "-").replaceAll("/", "_")));
  }
  return forms;
}

/** The base64 digits that depend only on `bytes`, if these begin `before` bytes after a multiple of three. */
function base64Within(bytes: Buffer, before: number): string {
  const digits = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64url");
  const decidedFrom = Math.ceil((before * 8) / 6);
  const decidedTo = Math.floor(((before + bytes.length) * 8) / 6);
  return digits.slice(decidedFrom, decidedTo).replaceAll("-", "+").replaceAll("_", "/");
}
