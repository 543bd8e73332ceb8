/** RFC 5321, section 4.5.3.1: octets of the local part, and of a path without its angle brackets. */
const localBytesMax = 64;
const addressBytesMax = 254;

/** No space, control or format character, and none that RFC 5322 allows only inside quotes. */
const localPart = /^[^\s\p{C}@"(),:;<>[\]\\]+$/u;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/**
 * One spelling for one mailbox: trimmed, lower case, NFC.
 * @returns undefined when it is not an address. Whether it can receive mail is not checked.
 */
export function normalizeEmail(text: string): string | undefined {
  const textLengthMax = 4 * addressBytesMax;
  if (text.length > textLengthMax) return undefined;
  const address = text.trim().toLowerCase().normalize("NFC");
  if (Buffer.byteLength(address, "utf8") > addressBytesMax) return undefined;
  const at = address.lastIndexOf("@");
  const local = address.slice(0, Math.max(at, 0));
  const domain = address.slice(at + 1);
  if (Buffer.byteLength(local, "utf8") > localBytesMax || !localPart.test(local)) return undefined;
  if (local.startsWith(".") || local.endsWith(".") || local.includes("..")) return undefined;
  return domain.split(".").every((label) => domainLabel.test(label)) ? address : undefined;
}
