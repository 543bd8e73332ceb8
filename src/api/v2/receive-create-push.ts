import type { FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import type { BodyBudget } from "../../http/body/body-budget.ts";
import type { FormFile } from "../../http/body/multipart.ts";
import { type ReceivedBody, receiveBody } from "../../http/body/receive-body.ts";
import { CreatePushFields, readCreatePush } from "../../http/push-fields.ts";
import type { Actor, CreatePush, IncomingFile, Pushes, Upload } from "../../pushes/pushes.ts";

export interface ReceiveDeps {
  readonly pushes: Pick<Pushes, "assertMayCreate" | "beginUpload">;
  readonly bodyBudget: BodyBudget;
}

/** How the fields of a push come at an address of the API. */
export interface Envelope {
  /** Names that the object with the fields may have; the first that holds one counts. The first of all is the address's own. */
  readonly wrappers: readonly [string, ...string[]];
  /** What the address itself says of the push, put over what was sent. */
  settle(fields: object): object;
}

const pushEnvelope: Envelope = { wrappers: ["push"], settle: (fields) => fields };

/**
 * Reads `{"push": {...}}`, or what another envelope has instead, from JSON or a form. Files of a multipart form are sealed
 * and stored as they arrive; the upload in the result must go to `pushes.create` or be abandoned.
 * @throws AppError as `receiveBody`, `readCreatePush`, `pushes.assertMayCreate` and `pushes.beginUpload` do; nothing is left
 * behind then.
 */
export async function receiveCreatePush(
  request: FastifyRequest,
  deps: ReceiveDeps,
  envelope: Envelope = pushEnvelope,
): Promise<CreatePush> {
  const files = new LazyUpload(deps.pushes, request.actor);
  try {
    const body = await receiveBody(request, deps.bodyBudget, (file) => takeFile(file, envelope, files));
    const fields = envelope.settle(pushFields(body, envelope, files.begun !== undefined));
    deps.pushes.assertMayCreate(asksForFiles(fields), request.actor);
    const read = readCreatePush(fields);
    for (const file of read.files) await files.add({ ...file, content: once(file.bytes) });
    return files.begun === undefined ? read.request : { ...read.request, upload: files.begun, mentionsFiles: true };
  } catch (error) {
    await files.begun?.abandon();
    throw error;
  }
}

/** An upload that begins with its first file: only then does the caller need to be somebody. */
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

/** The field's name in its wrapper; some clients send files without the last brackets, or numbered. */
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

/** By name alone, whatever stands there: a misshapen list of files still asks for a token. */
function asksForFiles(push: object): boolean {
  const own = (name: string): unknown => (Object.hasOwn(push, name) ? Reflect.get(push, name) : undefined);
  return (own("files") ?? null) !== null || own("kind") === "file";
}

/** Form builders put an empty text beside a file input, so that the field is named even without a file. */
function withoutEmptyFiles(push: object): object {
  const files: unknown = Reflect.get(push, "files");
  const given = Array.isArray(files) ? files : [files];
  return given.every((file) => file === "") ? { ...push, files: [] } : push;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
