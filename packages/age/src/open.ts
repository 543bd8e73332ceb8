import { armor, Decrypter } from "age-encryption";
import { findLock } from "./age-header.ts";

/** The text was not sealed under this passphrase. */
export class WrongPassphraseError extends Error {
  override readonly name = "WrongPassphraseError";
}

/** The sealed bytes were changed, or sealed for another key. */
export class DamagedError extends Error {
  override readonly name = "DamagedError";
}

/**
 * Opens what `sealText` has sealed, or the `age` tool.
 * @param passphrase ignored if the text is sealed for the identity alone.
 * @throws WrongPassphraseError, DamagedError.
 */
export async function openText(sealed: string, identity: string | CryptoKey, passphrase: string): Promise<string> {
  const inner = findLock(sealed) === "passphrase" ? await openOuter(sealed, passphrase) : decode(sealed);
  const bytes = await openWith(inner, (decrypter) => decrypter.addIdentity(identity), DamagedError);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/**
 * Opens an identity that is sealed under a passphrase alone, also a file of `age-keygen`, which has comments.
 * @throws WrongPassphraseError, DamagedError.
 */
export async function openIdentity(sealed: string, passphrase: string): Promise<string> {
  const text = new TextDecoder().decode(await openOuter(sealed, passphrase));
  return text.split(/\r?\n/).find((line) => line.startsWith("AGE-SECRET-KEY-1")) ?? "";
}

async function openOuter(sealed: string, passphrase: string): Promise<Uint8Array> {
  // As `sealUnderPassphrase` takes it; other programs may have sealed under what was typed.
  const spellings = new Set([passphrase.normalize("NFC"), passphrase]);
  const addSpellings = (decrypter: Decrypter) => {
    for (const spelling of spellings) decrypter.addPassphrase(spelling);
  };
  const opened = await openWith(decode(sealed), addSpellings, WrongPassphraseError);
  // The inner file may be armored: the age tool makes both.
  return opened[0] === "-".charCodeAt(0) ? decode(new TextDecoder().decode(opened)) : opened;
}

function decode(armored: string): Uint8Array {
  try {
    return armor.decode(armored);
  } catch (cause) {
    throw new DamagedError("The sealed text is not an armored age file.", { cause });
  }
}

/**
 * Opens what `sealFile` has sealed. The stream fails where the sealed bytes were changed or end too early.
 * @param size the bytes of the file that the sealed list names, which it must have; undefined: there is no list.
 */
export async function openFile(
  sealed: ReadableStream<Uint8Array>,
  identity: string | CryptoKey,
  size?: number,
): Promise<ReadableStream<Uint8Array>> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  let opened: ReadableStream<Uint8Array>;
  try {
    opened = await decrypter.decrypt(sealed);
  } catch (cause) {
    throw new DamagedError("The header of the sealed file does not open.", { cause });
  }
  return size === undefined ? opened : opened.pipeThrough(exactly(size));
}

function exactly(size: number): TransformStream<Uint8Array, Uint8Array> {
  let left = size;
  const otherSize = () => new DamagedError("The file does not have the size that was sealed.");
  return new TransformStream({
    transform(piece, controller) {
      left -= piece.length;
      if (left < 0) throw otherSize();
      controller.enqueue(piece);
    },
    flush() {
      if (left > 0) throw otherSize();
    },
  });
}

/** How age-encryption says that neither passphrase nor identity opens the header; any other error is about damage. */
const noneMatched = "no identity matched";

async function openWith(
  sealed: Uint8Array,
  addKey: (decrypter: Decrypter) => void,
  Mismatch: typeof DamagedError | typeof WrongPassphraseError,
): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  addKey(decrypter);
  try {
    return await decrypter.decrypt(sealed);
  } catch (cause) {
    const isMismatch = cause instanceof Error && cause.message.startsWith(noneMatched);
    throw new (isMismatch ? Mismatch : DamagedError)("The sealed bytes do not open.", { cause });
  }
}
