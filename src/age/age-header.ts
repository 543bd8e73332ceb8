import { beginning } from "./armor.ts";

/** What opens an age file: the identity of the link alone, or a passphrase first and then the identity. */
export type AgeLock = "identity" | "passphrase";

/** The base-2 logarithm of scrypt's N. See docs/end-to-end.md for the measurements. */
export const scryptWorkFactor = 16;

const end = "-----END AGE ENCRYPTED FILE-----";
const wholeLine = /^[A-Za-z0-9+/]{64}$/;
const lastLine = /^(?:[A-Za-z0-9+/]{4}){0,15}(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;

/**
 * Reads what an armored age file is sealed for, without opening it. The whole armor is checked, the header as far as its
 * recipients.
 * @returns undefined: it is not an armored age file, or is sealed for something else than X25519 recipients or a passphrase.
 */
export function findLock(text: string): AgeLock | undefined {
  const armor = text.trim().split(/\r?\n/);
  if (armor.shift() !== beginning || armor.pop() !== end) return undefined;
  if (!armor.every((line, at) => (at < armor.length - 1 ? wholeLine : lastLine).test(line))) return undefined;
  const [version, ...lines] = headerLines(armor);
  if (version !== "age-encryption.org/v1") return undefined;
  const stanzas = lines.filter((line) => line.startsWith("-> ")).map((line) => line.split(" ")[1] ?? "");
  // Some programs add stanzas that nothing opens, to keep readers tolerant.
  const locks = stanzas.filter((type) => !type.endsWith("-grease"));
  if (locks.length === 0) return undefined;
  if (locks.length === 1 && locks[0] === "scrypt") return "passphrase";
  return locks.every((type) => type === "X25519") ? "identity" : undefined;
}

/** 48 bytes each. */
const headerArmorLinesMax = 342;

/** The lines of the header with the one of its MAC; none: it is too long, or has no such line. */
function headerLines(armor: readonly string[]): readonly string[] {
  const binary = atob(armor.slice(0, headerArmorLinesMax).join(""));
  const mac = /\n--- [^\n]*\n/.exec(binary);
  return mac === null ? [] : binary.slice(0, mac.index).split("\n");
}
