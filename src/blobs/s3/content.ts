import { createHash, type Hash } from "node:crypto";

/** The body of a request, which can be sent several times. */
export interface Content {
  readonly blocks: readonly Uint8Array[];
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** Hex. */
  readonly md5: string;
}

export function contentOf(bytes: Uint8Array): Content {
  const digest = (algorithm: string) => createHash(algorithm).update(bytes).digest("hex");
  const blocks = bytes.length === 0 ? [] : [bytes];
  return { blocks, bytes: bytes.length, sha256: digest("sha256"), md5: digest("md5") };
}

export const noContent = contentOf(new Uint8Array());

const blockBytes = 256 * 1024;

/**
 * Collects one part of a blob. It grows on demand and keeps its memory for the part after the next, so a blob of any size
 * uses the same two buffers. The digests are updated as the bytes arrive, never for a whole part at once.
 */
export class PartBuffer {
  readonly #bytesMax: number;
  readonly #blocks: Buffer[] = [];
  #bytes = 0;
  #sha256: Hash = createHash("sha256");
  #md5: Hash = createHash("md5");

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get full(): boolean {
    return this.#bytes === this.#bytesMax;
  }

  /** Copies as many bytes as fit. @returns bytes taken. */
  take(chunk: Uint8Array): number {
    const taken = chunk.subarray(0, this.#bytesMax - this.#bytes);
    this.#sha256.update(taken);
    this.#md5.update(taken);
    for (let at = 0; at < taken.length; ) {
      const offset = this.#bytes % blockBytes;
      const part = taken.subarray(at, at + blockBytes - offset);
      this.#blockAt(Math.floor(this.#bytes / blockBytes)).set(part, offset);
      this.#bytes += part.length;
      at += part.length;
    }
    return taken.length;
  }

  #blockAt(index: number): Buffer {
    const block = this.#blocks[index] ?? Buffer.allocUnsafeSlow(blockBytes);
    this.#blocks[index] = block;
    return block;
  }

  /** Valid until `clear`. Call it once per part, because a digest can be finished only once. */
  content(): Content {
    const [sha256, md5] = [this.#sha256.digest("hex"), this.#md5.digest("hex")];
    return { blocks: this.#used(), bytes: this.#bytes, sha256, md5 };
  }

  #used(): Uint8Array[] {
    const used = this.#blocks.slice(0, Math.ceil(this.#bytes / blockBytes));
    return used.map((block, index) => block.subarray(0, this.#bytes - index * blockBytes));
  }

  /** The bytes so far, followed by `end`, while the part is still being filled. Valid until `clear`. */
  contentWith(end: Uint8Array): Content {
    const digest = (hash: Hash) => hash.copy().update(end).digest("hex");
    const bytes = this.#bytes + end.length;
    return { blocks: [...this.#used(), end], bytes, sha256: digest(this.#sha256), md5: digest(this.#md5) };
  }

  clear(): void {
    this.#bytes = 0;
    this.#sha256 = createHash("sha256");
    this.#md5 = createHash("md5");
  }
}
