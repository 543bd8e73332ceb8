import { type LinkKey, makeLinkKey, readLinkKey } from "../../../src/age/link-key.ts";
import { openFile, openText, WrongPassphraseError } from "../../../src/age/open.ts";
import { sealFile, sealText } from "../../../src/age/seal.ts";
import { readSealedFiles, type SealedFileDetails, writeSealedFiles } from "../../../src/age/sealed-files.ts";
import type { NewPush } from "./client.ts";
import { ClientError } from "./errors.ts";
import { chunksIn, type NewFile, streamOf } from "./multipart.ts";

/** The format is described in docs/end-to-end.md. This file is loaded only for end-to-end pushes. */

export interface SealedPush {
  /** What the server gets. */
  readonly push: NewPush;
  /** What follows "#" in the link. */
  readonly fragment: string;
}

/** @throws ClientError invalid if the push has what the server must know, or a file of unknown size. */
export async function sealPush(push: NewPush): Promise<SealedPush> {
  const { payload = "", passphrase = "", files = [], kind, notify_emails_to: mailed, ...rest } = push;
  if (kind === "url" || kind === "qr" || mailed !== undefined) {
    throw new ClientError(
      "invalid",
      "Only texts and files can be sealed end to end, and the server cannot mail their link.",
    );
  }
  const key = await makeLinkKey();
  const sealed = { ...rest, encryption: "age", encryption_check: key.check } as const;
  if (files.length === 0) {
    const text = await sealText(payload, key.recipient, passphrase);
    return { push: { ...sealed, payload: text }, fragment: key.identity };
  }
  // Only the payload is sealed under the passphrase, so it contains another key for the files.
  const fileKey = passphrase === "" ? key : await makeLinkKey();
  const list = { text: payload, identity: fileKey === key ? null : fileKey.identity, files: files.map(detailsOf) };
  const text = await sealText(writeSealedFiles(list), key.recipient, passphrase);
  return {
    push: { ...sealed, payload: text, files: files.map((file, at) => sealedFile(file, storedName(at), fileKey)) },
    fragment: key.identity,
  };
}

const storedName = (at: number) => `${at + 1}.age`;

function detailsOf({ filename, content_type: type, content, sizeBytes }: NewFile, at: number): SealedFileDetails {
  const size = content instanceof Blob ? content.size : sizeBytes;
  if (size === undefined) throw new ClientError("invalid", "The size of a file must be known to seal it end to end.");
  return { stored: storedName(at), name: filename, type: type ?? (content instanceof Blob ? content.type : ""), size };
}

function sealedFile(file: NewFile, filename: string, { recipient }: LinkKey): NewFile {
  async function* content() {
    const plain = file.content instanceof Blob ? file.content.stream() : streamOf(file.content());
    yield* chunksIn(await sealFile(plain, recipient));
  }
  return { filename, content_type: "application/octet-stream", content };
}

/** @throws ClientError invalid if the fragment is not the key of an end-to-end push; no view is spent then. */
export async function readKey(fragment: string, check: string | undefined): Promise<LinkKey> {
  const key = await readLinkKey(fragment);
  if (key === undefined || (check !== undefined && check !== key.check)) {
    throw new ClientError(
      "invalid",
      "The part of the link after # is missing, or was cut or changed: ask its sender for the whole link. No view was spent.",
    );
  }
  return key;
}

/** @returns undefined if the passphrase is wrong. @throws ClientError invalid if the content was changed. */
export async function openPayload(sealed: string, key: LinkKey, passphrase: string) {
  try {
    const text = await openText(sealed, key.identity, passphrase);
    const list = readSealedFiles(text);
    return {
      text: list === undefined ? text : list.text,
      files: list?.files,
      fileIdentity: list?.identity ?? key.identity,
    };
  } catch (error) {
    if (error instanceof WrongPassphraseError) return undefined;
    throw new ClientError("invalid", "The content was damaged or changed after it was sealed.");
  }
}

/** @throws ClientError invalid if the content was changed. */
export async function* openChunks(sealed: AsyncGenerator<Uint8Array>, identity: string): AsyncGenerator<Uint8Array> {
  let failure: unknown;
  const stream = streamOf(sealed, (error) => {
    failure = error;
  });
  try {
    yield* chunksIn(await openFile(stream, identity));
  } catch {
    throw failure ?? new ClientError("invalid", "The file was damaged or changed after it was sealed.");
  }
}
