import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { AppError } from "../../base/errors.ts";
import { type BodyBudget, uncountedBytesMax } from "./body-budget.ts";

interface WholeBodyLimits {
  readonly bytesMax: number;
  /** From the first byte of the body to the last. */
  readonly msMax: number;
}

/**
 * Reads a whole body into memory and passes it to `use`; the budget counts its bytes until `use` returns.
 * @throws AppError too_large, unavailable (no room in the budget), invalid_request (cut off, too slow); what `use` throws.
 */
export async function readWhole<T>(
  request: IncomingMessage,
  client: string,
  limits: WholeBodyLimits,
  budget: BodyBudget,
  use: (body: Buffer) => T,
): Promise<T> {
  const declaredBytes = Number(request.headers["content-length"] ?? 0);
  if (declaredBytes > limits.bytesMax) throw tooLarge(limits.bytesMax);
  let heldBytes = 0;
  const holdTo = (bytes: number) => {
    if (bytes <= uncountedBytesMax || bytes <= heldBytes) return;
    budget.take(client, bytes - heldBytes);
    heldBytes = bytes;
  };
  try {
    holdTo(declaredBytes);
    return use(await collect(request, limits, holdTo));
  } finally {
    budget.release(client, heldBytes);
  }
}

function collect(request: IncomingMessage, limits: WholeBodyLimits, holdTo: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const slow = setTimeout(() => finish(cutOff("The body took too long.")), limits.msMax);

    function onData(chunk: Buffer): void {
      bytes += chunk.length;
      try {
        if (bytes > limits.bytesMax) throw tooLarge(limits.bytesMax);
        holdTo(bytes);
        chunks.push(chunk);
      } catch (error) {
        finish(error);
      }
    }
    function onEnd(): void {
      finish(undefined);
    }
    function onClose(): void {
      finish(cutOff("The body was cut off."));
    }
    function finish(error: unknown): void {
      clearTimeout(slow);
      request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      if (error !== undefined) {
        request.pause();
        reject(error);
        return;
      }
      const [first] = chunks;
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes));
    }
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
    if (request.destroyed) onClose();
  });
}

function tooLarge(bytesMax: number): AppError {
  return new AppError("too_large", `The body may have ${bytesMax} bytes.`);
}

function cutOff(message: string): AppError {
  return new AppError("invalid_request", message);
}

/** Bytes that are not UTF-8 are refused, not repaired: a repaired secret is another secret. @throws AppError invalid_request. */
export function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError("invalid_request", "The body is not valid UTF-8.");
  return bytes.toString("utf8");
}
