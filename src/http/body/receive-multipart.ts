import type { IncomingMessage } from "node:http";
import { AppError } from "../../base/errors.ts";
import type { BodyBudget } from "./body-budget.ts";
import { decodeText } from "./decode-text.ts";
import { FormFieldCollector, type FormFields } from "./form-fields.ts";
import { MultipartReader, multipartBoundary } from "./multipart-reader.ts";

export interface FormFile {
  /** The field's name, e.g. `push[files][]`. */
  readonly field: string;
  /** As the sender wrote it. */
  readonly filename: string;
  readonly contentType: string;
  /** Must be read before the next part can come; what is left is skipped. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Takes one file as it arrives; its end lets the reading go on. @param before the fields that came before it. */
export type TakeFile = (file: FormFile, before: FormFields) => Promise<void>;

export interface FieldLimits {
  /** All fields of one form together. */
  readonly fieldBytesMax: number;
}

/**
 * Reads a multipart form: fields are kept, files are handed on as they arrive, so that memory does not grow with them.
 * A file part without name and content is what a browser sends for an empty file input, and is no file.
 * @throws AppError invalid_request, too_large (fields), unavailable; what `takeFile` throws.
 */
export async function receiveMultipart(
  request: IncomingMessage,
  client: string,
  limits: FieldLimits,
  budget: BodyBudget,
  takeFile: TakeFile,
): Promise<FormFields> {
  const boundary = multipartBoundary(request.headers["content-type"] ?? "");
  if (boundary === undefined) throw new AppError("invalid_request", "The multipart form has no boundary.");
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  const hold = { bytes: 0 };
  try {
    const reader = new MultipartReader(uncut(chunks), boundary);
    const collector = new FormFieldCollector();
    for (let part = await reader.nextPart(); part !== undefined; part = await reader.nextPart()) {
      const { name, filename, contentType } = part;
      if (filename === undefined) {
        collector.add(name, decodeText(await fieldValue(reader, client, limits, budget, hold)));
        continue;
      }
      const content = reader.content();
      const first = await content.next();
      if (filename === "" && first.done === true) continue;
      await takeFile({ field: name, filename, contentType, content: resumed(first, content) }, collector.fields);
    }
    return collector.fields;
  } finally {
    budget.giveBack(client, hold.bytes);
    await chunks.return?.();
  }
}

async function fieldValue(
  reader: MultipartReader,
  client: string,
  limits: FieldLimits,
  budget: BodyBudget,
  hold: { bytes: number },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of reader.content()) {
    if (hold.bytes + chunk.length > limits.fieldBytesMax) {
      throw new AppError("too_large", `The fields of a form may have ${limits.fieldBytesMax} bytes together.`);
    }
    budget.take(client, chunk.length);
    hold.bytes += chunk.length;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The generator whose first result was looked at already. */
async function* resumed(first: IteratorResult<Buffer, unknown>, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

/** A connection that breaks while the form is being sent is the sender's trouble, not a fault of ours. */
function uncut(chunks: AsyncIterator<Buffer>): AsyncIterator<Buffer> {
  return {
    async next() {
      try {
        return await chunks.next();
      } catch (error) {
        throw new AppError("invalid_request", "The body was cut off.", { cause: error });
      }
    },
  };
}
