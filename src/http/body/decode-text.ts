import { isUtf8 } from "node:buffer";
import { AppError } from "../../base/errors.ts";

/** Bytes that are not UTF-8 are refused, not repaired: a repaired secret is another secret. @throws AppError invalid_request. */
export function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError("invalid_request", "The body is not valid UTF-8.");
  return bytes.toString("utf8");
}
