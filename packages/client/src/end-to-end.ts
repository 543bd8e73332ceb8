import { ownerProofOf } from "../../../src/age/key-check.ts";
import { type LinkKey, makeLinkKey, readLinkKey } from "../../../src/age/link-key.ts";
import { DamagedError, openFile, openIdentity, openText, WrongPassphraseError } from "../../../src/age/open.ts";
import { isRecipient, sealFile, sealText, sealUnderPassphrase } from "../../../src/age/seal.ts";
import { readSealedFiles, type SealedFileDetails, writeSealedFiles } from "../../../src/age/sealed-files.ts";
import type { NewPush } from "./client.ts";
import { ClientError } from "./errors.ts";
import { isSealedLabel } from "./labels.ts";
import { chunksIn, type NewFile, streamOf } from "./multipart.ts";
import type { NewAnswer } from "./requests.ts";

/** The format is described in docs/end-to-end.md. This file is loaded only for end-to-end pushes and for requests. */

export interface SealedPush {
  /** What the server gets. */
  readonly push: NewPush;
  /** What follows "#" in the link. */
  readonly fragment: string;
}

/** @throws ClientError invalid if the push has what the server must know, a file of unknown size, or labels that are too long to be sealed. */
export async function sealPush(push: NewPush, sealsLabels: boolean): Promise<SealedPush> {
  const { payload = "", passphrase = "", files = [], kind, notify_emails_to: mailed, ...rest } = push;
  if (kind === "url" || kind === "qr" || mailed !== undefined) {
    throw new ClientError(
      "invalid",
      "Only texts and files can be sealed end to end, and the server cannot mail their link.",
    );
  }
  const key = await makeLinkKey();
  const labels = sealsLabels ? await sealLabels(push, key.recipient) : {};
  const sealed = await sealContent(payload, files, key.recipient, passphrase);
  return {
    push: { ...rest, ...labels, encryption: "age", encryption_check: key.check, ...sealed },
    fragment: key.identity,
  };
}

/** Sealed, they have as many characters as a server takes. */
const sealedLabelBytesMax = { name: 1_261, note: 48_145 } as const;

/** Not under the passphrase: their owner opens them with the link alone. */
async function sealLabels(push: NewPush, recipient: string): Promise<Pick<NewPush, "name" | "note">> {
  const sealed: { name?: string; note?: string } = {};
  for (const field of ["name", "note"] as const) {
    const text = push[field] ?? "";
    if (text === "") continue;
    const bytesMax = sealedLabelBytesMax[field];
    if (new TextEncoder().encode(text).length > bytesMax) {
      throw new ClientError(
        "invalid",
        `Sealed, the ${field} may have at most ${bytesMax} bytes. Shorten it, or do not seal it. Nothing was sent.`,
      );
    }
    sealed[field] = await sealText(text, recipient, "");
  }
  return sealed;
}

/** @returns the label itself if it is not sealed, or does not open. */
export async function openLabel(label: string, fragment: string): Promise<string> {
  const key = await readLinkKey(fragment);
  if (!isSealedLabel(label) || key === undefined) return label;
  try {
    return await openText(label, key.identity, "");
  } catch (error) {
    if (error instanceof DamagedError || error instanceof WrongPassphraseError) return label;
    throw error;
  }
}

async function sealContent(payload: string, files: readonly NewFile[], recipient: string, passphrase: string) {
  if (files.length === 0) return { payload: await sealText(payload, recipient, passphrase) };
  // Only the payload is sealed under the passphrase, so it contains another key for the files.
  const fileKey = passphrase === "" ? undefined : await makeLinkKey();
  const list = { text: payload, identity: fileKey?.identity ?? null, files: files.map(detailsOf) };
  return {
    payload: await sealText(writeSealedFiles(list), recipient, passphrase),
    files: files.map((file, at) => sealedFile(file, storedName(at), fileKey?.recipient ?? recipient)),
  };
}

/** @throws ClientError invalid for a file of unknown size; not_this_api if the server named no recipient. */
export async function sealAnswer({ payload = "", files = [] }: NewAnswer, recipient: string) {
  if (!isRecipient(recipient)) {
    throw new ClientError(
      "not_this_api",
      "The server named no age recipient to seal the answer for. Nothing was sent.",
    );
  }
  return await sealContent(payload, files, recipient, "");
}

/** The key of a request for a secret. @param passphrase "": the identity stays here. */
export async function makeRequestKey(passphrase: string) {
  const { identity, recipient, check } = await makeLinkKey();
  const sealed = passphrase === "" ? "" : await sealUnderPassphrase(identity, passphrase);
  const proof = await ownerProofOf(identity);
  return { identity, fields: { recipient, encryption_check: check, identity_sealed: sealed, owner_proof: proof } };
}

/** @returns the header that proves who made a request without an account. @param fragment of the private link. */
export async function proofHeader(fragment: string): Promise<Readonly<Record<string, string>>> {
  const key = await readLinkKey(fragment);
  return key === undefined ? {} : { "X-Request-Proof": await ownerProofOf(key.identity) };
}

/** @returns undefined if the passphrase is wrong. @throws ClientError invalid if the key was changed. */
export async function openRequestKey(sealed: string, passphrase: string): Promise<string | undefined> {
  try {
    return await openIdentity(sealed, passphrase);
  } catch (error) {
    if (error instanceof WrongPassphraseError) return undefined;
    throw new ClientError("invalid", "The key of the request was damaged or changed after it was sealed.");
  }
}

const storedName = (at: number) => `${at + 1}.age`;

function detailsOf({ filename, content_type: type, content, sizeBytes }: NewFile, at: number): SealedFileDetails {
  const size = content instanceof Blob ? content.size : sizeBytes;
  if (size === undefined) throw new ClientError("invalid", "The size of a file must be known to seal it end to end.");
  return { stored: storedName(at), name: filename, type: type ?? (content instanceof Blob ? content.type : ""), size };
}

function sealedFile(file: NewFile, filename: string, recipient: string): NewFile {
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
