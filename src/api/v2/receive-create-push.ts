import type { FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import type { BodyBudget } from "../../http/body/body-budget.ts";
import { type ReceivedBody, receiveBody } from "../../http/body/receive-body.ts";
import type { FormFile } from "../../http/body/receive-multipart.ts";
import type { Actor, CreatePush, IncomingFile, Pushes, Upload } from "../../pushes/pushes.ts";
import { readCreatePush } from "./read-create-push.ts";
import { CreatePushFields } from "./schemas.ts";

export interface ReceiveDeps {
  readonly pushes: Pick<Pushes, "assertMayCreate" | "beginUpload">;
  readonly bodyBudget: BodyBudget;
}

/** `push[files][]`; some clients send it without brackets or numbered. */
const filesField = /^push\[files\](?:\[\d{0,3}\])?$/;
const textFields: ReadonlySet<string> = new Set(
  Object.keys(CreatePushFields.properties)
    .filter((name) => name !== "files")
    .map((name) => `push[${name}]`),
);

/**
 * Reads `{"push": {...}}` from JSON or a form. Files of a multipart form are sealed and stored as they arrive; the
 * upload in the result must go to `pushes.create` or be abandoned.
 * @throws AppError as `receiveBody`, `readCreatePush`, `pushes.assertMayCreate` and `pushes.beginUpload` do; nothing is left behind then.
 */
export async function receiveCreatePush(request: FastifyRequest, deps: ReceiveDeps): Promise<CreatePush> {
  const files = new LazyUpload(deps.pushes, request.actor);
  try {
    const body = await receiveBody(request, deps.bodyBudget, (file) => takeFile(file, files));
    const fields = pushFields(body, files.begun !== undefined);
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

async function takeFile(file: FormFile, files: LazyUpload): Promise<void> {
  if (textFields.has(file.field)) throw new AppError("invalid_request", `${file.field} must be text, not a file.`);
  if (filesField.test(file.field)) await files.add(file);
}

function pushFields({ encoding, value }: ReceivedBody, hasUpload: boolean): object {
  const push: unknown = isObject(value) && Object.hasOwn(value, "push") ? Reflect.get(value, "push") : undefined;
  if (isObject(push)) return encoding === "form" ? withoutEmptyFiles(push) : push;
  if (push === undefined && hasUpload) return {};
  throw new AppError("invalid_request", 'The body must have an object named "push".');
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
