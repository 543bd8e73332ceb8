import { isUtf8 } from "node:buffer";
import { AppError } from "../../base/errors.ts";

/** Parses a body as it arrives: each `write` takes time in proportion to its bytes. */
export interface BodyParser<T> {
  /** @throws AppError invalid_request, too_large. */
  write(chunk: Buffer): void;
  /** @throws AppError invalid_request: the body is not complete. */
  end(): T;
}

/** Bytes that are not UTF-8 are refused, not repaired: a repaired secret is another secret. @throws AppError invalid_request. */
export function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError("invalid_request", "The body is not valid UTF-8.");
  return bytes.toString("utf8");
}

export function bodyTooLarge(bytesMax: number): AppError {
  return new AppError("too_large", `The body may have at most ${bytesMax} bytes.`);
}

/** @param what names what is too large, in the plural. */
export function textsTooLarge(what: string, bytesMax: number): AppError {
  return new AppError("too_large", `${what} may have at most ${bytesMax} bytes together.`);
}

export const noBytes = Buffer.alloc(0);

/** Passes chunks to a reader that returns how many bytes it has used; the rest precedes the next chunk. */
export class CarriedBytes {
  #rest: Buffer = noBytes;

  get length(): number {
    return this.#rest.length;
  }

  write(chunk: Buffer, read: (bytes: Buffer) => number): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const used = read(bytes);
    // A copy, so that a few bytes do not keep a whole chunk in memory.
    this.#rest = used === bytes.length ? noBytes : Buffer.from(bytes.subarray(used));
  }
}
