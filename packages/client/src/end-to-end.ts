import { deliveryProblems } from "@sealpush/age/delivery";
import { findFieldProblems, type PushField } from "@sealpush/age/fields";
import { isWeakPassphrase, secretCharactersMin } from "@sealpush/age/guessable";
import { fingerprintOf, type KeyFragment, ownerProofOf, readFragment, writeFragment } from "@sealpush/age/key-check";
import { type LinkKey, makeFileKey, makeLinkKey, readLinkKey } from "@sealpush/age/link-key";
import { DamagedError, openFile, openIdentity, openText, WrongPassphraseError } from "@sealpush/age/open";
import { isRecipient, sealFile, sealText, sealUnderPassphrase } from "@sealpush/age/seal";
import {
  type LabelKind,
  type OpenedContent,
  readContent,
  readLabel,
  type SealedFileDetails,
  UnexpectedContentError,
  writeAnswer,
  writeLabel,
  writePayload,
} from "@sealpush/age/sealed-content";
import type { OwnedRequest, RequestAnswers, Request as SecretRequest } from "./api-types.ts";
import type { FileToDownload } from "./download.ts";
import { ClientError, oneLine } from "./errors.ts";
import { chunksIn, type NewFile, streamOf } from "./multipart.ts";
import type { NewPush, Retrieved } from "./push-types.ts";
import type { AnswersOptions, CreatedRequest, FoundRequest, NewAnswer } from "./request-types.ts";
import { isSealedLabel } from "./sealed-label.ts";

/** The format is described in docs/end-to-end.md. This file is loaded only for end-to-end pushes and for requests. */

export interface SealedPush {
  /** What the server gets. */
  readonly push: NewPush;
  /** What follows "#" in the link. */
  readonly fragment: string;
}

/** @throws ClientError invalid if the push has what the server must know, a file of unknown size, or labels that are too long to be sealed. */
export async function sealPush(push: NewPush, sealsLabels: boolean): Promise<SealedPush> {
  const { payload = "", passphrase = "", files = [], kind, notify_emails_to: mailed, fields, ...rest } = push;
  if (kind === "url" || kind === "qr" || mailed !== undefined) {
    throw new ClientError(
      "invalid",
      "Only texts and files can be sealed end to end, and the server cannot mail their link.",
    );
  }
  const rows = fields && checkedFields(fields, payload);
  const key = await makeLinkKey();
  const labels = sealsLabels ? await sealLabels(push, key.recipient) : {};
  const { list, sealed } = await sealFiles(files);
  const content = await sealText(writePayload({ text: payload, fields: rows, files: list }), key.recipient, passphrase);
  return {
    push: {
      ...rest,
      ...labels,
      encryption: "age",
      encryption_check: key.check,
      payload: content,
      // The preset may name a kind that cannot be sealed.
      ...(rest.preset !== undefined && { kind: kind ?? (sealed.length > 0 ? "file" : "text") }),
      ...(sealed.length > 0 && { files: sealed }),
    },
    fragment: key.identity,
  };
}

/** @throws ClientError invalid: the server cannot check what it does not see. */
function checkedFields(fields: NonNullable<NewPush["fields"]>, payload: string): readonly PushField[] {
  const rows = fields.map(({ label, value, type = "text" }) => ({ label, value, type }));
  const [found] = findFieldProblems(rows);
  if (payload !== "") throw new ClientError("invalid", "A push has fields or a payload, and not both.");
  if (found === undefined) return rows;
  const where = "at" in found ? `Field ${found.at + 1} is` : "The fields are";
  throw new ClientError("invalid", `${where} not valid (${found.problem.replace("_", " ")}). Nothing was sent.`);
}

/** With what says that they are a name or a note. Sealed, they have as many characters as a server takes. */
const sealedLabelBytesMax = { name: 1_261, note: 48_145 } as const;

/** The labels are not under the passphrase: their owner opens them with the link alone. */
async function sealLabels(push: NewPush, recipient: string): Promise<Pick<NewPush, "name" | "note">> {
  const sealed: { name?: string; note?: string } = {};
  for (const field of ["name", "note"] as const) {
    const text = push[field] ?? "";
    if (text === "") continue;
    const label = writeLabel(field, text);
    if (new TextEncoder().encode(label).length > sealedLabelBytesMax[field]) {
      const bytesMax = sealedLabelBytesMax[field] - writeLabel(field, "").length;
      throw new ClientError(
        "invalid",
        `Sealed, the ${field} may have at most ${bytesMax} bytes. Shorten it, or do not seal it. Nothing was sent.`,
      );
    }
    sealed[field] = await sealText(label, recipient, "");
  }
  return sealed;
}

/** @returns the label itself if it is not sealed, does not open, or is another one. */
export async function openLabel(label: string, is: LabelKind, fragment: string): Promise<string> {
  const key = await readLinkKey(fragment);
  if (!isSealedLabel(label) || key === undefined) return label;
  try {
    return readLabel(await openText(label, key.identity, ""), is);
  } catch (error) {
    const isUnreadable =
      error instanceof DamagedError || error instanceof WrongPassphraseError || error instanceof UnexpectedContentError;
    if (isUnreadable) return label;
    throw error;
  }
}

/** Each file for a key of its own, which is in the list. @throws ClientError invalid for a file of unknown size. */
async function sealFiles(files: readonly NewFile[]) {
  const keys = await Promise.all(files.map(makeFileKey));
  const keyed = files.flatMap((file, at) => {
    const key = keys[at];
    return key === undefined ? [] : [{ file, key, stored: `${at + 1}.age` }];
  });
  return {
    list: keyed.map(({ file, key, stored }) => detailsOf(file, stored, key.identity)),
    sealed: keyed.map(({ file, key, stored }) => sealedFile(file, stored, key.recipient)),
  };
}

/** @throws ClientError invalid for a file of unknown size; not_this_api if the server named no recipient. */
export async function sealAnswer(
  { payload = "", files = [] }: NewAnswer,
  { url_token: urlToken, recipient }: Pick<SecretRequest, "url_token" | "recipient">,
) {
  if (!isRecipient(recipient)) {
    throw new ClientError(
      "not_this_api",
      "The server named no age recipient to seal the answer for. Nothing was sent.",
    );
  }
  const { list, sealed } = await sealFiles(files);
  const content = writeAnswer(urlToken, { text: payload, files: list });
  return { payload: await sealText(content, recipient, ""), files: sealed };
}

/** The link to send names the key, so that those who answer notice if a server sends another one. */
async function linkToSend(htmlUrl: string, recipient: string): Promise<string> {
  return `${htmlUrl.replace(/#.*/, "")}#${await fingerprintOf(recipient)}`;
}

/**
 * What somebody may answer. The answer names the request of the link, whichever the server says it is.
 * @param fingerprint of the link; "": it names no key.
 * @throws ClientError invalid if the server has sent another key than the one that the link names.
 */
export async function checkRequest(found: SecretRequest, urlToken: string, fingerprint: string): Promise<FoundRequest> {
  const isNamed = fingerprint !== "";
  if (isNamed && fingerprint !== (await fingerprintOf(found.recipient))) {
    throw new ClientError(
      "invalid",
      "The server has sent another key than the one that the link names, or the link was cut or changed. Nothing was sent: ask the person " +
        "who asks you for the whole link.",
    );
  }
  return { ...found, url_token: urlToken, recipient_checked: isNamed };
}

/**
 * The key of a request for a secret.
 * @param passphrase "": the identity stays here.
 * @throws ClientError invalid if the passphrase can be guessed.
 */
export async function makeRequestKey(passphrase: string) {
  if (passphrase !== "" && isWeakPassphrase(passphrase)) {
    throw new ClientError(
      "invalid",
      `The passphrase must have at least ${secretCharactersMin} characters, and not be one of those that attackers try first: the operator of ` +
        "the server can try passphrases on the key that is stored there. Nothing was sent.",
    );
  }
  const { identity, recipient, check } = await makeLinkKey();
  const sealed = passphrase === "" ? "" : await sealUnderPassphrase(identity, passphrase);
  const proof = await ownerProofOf(identity);
  return {
    fields: { recipient, encryption_check: check, identity_sealed: sealed, owner_proof: proof },
    async complete(made: OwnedRequest): Promise<CreatedRequest> {
      return {
        ...made,
        html_url: await linkToSend(made.html_url, recipient),
        private_link: passphrase === "" ? `${made.answers_url}#${identity}` : made.answers_url,
      };
    },
  };
}

/** Adds the key to the links of answers, and the request: what answers another one is not opened. */
export async function addKey(found: RequestAnswers, key: LinkKey, request: string): Promise<RequestAnswers> {
  const fragment = writeFragment({ identity: key.identity, request });
  return {
    ...found,
    html_url: await linkToSend(found.html_url, key.recipient),
    // Empty: the server has lost the link.
    pushes: found.pushes.map((push) =>
      push.html_url === "" ? push : { ...push, html_url: `${push.html_url}#${fragment}` },
    ),
  };
}

/** @returns the header that proves who made a request without an account. @param fragment of the private link. */
export async function proofHeader(fragment: string): Promise<Readonly<Record<string, string>>> {
  const key = await readLinkKey(fragment);
  return key === undefined ? {} : { "X-Request-Proof": await ownerProofOf(key.identity) };
}

/** @returns undefined if the passphrase is wrong. @throws ClientError invalid if the key was changed. */
async function openRequestKey(sealed: string, passphrase: string): Promise<string | undefined> {
  try {
    return await openIdentity(sealed, passphrase);
  } catch (error) {
    if (error instanceof WrongPassphraseError) return undefined;
    throw new ClientError("invalid", "The key of the request was damaged or changed after it was sealed.");
  }
}

/**
 * The key of a request, from its private link or the passphrase.
 * @param fragment of the link; "": it has none. @returns undefined: neither the link nor a passphrase gives the key.
 * @throws ClientError wrong_passphrase; invalid if the key is not the one of this request.
 */
export async function findKey(
  { encryption_check: check, identity_sealed: sealed }: RequestAnswers,
  fragment: string,
  { passphrase, askPassphrase }: AnswersOptions,
): Promise<LinkKey | undefined> {
  if (fragment !== "") return await readKey(fragment, check);
  for (let given = passphrase ?? (await askPassphrase?.()); given !== undefined; given = await askPassphrase?.()) {
    const identity = await openRequestKey(sealed, given);
    if (identity !== undefined) return await readKey(identity, check);
    if (askPassphrase === undefined) throw new ClientError("wrong_passphrase", "That passphrase is wrong.");
  }
  if (passphrase === undefined && askPassphrase === undefined) return undefined;
  throw new ClientError("wrong_passphrase", "The answers need the passphrase of the request.");
}

function detailsOf(
  { filename: name, content_type: given, content, sizeBytes }: NewFile,
  stored: string,
  identity: string,
): SealedFileDetails {
  const size = content instanceof Blob ? content.size : sizeBytes;
  if (size === undefined) throw new ClientError("invalid", "The size of a file must be known to seal it end to end.");
  const type = given ?? (content instanceof Blob ? content.type : "");
  return { stored, name, type, size, identity };
}

function sealedFile(file: NewFile, filename: string, recipient: string): NewFile {
  async function* content() {
    const plain = file.content instanceof Blob ? file.content.stream() : streamOf(file.content());
    yield* chunksIn(await sealFile(plain, recipient));
  }
  return { filename, content_type: "application/octet-stream", content };
}

/**
 * @returns the key, and the request that the link of an answer names.
 * @throws ClientError invalid if the fragment is not the key of an end-to-end push; no view is spent then.
 */
export async function readKey(
  fragment: string,
  check: string | undefined,
): Promise<LinkKey & Pick<KeyFragment, "request">> {
  const found = readFragment(fragment);
  const key = found && (await readLinkKey(found.identity));
  if (key === undefined || (check !== undefined && check !== key.check)) {
    throw new ClientError(
      "invalid",
      "The part of the link after # is missing, or was cut or changed: ask its sender for the whole link. No view was spent.",
    );
  }
  return { ...key, request: found?.request ?? null };
}

type OpenedPush = Pick<Retrieved, "payload" | "fields" | "files"> & { readonly files_listed?: boolean };

/**
 * Opens a retrieved push. What was sealed decides which files it has, and not what the server delivered.
 * @param sealed its payload; null: none was delivered.
 * @returns undefined if the passphrase is wrong.
 * @throws ClientError invalid if the server delivered something else than what was sealed.
 */
export async function openPush(
  { payload: sealed, files: delivered }: Pick<Retrieved, "payload" | "files">,
  key: Pick<LinkKey & KeyFragment, "identity" | "request">,
  passphrase: string,
): Promise<OpenedPush | undefined> {
  if (sealed === null && delivered.length === 0) throw unexpected();
  let content: OpenedContent;
  try {
    const text = sealed === null ? "" : await openText(sealed, key.identity, passphrase);
    content = readContent(text, key.request);
  } catch (error) {
    if (error instanceof WrongPassphraseError) return undefined;
    if (error instanceof UnexpectedContentError) throw unexpected();
    throw new ClientError("invalid", "The content was damaged or changed after it was sealed.");
  }
  const payload = content.text === "" ? null : content.text;
  const { files: list, fields } = content;
  const text = { payload, ...(fields && { fields }) };
  if (list === null) {
    const files = delivered.map((file) => ({
      ...file,
      filename: file.filename.replace(/\.age$/, ""),
      content_type: "",
      identity: key.identity,
    }));
    return { ...text, files, ...(files.length > 0 && { files_listed: false }) };
  }
  const problems = deliveryProblems(
    list,
    delivered.map(({ filename }) => ({ stored: filename })),
  );
  if (problems.length > 0) {
    const named = problems.map(({ problem, name }) => `${problem}: ${oneLine(name)}`).join(", ");
    throw new ClientError("invalid", `The server did not deliver what was sealed, so nothing is shown (${named}).`);
  }
  return {
    ...text,
    files: list.flatMap(({ stored, name, type, identity, size }) => {
      const found = delivered.find(({ filename }) => filename === stored);
      return found === undefined ? [] : [{ ...found, filename: name, content_type: type, identity, sizeBytes: size }];
    }),
    ...(list.length > 0 && { files_listed: true }),
  };
}

function unexpected(): ClientError {
  return new ClientError(
    "invalid",
    "The server delivered something else than the secret of this link, for example a note or the answer to another request, or the " +
      "secret was sealed in a way that this version does not know. Nothing is shown.",
  );
}

/** @throws ClientError invalid if the content was changed, or does not have the size that was sealed. */
export async function* openChunks(
  sealed: AsyncGenerator<Uint8Array>,
  { identity, sizeBytes }: Required<Pick<FileToDownload, "identity">> & Pick<FileToDownload, "sizeBytes">,
): AsyncGenerator<Uint8Array> {
  let failure: unknown;
  const stream = streamOf(sealed, (error) => {
    failure = error;
  });
  try {
    yield* chunksIn(await openFile(stream, identity, sizeBytes));
  } catch {
    throw failure ?? new ClientError("invalid", "The file was damaged or changed after it was sealed.");
  }
}
