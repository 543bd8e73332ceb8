import { armor, Encrypter } from "age-encryption";
import { scryptWorkFactor } from "./age-header.ts";

function encrypterFor(recipient: string): Encrypter {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return encrypter;
}

/**
 * Seals a text as an armored age file.
 * @param passphrase "": none. Otherwise the age file is sealed again, under the passphrase: age does not take both in one file.
 */
export async function sealText(text: string, recipient: string, passphrase: string): Promise<string> {
  const sealed = await encrypterFor(recipient).encrypt(text);
  if (passphrase === "") return armor.encode(sealed);
  const outer = new Encrypter();
  outer.setScryptWorkFactor(scryptWorkFactor);
  outer.setPassphrase(passphrase);
  return armor.encode(await outer.encrypt(sealed));
}

/**
 * Seals a file, in pieces of 64 KiB, as a binary age file.
 * @param sizeBytes of the file. @returns the sealed bytes, and how many there will be.
 */
export async function sealFile(content: ReadableStream<Uint8Array>, sizeBytes: number, recipient: string) {
  const sealed = await encrypterFor(recipient).encrypt(content);
  return { content: sealed as ReadableStream<Uint8Array>, sizeBytes: sealed.size(sizeBytes) };
}
