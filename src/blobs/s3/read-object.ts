import { BlobMissingError } from "../blob-store.ts";
import { type Answer, type Bucket, textBody } from "./bucket.ts";
import { brokenAnswer, noAnswer, refusal, S3Error } from "./s3-error.ts";
import { textOf } from "./xml.ts";

const operation = "GetObject";
/** Per read: a long download may lose its connection several times. */
const resumesMax = 16;

interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The bytes that the store sends: from `start`, at least up to `end`. */
interface Span extends ByteRange {
  readonly chunks: AsyncGenerator<Buffer, void, undefined>;
  readonly entityTag: string | undefined;
}

/**
 * The bytes of a range, as far as the object has them. All bytes are counted against the announced length. After a broken or
 * silent connection the rest is requested on another one, from the same object.
 */
export async function* readObject(
  bucket: Bucket,
  path: string,
  range: ByteRange,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  let rest = range;
  let entityTag: string | undefined;
  for (let resumes = 0; ; resumes += 1) {
    const span = await openSpan(bucket, path, { range: rest, entityTag, signal });
    if (span === undefined) {
      if (rest === range) return;
      throw brokenAnswer(operation, "has no more of what it began");
    }
    entityTag = span.entityTag;
    let at = span.start;
    const failure = yield* counted(span, (bytes) => {
      at += bytes;
    });
    if (failure === undefined) return;
    if (resumes === resumesMax || !failure.passing) throw failure;
    rest = { start: at, end: span.end };
  }
}

/** @returns the error if the response ended too early. */
async function* counted(
  span: Span,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer, S3Error | undefined, undefined> {
  let left = span.end + 1 - span.start;
  try {
    while (left > 0) {
      const next = await nextChunk(span.chunks);
      if (next instanceof S3Error) return next;
      const chunk = next.subarray(0, left);
      left -= chunk.length;
      onBytes(chunk.length);
      yield chunk;
    }
    return undefined;
  } finally {
    await span.chunks.return();
  }
}

async function nextChunk(chunks: AsyncGenerator<Buffer, void, undefined>): Promise<Buffer | S3Error> {
  try {
    const next = await chunks.next();
    return next.done === true ? brokenAnswer(operation, "ended too early") : next.value;
  } catch (error) {
    return noAnswer(operation, error);
  }
}

/** @returns undefined when the object has no byte of the range. @throws BlobMissingError. */
async function openSpan(
  bucket: Bucket,
  path: string,
  {
    range,
    entityTag,
    signal,
  }: { readonly range: ByteRange; readonly entityTag: string | undefined; readonly signal: AbortSignal | undefined },
): Promise<Span | undefined> {
  const headers = {
    range: `bytes=${range.start}-${range.end}`,
    ...(entityTag === undefined ? {} : { "if-match": entityTag }),
  };
  return await bucket.call(
    { name: operation, method: "GET", path, headers, expected: [206, 404, 416], signal },
    async (answer) => {
      switch (answer.status) {
        case 416:
          await textBody(operation, answer);
          return undefined;
        case 404: {
          const code = textOf(await textBody(operation, answer), "Code");
          if (code === "NoSuchBucket") throw refusal(operation, 404, code);
          throw new BlobMissingError("The blob is not in the store.");
        }
        default:
          return spanOf(answer, range);
      }
    },
  );
}

/** RFC 9110, section 14.4. A store may send more than the range, but never less than the object has of it. */
function spanOf(answer: Answer, range: ByteRange): Span | undefined {
  const length = answer.header("content-length");
  const whole = answer.status === 200 && length !== undefined ? `bytes 0-${Number(length) - 1}/${length}` : "";
  const announced = answer.header("content-range") ?? whole;
  const [, first, last, total] = /^bytes (\d{1,15})-(-?\d{1,15})\/(\d{1,15})$/.exec(announced) ?? [];
  const end = Math.min(range.end, Number(total) - 1);
  if (total === "0") {
    answer.cut();
    return undefined;
  }
  const good =
    Number(first) === range.start &&
    end >= range.start &&
    Number(last) >= end &&
    (length === undefined || Number(length) === Number(last) + 1 - Number(first));
  if (!good) {
    answer.cut();
    throw brokenAnswer(operation, "is not the requested range");
  }
  return { start: range.start, end, chunks: answer.chunks, entityTag: answer.header("etag") };
}
