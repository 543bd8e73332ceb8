import { armor, Encrypter } from "age-encryption";
import { scryptWorkFactor } from "./age-header.ts";

function encrypterFor(recipient: string): Encrypter {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return encrypter;
}

const recipientShape = /^age1[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{58}$/;

/** Whether it is an X25519 recipient, `age1...`. The checksum in it finds characters that were lost or changed. */
export function isRecipient(text: string): boolean {
  if (!recipientShape.test(text)) return false;
  try {
    encrypterFor(text);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("Invalid checksum")) return false;
    throw error;
  }
}

/**
 * Seals a text as an armored age file.
 * @param passphrase "": none. Otherwise the age file is sealed again, under the passphrase: age does not take both in one file.
 */
export async function sealText(text: string, recipient: string, passphrase: string): Promise<string> {
  const sealed = await encrypterFor(recipient).encrypt(text);
  return passphrase === "" ? armor.encode(sealed) : await sealUnderPassphrase(sealed, passphrase);
}

/**
 * Seals as an armored age file that the passphrase alone opens. It is composed (NFC): the same characters may be typed
 * decomposed elsewhere.
 */
export async function sealUnderPassphrase(content: Uint8Array | string, passphrase: string): Promise<string> {
  const outer = new Encrypter();
  outer.setScryptWorkFactor(scryptWorkFactor);
  outer.setPassphrase(passphrase.normalize("NFC"));
  return armor.encode(await outer.encrypt(content));
}

/** Seals a file, in pieces of 64 KiB, as a binary age file of `sealedSize` bytes. */
export async function sealFile(
  content: ReadableStream<Uint8Array>,
  recipient: string,
): Promise<ReadableStream<Uint8Array>> {
  return await encrypterFor(recipient).encrypt(content);
}

/** The header for one X25519 recipient, and the nonce. */
const headerBytes = 184;
const pieceBytes = 64 * 1024;
const tagBytes = 16;

/** @returns the size of a sealed file, which has to be known before it is sealed. */
export function sealedSize(sizeBytes: number): number {
  return headerBytes + sizeBytes + tagBytes * Math.max(1, Math.ceil(sizeBytes / pieceBytes));
}
