/**
 * In place of the libraries for key types that links do not have (post-quantum and P-256 keys, see `buildAssets`): they are
 * two thirds of age-encryption, and all code that can see a secret should be small enough to read.
 */
export const MLKEM768X25519 = undefined;
export const MLKEM768P256 = undefined;
export const p256 = undefined;
