import { AppError } from "../../base/errors.ts";
import { type BodyParser, decodeText } from "./body-parser.ts";

/** A body in another charset (Encoding Standard) than UTF-8, for a parser of UTF-8. Wrong bytes are refused, not repaired. */
export class DecodedBody<T> implements BodyParser<T> {
  readonly #parser: BodyParser<T>;
  readonly #decoder: TextDecoder;

  /** @throws AppError unsupported_media_type: an unknown charset. */
  constructor(parser: BodyParser<T>, charset: string) {
    this.#parser = parser;
    this.#decoder = decoderOf(charset);
  }

  write(chunk: Buffer): void {
    this.#parser.write(Buffer.from(decode(this.#decoder, chunk, true), "utf8"));
  }

  end(): T {
    this.#parser.write(Buffer.from(decode(this.#decoder, new Uint8Array(), false), "utf8"));
    return this.#parser.end();
  }
}

export type DecodeText = (bytes: Buffer) => string;

const utf8Names = new Set(["", "utf-8", "utf8", "us-ascii", "ascii"]);

/** In lower case; "": UTF-8. */
export function charsetNamed(name: string): string {
  const charset = name.toLowerCase();
  return utf8Names.has(charset) ? "" : charset;
}

/** A decoder of complete texts. Wrong bytes are refused. @throws AppError unsupported_media_type: an unknown charset. */
export function textDecoder(charset: string): DecodeText {
  if (charset === "") return decodeText;
  const decoder = decoderOf(charset);
  return (bytes) => decode(decoder, bytes, false);
}

function decode(decoder: TextDecoder, bytes: Uint8Array, stream: boolean): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new AppError("invalid_request", `The body is not valid ${decoder.encoding}.`);
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
