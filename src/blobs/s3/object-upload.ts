import { createHash } from "node:crypto";
import { type Answer, type Bucket, textBody } from "./bucket.ts";
import { type Content, contentOf, PartBuffer } from "./content.ts";
import { removeObject } from "./remove-object.ts";
import { brokenAnswer, refusal, S3Error } from "./s3-error.ts";
import { encoded, textOf } from "./xml.ts";

/** S3's limits for multipart uploads ("Amazon S3 multipart upload limits"). */
export const partBytesMin = 5 * 1024 ** 2;
export const partsMax = 10_000;

/** An upload as an earlier writer has left it. */
export interface BegunUpload {
  /** undefined: no part was sent. */
  readonly uploadId: string | undefined;
  /** The entity tags of the parts, in order. */
  readonly entityTags: readonly string[];
  /** The bytes after the last part. */
  readonly tail: Uint8Array;
}

/**
 * The upload of one blob to the bucket: a single PutObject if it fits into one part, else a multipart upload of equal
 * parts. While one part is being sent the next is filled, so a blob of any size needs the memory of two parts. The object
 * can be read only after `finish`, since S3 makes an object visible as a whole.
 */
export class ObjectUpload {
  readonly #bucket: Bucket;
  readonly #path: string;
  readonly #partBytes: number;
  readonly #cancel = new AbortController();
  readonly #entityTags: string[];
  #filling: PartBuffer;
  #spare: PartBuffer | undefined;
  #uploadId: string | undefined;
  #sending: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;
  #reachedStore = false;
  #bytes = 0;

  /** @param begun whose `tail` fits into one part; undefined: the upload begins. */
  constructor(bucket: Bucket, path: string, partBytes: number, begun?: BegunUpload) {
    const { uploadId, entityTags = [], tail = new Uint8Array() } = begun ?? {};
    this.#bucket = bucket;
    this.#path = path;
    this.#partBytes = partBytes;
    this.#filling = new PartBuffer(partBytes);
    this.#filling.take(tail);
    this.#uploadId = uploadId;
    this.#entityTags = [...entityTags];
    this.#bytes = entityTags.length * partBytes + tail.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async add(chunk: Uint8Array): Promise<void> {
    for (let taken = 0; taken < chunk.length; ) {
      if (this.#filling.full) await this.#sendPart();
      taken += this.#filling.take(chunk.subarray(taken));
    }
    this.#bytes += chunk.length;
    this.#assertNotFailed();
  }

  /**
   * What another upload continues from, when the parts have been stored.
   * @param encode makes the bytes that follow the tail. @returns valid until more is added.
   */
  async begun(encode: (upload: Omit<BegunUpload, "tail">) => Uint8Array): Promise<Content> {
    await this.#sending;
    this.#assertNotFailed();
    return this.#filling.contentWith(encode({ uploadId: this.#uploadId, entityTags: this.#entityTags }));
  }

  /** Ends requests. What has been stored stays. */
  async stop(): Promise<void> {
    this.#cancel.abort();
    await this.#sending;
  }

  /** @returns the size of the whole blob in bytes. */
  async finish(): Promise<number> {
    if (this.#uploadId === undefined) {
      await this.#put("PutObject", {}, this.#filling.content());
      return this.#bytes;
    }
    await this.#sendPart();
    await this.#sending;
    this.#assertNotFailed();
    await this.#complete(this.#uploadId);
    return this.#bytes;
  }

  /**
   * After a failure: removes everything that may be stored, including objects whose response was lost. It is tried only once,
   * since the store itself may have failed.
   * @returns false when that failed, too: then the key must be deleted later.
   */
  async discard(): Promise<boolean> {
    await this.stop();
    if (!this.#reachedStore) return true;
    try {
      await removeObject(this.#bucket, this.#path, 1);
      return true;
    } catch (error) {
      if (error instanceof S3Error) return false;
      throw error;
    }
  }

  /** Resolves when the previous part has been stored and this one is being sent. */
  async #sendPart(): Promise<void> {
    await this.#sending;
    this.#assertNotFailed();
    this.#uploadId ??= await this.#create();
    const part = this.#filling;
    const query = { partNumber: String(this.#entityTags.length + 1), uploadId: this.#uploadId };
    if (this.#entityTags.length === partsMax) throw new Error(`A blob may have ${partsMax} parts.`);
    this.#filling = this.#spare ?? new PartBuffer(this.#partBytes);
    this.#spare = undefined;
    this.#sending = this.#put("UploadPart", query, part.content()).then(
      (entityTag) => {
        this.#entityTags.push(entityTag);
        part.clear();
        this.#spare = part;
      },
      (error: unknown) => {
        this.#failure = { error };
      },
    );
  }

  #assertNotFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** If the response is lost, a second upload exists, which ends when the key is deleted. */
  async #create(): Promise<string> {
    const name = "CreateMultipartUpload";
    this.#reachedStore = true;
    return await this.#bucket.call(
      { name, method: "POST", path: this.#path, query: { uploads: "" }, signal: this.#cancel.signal },
      async (answer) => {
        const uploadId = textOf(await textBody(name, answer), "UploadId");
        if (uploadId === undefined) throw brokenAnswer(name, "has no UploadId");
        return uploadId;
      },
    );
  }

  /** A second attempt replaces the first. @returns the entity tag, unchanged. */
  async #put(name: string, query: Readonly<Record<string, string>>, content: Content): Promise<string> {
    this.#reachedStore = true;
    const { signal } = this.#cancel;
    const headers = { "content-type": "application/octet-stream" };
    return await this.#bucket.call(
      { name, method: "PUT", path: this.#path, query, headers, content, signal },
      async (answer) => {
        await textBody(name, answer);
        const entityTag = answer.header("etag");
        if (entityTag === undefined) throw brokenAnswer(name, "has no ETag");
        if (isDigest(answer, entityTag) && bare(entityTag) !== content.md5) {
          throw brokenAnswer(name, "has the checksum of other bytes");
        }
        return entityTag;
      },
    );
  }

  /** Checks the object that is stored in the end: the response to a first attempt may have been lost. */
  async #complete(uploadId: string): Promise<void> {
    const name = "CompleteMultipartUpload";
    const parts = this.#entityTags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${encoded(tag)}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join("")}</CompleteMultipartUpload>`;
    const content = contentOf(Buffer.from(body));
    const headers = { "content-type": "application/xml" };
    const signal = this.#cancel.signal;
    await this.#bucket.call(
      { name, method: "POST", path: this.#path, query: { uploadId }, headers, content, expected: [404], signal },
      async (answer) => {
        const text = await textBody(name, answer);
        const code = textOf(text, "Code");
        // The status is sent before the work is done, so a 200 may contain an error.
        if (code !== undefined && code !== "NoSuchUpload") throw refusal(name, answer.status, code);
        if (code === undefined && answer.status === 404) throw refusal(name, 404, code);
        const entityTag = textOf(text, "ETag");
        if (entityTag !== undefined && !this.#isOfParts(answer, entityTag)) {
          throw new S3Error("The object store assembled the parts incorrectly.", "WrongETag");
        }
      },
    );
    await this.#assertSize();
  }

  async #assertSize(): Promise<void> {
    const name = "HeadObject";
    const { signal } = this.#cancel;
    await this.#bucket.call({ name, method: "HEAD", path: this.#path, signal }, async (answer) => {
      await textBody(name, answer);
      if (answer.header("content-length") !== String(this.#bytes)) {
        throw new S3Error("The object store has stored a different number of bytes than it was sent.", "WrongSize");
      }
    });
  }

  /** The tag of a multipart object is the digest of its parts' digests and their number. Tags of other forms prove nothing. */
  #isOfParts(answer: Answer, entityTag: string): boolean {
    const [, digest, count] = /^([0-9a-f]{32})-(\d+)$/.exec(bare(entityTag)) ?? [];
    if (digest === undefined || !this.#entityTags.every((tag) => isDigest(answer, tag))) return true;
    const digests = this.#entityTags.map((tag) => Buffer.from(bare(tag), "hex"));
    const expected = createHash("md5").update(Buffer.concat(digests)).digest("hex");
    return digest === expected && Number(count) === this.#entityTags.length;
  }
}

const bare = (entityTag: string) => entityTag.replaceAll('"', "");

/**
 * Whether the tag is the MD5 of the bytes. In S3 it is, unless the object is encrypted under a key of KMS or the client. In
 * stores whose tags have another form (Cloudflare's parts) it never is.
 */
function isDigest(answer: Answer, entityTag: string): boolean {
  if (!/^[0-9a-f]{32}$/.test(bare(entityTag))) return false;
  const byKms = answer.header("x-amz-server-side-encryption")?.startsWith("aws:") === true;
  return !byKms && answer.header("x-amz-server-side-encryption-customer-algorithm") === undefined;
}
