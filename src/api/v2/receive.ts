import type { FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import type { BodyIntake } from "../../http/body/body-intake.ts";
import type { FormFile } from "../../http/body/multipart.ts";
import { type ReceivedBody, receiveBody, refuseFiles } from "../../http/body/receive-body.ts";
import { idempotencyKeyOf } from "../../http/parameters.ts";
import { CreatePushFields, readCreatePush, readNotifyEmails } from "../../http/push-fields.ts";
import type { Actor, CreatePush, IncomingFile, LinkDeliveryRequest, Pushes, Upload } from "../../pushes/pushes.ts";

interface ReceiveDeps {
  readonly pushes: Pick<Pushes, "assertMayCreate" | "beginUpload">;
  readonly bodyIntake: BodyIntake;
}

/** The shape of a request that creates a push, which differs between the endpoints of the API. */
export interface Envelope {
  /** Accepted names of the object with the fields; the first one with an object counts. The endpoint's own name comes first. */
  readonly wrappers: readonly [string, ...string[]];
  /** Adds the fields that the endpoint itself determines. */
  complete(fields: object): object;
}

const pushEnvelope: Envelope = { wrappers: ["push"], complete: (fields) => fields };

/**
 * Reads `{"push": {...}}`, or the envelope's equivalent, from JSON or a form. Files of a multipart form are sealed and
 * stored as they arrive; the upload in the result must be passed to `pushes.create` or be abandoned.
 * @throws AppError as `idempotencyKeyOf`, `receiveBody`, `readCreatePush`, `pushes.assertMayCreate` and `pushes.beginUpload` do; the upload is
 * then abandoned.
 */
export async function receiveCreatePush(
  request: FastifyRequest,
  deps: ReceiveDeps,
  envelope: Envelope = pushEnvelope,
): Promise<CreatePush> {
  // Anonymous requests cannot be repeated: the server does not keep their links.
  const idempotencyKey = request.actor.user === null ? undefined : idempotencyKeyOf(request);
  const files = new LazyUpload(deps.pushes, request.actor);
  try {
    const body = await receiveBody(request, deps.bodyIntake, (file) => takeFile(file, envelope, files));
    const fields = envelope.complete(pushFields(body, envelope, files.begun !== undefined));
    deps.pushes.assertMayCreate(wantsFiles(fields), request.actor);
    const read = readCreatePush(fields);
    for (const file of read.files) await files.add({ ...file, content: once(file.bytes) });
    const wanted = { ...read.request, idempotencyKey };
    return files.begun === undefined ? wanted : { ...wanted, upload: files.begun, mentionsFiles: true };
  } catch (error) {
    await files.begun?.abandon();
    throw error;
  }
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

function pushFields({ encoding, value }: ReceivedBody, { wrappers }: Envelope, hasUpload: boolean): object {
  const given = isObject(value) ? wrappers.filter((name) => Object.hasOwn(value, name)) : [];
  const push = given.map((name): unknown => Reflect.get(Object(value), name)).find(isObject);
  if (push !== undefined) return encoding === "form" ? withoutEmptyFiles(push) : push;
  if (given.length === 0 && hasUpload) return {};
  throw new AppError("invalid_request", `The body must have an object named "${wrappers[0]}".`);
}

/** Decided by the key alone: an invalid list of files needs a token too. */
function wantsFiles(push: object): boolean {
  const own = (name: string): unknown => (Object.hasOwn(push, name) ? Reflect.get(push, name) : undefined);
  return (own("files") ?? null) !== null || own("kind") === "file";
}

/** Form libraries add an empty text field beside a file input, so that the name is sent even without a file. */
function withoutEmptyFiles(push: object): object {
  const files: unknown = Reflect.get(push, "files");
  const given = Array.isArray(files) ? files : [files];
  return given.every((file) => file === "") ? { ...push, files: [] } : push;
}

/**
 * Reads the recipients of a link delivery from JSON or a form. Some clients wrap the fields in `push`.
 * @throws AppError as `receiveBody` and `readNotifyEmails` do.
 */
export async function receiveNotifyEmails(
  request: FastifyRequest,
  { bodyIntake }: Pick<ReceiveDeps, "bodyIntake">,
): Promise<LinkDeliveryRequest> {
  const { value } = await receiveBody(request, bodyIntake, refuseFiles);
  return readNotifyEmails(unwrapped(value));
}

function unwrapped(body: unknown): object {
  if (!isObject(body)) return {};
  const push: unknown = Object.hasOwn(body, "push") ? Reflect.get(body, "push") : undefined;
  return isObject(push) ? push : body;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
