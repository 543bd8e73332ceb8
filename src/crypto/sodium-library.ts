import { errorCode } from "../base/errors.ts";
export const nonceBytes = 24;
export const tagBytes = 16;

/**
 * The constructions of libsodium that are used, over one of its builds. The callers in `sodium.ts` check all lengths, so
 * the only expected error is a tag that does not match.
 */
export interface SodiumLibrary {
  readonly name: "sodium-native" | "libsodium-wrappers";
  /** XChaCha20-Poly1305 (IETF). @param target receives the ciphertext and the tag. */
  encrypt(
    target: Uint8Array,
    plaintext: Uint8Array,
    associatedData: Uint8Array,
    under: { readonly nonce: Uint8Array; readonly key: Uint8Array },
  ): void;
  /** @param sealed ciphertext and tag. @returns undefined when the tag does not match. */
  decrypt(
    sealed: Uint8Array,
    associatedData: Uint8Array,
    nonce: Uint8Array,
    key: Uint8Array,
  ): Buffer<ArrayBuffer> | undefined;
  /** BLAKE2b (RFC 7693) with a key. @param target 16 to 64 bytes, receives the hash. */
  hash(target: Uint8Array, message: Uint8Array, key: Uint8Array): void;
}

/** libsodium as native code. @throws Error with the code ADDON_NOT_FOUND or CANNOT_LOAD where there is no build of it. */
export async function loadNativeSodium(): Promise<SodiumLibrary> {
  const { default: sodium } = await import("sodium-native");
  return {
    name: "sodium-native",
    encrypt(target, plaintext, associatedData, { nonce, key }) {
      sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(target, plaintext, associatedData, null, nonce, key);
    },
    decrypt(sealed, associatedData, nonce, key) {
      const plaintext = Buffer.allocUnsafe(sealed.length - tagBytes);
      try {
        sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(plaintext, null, sealed, associatedData, nonce, key);
      } catch {
        // All lengths are right, so the tag does not match: the expected result of a wrong key.
        return undefined;
      }
      return plaintext;
    },
    hash: (target, message, key) => sodium.crypto_generichash(target, message, key),
  };
}

/** libsodium as WebAssembly. It runs everywhere and is several times slower. */
export async function loadPortableSodium(): Promise<SodiumLibrary> {
  const { default: sodium } = await import("libsodium-wrappers");
  await sodium.ready;
  return {
    name: "libsodium-wrappers",
    encrypt(target, plaintext, associatedData, { nonce, key }) {
      target.set(
        sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, associatedData, null, nonce, key, "uint8array"),
      );
    },
    decrypt(sealed, associatedData, nonce, key) {
      try {
        const plaintext = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
          null,
          sealed,
          associatedData,
          nonce,
          key,
          "uint8array",
        );
        return Buffer.from(plaintext);
      } catch {
        // All lengths are right, so the tag does not match: the expected result of a wrong key.
        return undefined;
      }
    },
    hash: (target, message, key) => target.set(sodium.crypto_generichash(target.length, message, key, "uint8array")),
  };
}

/** The native build where there is one for this platform: it has none for musl and 32-bit ARM. */
export async function loadSodium(loadNative = loadNativeSodium): Promise<SodiumLibrary> {
  try {
    return await loadNative();
  } catch (error) {
    if (!["ADDON_NOT_FOUND", "CANNOT_LOAD"].includes(errorCode(error) ?? "")) throw error;
    return loadPortableSodium();
  }
}
