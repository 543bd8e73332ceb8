import { randomHex } from "./random-hex.ts";
import type { RequestBody } from "./transport.ts";

/** A file to send. */
export interface NewFile {
  readonly filename: string;
  /** Default: the type that the server derives from the name. */
  readonly content_type?: string;
  /** A Blob, such as a File of a browser; or a function that reads the content from its start, called for each attempt. */
  readonly content: Blob | (() => AsyncIterable<Uint8Array>);
  /** The size of a function's content. It is needed only to seal the file end to end. */
  readonly sizeBytes?: number;
}

export type Progress = (sentBytes: number) => void;

/** Browsers send streams over HTTP/2 at best, but they keep large Blobs on disk and read them while they send them. */
const sendsStreams = !("location" in globalThis);

/**
 * A form with files. One of Blobs is left to fetch, and any other is written here. In browsers, all files become Blobs before anything
 * is sent.
 */
export async function formBody(
  fields: readonly (readonly [name: string, value: string])[],
  fileField: string,
  files: readonly NewFile[],
  onProgress: Progress | undefined,
): Promise<RequestBody> {
  const blobs: { readonly filename: string; readonly blob: Blob }[] = [];
  for (const { filename, content_type: type, content } of files) {
    if (!(content instanceof Blob) && sendsStreams) break;
    const blob = content instanceof Blob ? content : await new Response(streamOf(content())).blob();
    blobs.push({ filename, blob: type === undefined ? blob : blob.slice(0, blob.size, type) });
  }
  if (blobs.length === files.length) {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    for (const { filename, blob } of blobs) form.append(fileField, blob, filename);
    return { content: form };
  }
  const boundary = `sealpush-${randomHex()}`;
  let failure: unknown;
  const content = streamOf(formParts(fields, { fileField, files, boundary, onProgress }), (error) => {
    failure = error;
  });
  return { content, type: `multipart/form-data; boundary=${boundary}`, failure: () => failure };
}

async function* formParts(
  fields: readonly (readonly [string, string])[],
  form: {
    readonly fileField: string;
    readonly files: readonly NewFile[];
    readonly boundary: string;
    readonly onProgress: Progress | undefined;
  },
): AsyncGenerator<Uint8Array> {
  const { fileField, files, boundary, onProgress } = form;
  const encoder = new TextEncoder();
  for (const [name, value] of fields) {
    yield encoder.encode(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  }
  let sentBytes = 0;
  for (const { filename, content_type: type, content } of files) {
    const typeLine = type === undefined ? "" : `content-type: ${escaped(type)}\r\n`;
    const disposition = `form-data; name="${fileField}"; filename="${escaped(filename)}"`;
    yield encoder.encode(`--${boundary}\r\ncontent-disposition: ${disposition}\r\n${typeLine}\r\n`);
    for await (const part of content instanceof Blob ? chunksIn(content.stream()) : content()) {
      yield part;
      sentBytes += part.length;
      onProgress?.(sentBytes);
    }
    yield encoder.encode("\r\n");
  }
  yield encoder.encode(`--${boundary}--\r\n`);
}

/** As the HTML Standard encodes names in forms. */
function escaped(name: string): string {
  return name.replace(/\r/g, "%0D").replace(/\n/g, "%0A").replace(/"/g, "%22");
}

export async function* chunksIn(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

/** Reads only as fast as the parts are taken. */
export function streamOf(
  content: AsyncIterable<Uint8Array>,
  onFailure: (error: unknown) => void = () => undefined,
): ReadableStream<Uint8Array> {
  const parts = content[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await parts.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onFailure(error);
        throw error;
      }
    },
    async cancel() {
      await parts.return?.();
    },
  });
}
