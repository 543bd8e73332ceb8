import { sealFile } from "../age/seal.ts";
import type { SealedFileDetails } from "../age/sealed-files.ts";
import type { IncomingFile, Upload } from "../pushes/pushes.ts";

/**
 * The files of an answer. Those that come as they are get sealed for the request's recipient while they arrive: nothing of
 * them is stored otherwise. Those that the answering page or program has sealed are stored as they are.
 */
export class AnswerUpload {
  /** For `pushes.create`, which takes it over. */
  readonly upload: Upload;
  readonly #recipient: string;
  readonly #sealedHere: SealedFileDetails[] = [];

  constructor(upload: Upload, recipient: string) {
    this.upload = upload;
    this.#recipient = recipient;
  }

  /** Names and sizes of the files that were sealed here. */
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
    const sealed = await sealFile(streamOf(counted), this.#recipient);
    await this.upload.addFile({ ...stored, content: sealed });
    this.#sealedHere.push({
      stored: stored.filename,
      name: file.filename,
      type: file.contentType,
      size: counted.bytes,
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
