import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import type { BodyIntake } from "../../http/body/body-intake.ts";
import type { FormFields } from "../../http/body/form-fields.ts";
import { isJsonObject } from "../../http/body/json-reader.ts";
import type { FormFile } from "../../http/body/multipart.ts";
import { isReadable, type ReceivedBody, receiveBody, refuseFiles } from "../../http/body/receive-body.ts";
import { discardBody } from "../../http/discard-body.ts";
import { idempotencyKeyOf, passphraseOf, queryFields } from "../../http/parameters.ts";
import {
  CreatePushFields,
  readCreatePush,
  readEditPush,
  readNotifyEmails,
  readPassphrase,
} from "../../http/push-fields.ts";
import { findMessages } from "../../i18n/i18n.ts";
import type {
  Actor,
  CreatePush,
  EditPush,
  IncomingFile,
  LinkDeliveryRequest,
  Pushes,
  Upload,
} from "../../pushes/pushes.ts";

interface ReceiveDeps {
  readonly pushes: Pick<Pushes, "assertMayCreate" | "beginUpload">;
  readonly bodyIntake: BodyIntake;
}

/** The shape of a request that creates a push, which differs between the endpoints of the API. */
export interface Envelope {
  /** Accepted names of the object with the fields; the first one with an object counts. The endpoint's own name comes first. */
  readonly wrappers: readonly [string, ...string[]];
  /** Whether a JSON object without a wrapper that has a field of a push counts as the inside of the wrapper. */
  readonly mayBeAbsent: boolean;
  /** Adds the fields that the endpoint itself determines. */
  complete(fields: object): object;
}

const pushEnvelope: Envelope = { wrappers: ["push"], mayBeAbsent: true, complete: (fields) => fields };

const editEnvelope: Envelope = { ...pushEnvelope, mayBeAbsent: false };

interface ReceivedPush {
  readonly wanted: CreatePush;
  /** The language of the links in the answer; undefined: none, or none of this server's. */
  readonly locale: string | undefined;
}

/**
 * Reads `{"push": {...}}`, or the envelope's equivalent, from JSON or a form, and from the query string. Files of a multipart
 * form are sealed and stored as they arrive; the upload in the result must be passed to `pushes.create` or be abandoned.
 * @throws AppError as `idempotencyKeyOf`, `receiveBody`, `readCreatePush`, `pushes.assertMayCreate` and `pushes.beginUpload` do; the upload is
 * then abandoned.
 */
export async function receiveCreatePush(
  request: FastifyRequest,
  deps: ReceiveDeps,
  envelope: Envelope = pushEnvelope,
): Promise<ReceivedPush> {
  // Anonymous requests cannot be repeated: the server does not keep their links.
  const idempotencyKey = request.actor.user === null ? undefined : idempotencyKeyOf(request);
  const { read, upload, locale } = await receivePush(request, deps, envelope, (fields) => {
    deps.pushes.assertMayCreate(wantsFiles(fields), request.actor);
    return readCreatePush(fields);
  });
  return { wanted: { ...read.request, idempotencyKey, ...(upload && { upload, mentionsFiles: true }) }, locale };
}

interface ReceivedEdit {
  readonly wanted: EditPush;
  readonly removedNames: readonly string[];
  readonly locale: string | undefined;
}

/**
 * Reads the changes of a push like a new push; the upload must be passed to `pushes.edit` or be abandoned.
 * @throws AppError as `receiveCreatePush`, and as `readEditPush`.
 */
export async function receiveEditPush(request: FastifyRequest, deps: ReceiveDeps): Promise<ReceivedEdit> {
  const { read, upload, locale } = await receivePush(request, deps, editEnvelope, readEditPush);
  return { wanted: { ...read.request, ...(upload && { upload }) }, removedNames: read.removedNames, locale };
}

interface WithFiles {
  readonly files: readonly (Omit<IncomingFile, "content"> & { readonly bytes: Buffer })[];
}

/** @param read the fields. */
async function receivePush<Read extends WithFiles>(
  request: FastifyRequest,
  deps: ReceiveDeps,
  envelope: Envelope,
  read: (fields: object) => Read,
) {
  const files = new LazyUpload(deps.pushes, request.actor);
  try {
    const query = queryFields(request);
    const body = await receiveBody(request, deps.bodyIntake, (file) => takeFile(file, envelope, files));
    const fields = envelope.complete(pushFields(body, query, envelope, files.begun !== undefined));
    const pushRead = read(fields);
    for (const file of pushRead.files) await files.add({ ...file, content: once(file.bytes) });
    return { read: pushRead, upload: files.begun, locale: pushLocale(body.value) ?? pushLocale(query) };
  } catch (error) {
    await files.begun?.abandon();
    throw error;
  }
}

/**
 * Reads the passphrase of a retrieval from the request, also from its body.
 * @throws AppError invalid_request, and as `receiveBody` does.
 */
export async function receivePassphrase(
  request: FastifyRequest,
  reply: FastifyReply,
  { bodyIntake }: Pick<ReceiveDeps, "bodyIntake">,
): Promise<string | undefined> {
  if (!isReadable(request)) {
    discardBody(request.raw, reply.raw);
    return passphraseOf(request, undefined);
  }
  const { value } = await receiveBody(request, bodyIntake, refuseFiles);
  return passphraseOf(request, isJsonObject(value) ? readPassphrase(value) : undefined);
}

/** An upload that begins with its first file: a push without files must not fail because its sender may not upload. */
class LazyUpload {
  readonly #pushes: ReceiveDeps["pushes"];
  readonly #actor: Actor;
  #begun: Upload | undefined;

  constructor(pushes: ReceiveDeps["pushes"], actor: Actor) {
    this.#pushes = pushes;
    this.#actor = actor;
  }

  get begun(): Upload | undefined {
    return this.#begun;
  }

  async add(file: IncomingFile): Promise<void> {
    this.#begun ??= await this.#pushes.beginUpload(this.#actor);
    await this.#begun.addFile(file);
  }
}

/** `wrapper[field]`; some clients send files without the last brackets, or with a number in them. */
const fieldPattern = /^([a-z_]{1,20})\[([a-z_]{1,64})\](\[\d{0,3}\])?$/;

async function takeFile(file: FormFile, { wrappers }: Envelope, files: LazyUpload): Promise<void> {
  const [, wrapper = "", name = "", numbering] = fieldPattern.exec(file.field) ?? [];
  if (!wrappers.includes(wrapper)) return;
  if (name === "files") await files.add(file);
  else if (numbering === undefined && Object.hasOwn(CreatePushFields.properties, name)) {
    throw new AppError("invalid_request", `${file.field} must be text, not a file.`);
  }
}

function pushFields(
  { encoding, value }: ReceivedBody,
  query: FormFields,
  { wrappers, mayBeAbsent }: Envelope,
  hasUpload: boolean,
): object {
  const inBody = wrappedFields(value, wrappers);
  const isBare =
    mayBeAbsent && encoding === "json" && inBody === undefined && isJsonObject(value) && hasPushField(value);
  const given = isBare ? value : inBody;
  const inQuery = wrappedFields(query, wrappers);
  if (given === null || (given === undefined && (inQuery ?? null) === null && !hasUpload)) {
    throw new AppError("invalid_request", `The body must have an object named "${wrappers[0]}".`);
  }
  return given !== undefined && (inQuery ?? null) === null ? given : { ...inQuery, ...given };
}

/** @returns null: there is a wrapper, but it is not an object; undefined: there is none. */
function wrappedFields(value: unknown, wrappers: Envelope["wrappers"]): object | null | undefined {
  if (!isJsonObject(value)) return undefined;
  let hasWrapper = false;
  for (const name of wrappers) {
    if (!Object.hasOwn(value, name)) continue;
    const wrapped: unknown = Reflect.get(value, name);
    if (isJsonObject(wrapped)) return wrapped;
    hasWrapper = true;
  }
  return hasWrapper ? null : undefined;
}

function hasPushField(value: object): boolean {
  return Object.keys(CreatePushFields.properties).some((name) => Object.hasOwn(value, name));
}

/** Decided by the key alone: an invalid list of files needs a token too. */
function wantsFiles(push: object): boolean {
  const files = own(push, "files") ?? "";
  return files !== "" || own(push, "kind") === "file";
}

/** The language of the links in an answer that the query string asks for; undefined: none, or none of this server's. */
export function localeOf(request: FastifyRequest): string | undefined {
  return pushLocale(request.query);
}

function pushLocale(fields: unknown): string | undefined {
  const tag = isJsonObject(fields) ? own(fields, "push_locale") : undefined;
  return typeof tag === "string" ? findMessages(tag)?.locale.tag : undefined;
}

function own(fields: object, name: string): unknown {
  return Object.hasOwn(fields, name) ? Reflect.get(fields, name) : undefined;
}

/**
 * Receives the recipients of a link delivery in JSON, a form or the query string. Some clients wrap the fields in `push`.
 * @returns the function that reads them, as `readNotifyEmails`. @throws AppError as `receiveBody` does.
 */
export async function receiveNotifyEmails(
  request: FastifyRequest,
  { bodyIntake }: Pick<ReceiveDeps, "bodyIntake">,
): Promise<() => LinkDeliveryRequest> {
  const query = queryFields(request);
  const { value } = await receiveBody(request, bodyIntake, refuseFiles);
  return () => readNotifyEmails({ ...unwrapped(query), ...unwrapped(value) });
}

function unwrapped(body: unknown): object {
  if (!isJsonObject(body)) return {};
  const push = own(body, "push");
  return isJsonObject(push) ? push : body;
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
