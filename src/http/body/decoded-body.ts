import { AppError } from "../../base/errors.ts";
import type { BodyParser } from "./body-parser.ts";

/** A body in another charset (Encoding Standard) than UTF-8, for a parser of UTF-8. Wrong bytes are refused, not repaired. */
export class DecodedBody<T> implements BodyParser<T> {
  readonly #parser: BodyParser<T>;
  readonly #charset: string;
  readonly #decoder: TextDecoder;

  /** @throws AppError unsupported_media_type: an unknown charset. */
  constructor(parser: BodyParser<T>, charset: string) {
    this.#parser = parser;
    this.#charset = charset;
    this.#decoder = decoderOf(charset);
  }

  write(chunk: Buffer): void {
    this.#parser.write(this.#decode(chunk, true));
  }

  end(): T {
    this.#parser.write(this.#decode(new Uint8Array(), false));
    return this.#parser.end();
  }

  #decode(bytes: Uint8Array, stream: boolean): Buffer {
    try {
      return Buffer.from(this.#decoder.decode(bytes, { stream }), "utf8");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new AppError("invalid_request", `The body is not valid ${this.#charset}.`);
    }
  }
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AppError("unsupported_media_type", "The charset of the body is unknown. Send UTF-8.");
  }
}
