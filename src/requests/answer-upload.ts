import type { SealedFileDetails } from "@sealpush/age/sealed-content";
import type { IncomingFile, Upload } from "../pushes/pushes.ts";

/**
 * The files of an answer. Those that come as they are get sealed while they arrive, each for a new key that only the sealed
 * list of the answer will contain: nothing of them is stored otherwise. Those that the answering page or program has sealed
 * are stored as they are.
 */
export class AnswerUpload {
  /** For `pushes.create`, which takes it over. */
  readonly upload: Upload;
  readonly #sealedHere: SealedFileDetails[] = [];

  constructor(upload: Upload) {
    this.upload = upload;
  }

  /** The files that were sealed here, with their keys. */
  get sealedHere(): readonly SealedFileDetails[] {
    return this.#sealedHere;
  }

  /** @param isSealed as the sender says. @throws AppError as `Upload.addFile`. */
  async addFile(file: IncomingFile, isSealed: boolean): Promise<void> {
    // The server stores files under numbers: their names are in the sealed payload.
    const stored = { filename: `${this.upload.fileCount + 1}.age`, contentType: "application/octet-stream" };
    if (isSealed) {
      await this.upload.addFile({ ...stored, content: file.content });
      return;
    }
    const counted = new CountedBytes(file.content);
    const { makeFileKey } = await import("@sealpush/age/link-key");
    const { sealFile } = await import("@sealpush/age/seal");
    const { identity, recipient } = await makeFileKey();
    const sealed = await sealFile(streamOf(counted), recipient);
    await this.upload.addFile({ ...stored, content: sealed });
    this.#sealedHere.push({
      stored: stored.filename,
      name: file.filename,
      type: file.contentType,
      size: counted.bytes,
      identity,
    });
  }
}

class CountedBytes implements AsyncIterable<Uint8Array> {
  bytes = 0;
  readonly #content: AsyncIterable<Uint8Array>;

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#content = content;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#content) {
      this.bytes += chunk.length;
      yield chunk;
    }
  }
}

function streamOf(content: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = content[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
