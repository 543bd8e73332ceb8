/** The part of the package that `sodium-library.ts` uses; it has no types of its own. All functions throw on wrong lengths. */
declare module "sodium-native" {
  interface SodiumNative {
    /** @param ciphertext receives the ciphertext and the tag of 16 bytes. */
    crypto_aead_xchacha20poly1305_ietf_encrypt(
      ciphertext: Uint8Array,
      message: Uint8Array,
      associatedData: Uint8Array,
      secretNonce: null,
      nonce: Uint8Array,
      key: Uint8Array,
    ): number;
    /** @param message receives the plaintext. @throws Error when the tag does not match. */
    crypto_aead_xchacha20poly1305_ietf_decrypt(
      message: Uint8Array,
      secretNonce: null,
      ciphertext: Uint8Array,
      associatedData: Uint8Array,
      nonce: Uint8Array,
      key: Uint8Array,
    ): number;
    crypto_generichash(output: Uint8Array, input: Uint8Array, key: Uint8Array): void;
  }
  const sodium: SodiumNative;
  export default sodium;
}
