/**
 * Where sealed files lie. Keys are made by us: 32 lower-case hex digits. A store sees ciphertext only.
 * A blob is visible to `read` only after `write` returned, and durable from then on. A store that is somewhere else may
 * fail at any time: then each method throws BlobStoreError.
 */
export interface BlobStore {
  /**
   * Streams in constant memory. On any error nothing remains readable under the key, unless the store can no longer be
   * reached: `delete` then removes what is left. @returns bytes written.
   */
  write(key: string, content: AsyncIterable<Uint8Array>): Promise<number>;
  /** Bytes `start` to `end`, both included; an early end of the store's answer is an error. @throws BlobMissingError. */
  read(key: string, range: { start: number; end: number }): AsyncIterable<Uint8Array>;
  /** Returns only when the store confirms; deleting what is not there is a success. Unfinished writes go as well. */
  delete(key: string): Promise<void>;
}

export class BlobMissingError extends Error {
  override readonly name = "BlobMissingError";
}

/**
 * The store cannot do it now: it is out of reach, overloaded, refuses, or did not send what it announced. A state of
 * the installation and no bug. Its texts hold no credential, signature, address or key of a blob.
 */
export class BlobStoreError extends Error {
  override readonly name: string = "BlobStoreError";
  /** The store's own word for it (`AccessDenied`), or the system's (`ECONNREFUSED`). */
  readonly code: string;

  constructor(message: string, code: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}
