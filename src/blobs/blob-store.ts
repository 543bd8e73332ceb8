/**
 * Where sealed files lie. Keys are made by us: 32 lower-case hex digits. A store sees ciphertext only.
 * A blob is visible to `read` only after `write` returned, and durable from then on.
 */
export interface BlobStore {
  /** Streams in constant memory. On any error nothing remains readable under the key. @returns bytes written. */
  write(key: string, content: AsyncIterable<Uint8Array>): Promise<number>;
  /** Bytes `start` to `end`, both included. @throws BlobMissingError. */
  read(key: string, range: { start: number; end: number }): AsyncIterable<Uint8Array>;
  /** Returns only when the store confirms; deleting what is not there is a success. */
  delete(key: string): Promise<void>;
}

export class BlobMissingError extends Error {
  override readonly name = "BlobMissingError";
}
