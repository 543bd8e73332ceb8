import Type, { type Static } from "typebox";
import { minuteMs } from "../base/clock.ts";
import { AppError, invalidFields } from "../base/errors.ts";
import { readInstant } from "../base/instant.ts";
import { kindNames } from "../base/push-kinds.ts";
import {
  type CreatePush,
  type EditPush,
  fieldTypes,
  type LinkDeliveryRequest,
  type PushField,
  pushLimits,
} from "../pushes/pushes.ts";
import { typeOfFile } from "./body/file-type.ts";
import { fieldsReader } from "./fields-reader.ts";
import { nonPublicOptionFields, publicOptionFields, readOptions } from "./push-options.ts";

export const payloadBytesMax = 4 * 1024 * 1024;
export const jsonFilesBytesMax = 8 * 1024 * 1024;

/** Minutes, by the code that clients send as `expire_after_duration`. */
export const durationMinutes = [
  15,
  30,
  45,
  60,
  6 * 60,
  12 * 60,
  ...[1, 2, 3, 4, 5, 6, 7, 14, 21, 30, 60, 90].map((days) => days * 24 * 60),
] as const;

export const JsonFile = Type.Object(
  {
    filename: Type.String(),
    content_type: Type.Optional(Type.String({ description: "Default: the type that the file name implies." })),
    data: Type.String({ contentEncoding: "base64", description: "The file's bytes, base64 with padding." }),
  },
  { description: "A small file. All files of one request: 8 MiB decoded. Send larger ones as multipart/form-data." },
);

const PushFieldSchema = Type.Object({
  label: Type.String({
    description: "1 to 64 characters, not only blanks, and no control characters; each only once.",
  }),
  value: Type.String({ description: "1 to 65,536 characters." }),
  type: Type.Optional(
    Type.Enum([...fieldTypes], {
      type: "string",
      description:
        "Default: text. secret is hidden until asked for. otp shows one-time codes: the value is otpauth://totp/ with a base32 " +
        "secret, SHA1, SHA256 or SHA512, 6 or 8 digits, and a period of 15 to 120 seconds.",
    }),
  ),
});

const recipients = Type.String({
  description:
    "Up to 5 email addresses, separated by commas, to which the server mails the link. Needs a token, and a server " +
    "whose version says that email_auto_dispatch is true.",
});
const recipientsLocale = Type.String({
  description:
    "The language of those emails and of the page behind their link, such as de or pt-BR. If the server does not " +
    "support it, the emails are in the server's default language.",
});

export const CreatePushFields = Type.Object({
  payload: Type.Optional(
    Type.String({
      description:
        "The secret: 1 to 1,048,576 characters of text; 1 to 1,024 for qr; an absolute http or https URL of up to " +
        "8,192 characters for url; may be empty for file.",
    }),
  ),
  fields: Type.Optional(
    Type.Array(PushFieldSchema, {
      contentMediaType: "application/json",
      description:
        "An extension of Sealpush, instead of payload, for text and file: a structured secret of 1 to 30 fields. In forms, " +
        "push[fields] is the list as JSON text.",
    }),
  ),
  encryption: Type.Optional(
    Type.Enum(["age"], {
      type: "string",
      description:
        "An extension of Sealpush, for text and file: payload and files are age files, so that the server never sees the " +
        "secret. The payload is armored and may have 1,048,576 characters before it is sealed. See docs/end-to-end.md. " +
        "Without it the payload is taken as it is.",
    }),
  ),
  encryption_check: Type.Optional(
    Type.String({
      description:
        "With encryption: the first 32 hexadecimal digits of the SHA-256 of 'sealpush key check ' and the age identity in the " +
        "link. The preview has it, so that a wrong link is found before it costs a view.",
    }),
  ),
  files: Type.Optional(
    Type.Array(JsonFile, { description: "Needs a token unless the server allows anonymous file pushes." }),
  ),
  kind: Type.Optional(
    Type.Enum([...kindNames], { type: "string", description: "Default: file when files are sent, else text." }),
  ),
  expire_after_days: Type.Optional(Type.Integer({ description: "Within the server's range, 1 to 90 by default." })),
  expire_after_views: Type.Optional(Type.Integer({ description: "Within the server's range, 1 to 100 by default." })),
  expire_after_duration: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: durationMinutes.length - 1,
      description:
        "Takes precedence over expire_after_days. 0: 15 min, 1: 30 min, 2: 45 min, 3: 1 h, 4: 6 h, 5: 12 h, 6 to 11: 1 to 6 days, " +
        "12: 1 week, 13: 2 weeks, 14: 3 weeks, 15: 30 days, 16: 60 days, 17: 90 days.",
    }),
  ),
  expires_at: Type.Optional(
    Type.String({
      format: "date-time",
      description:
        "An extension of Sealpush: the instant at which the push ends, such as 2026-12-01T17:00:00Z or with an offset; seconds " +
        "and milliseconds are optional. At least 60 seconds ahead, at most the server's longest life of the kind. Takes " +
        "precedence over expire_after_duration and expire_after_days.",
    }),
  ),
  preset: Type.Optional(
    Type.String({
      description:
        "An extension of Sealpush: the name of a preset of the caller, of one of their groups or of the server. What the request " +
        "itself names wins; what rules do not allow is shortened to what they allow. /api/sealpush/presets lists them.",
    }),
  ),
  ...publicOptionFields,
  passphrase: Type.Optional(Type.String({ description: "Null or empty: none. It is not stored." })),
  name: Type.Optional(Type.String({ description: "A label only the owner sees. At most 2,048 characters." })),
  note: Type.Optional(Type.String({ description: "A remark only the owner sees. At most 65,536 characters." })),
  notify_emails_to: Type.Optional(recipients),
  notify_emails_to_locale: Type.Optional(recipientsLocale),
  ...nonPublicOptionFields,
});

const { name, note, ...creationFields } = CreatePushFields.properties;

/** What the owner of a push can change. */
export const EditPushFields = Type.Object({
  payload: Type.Optional(
    Type.String({ description: "The new secret, with the limits of a creation. Empty, for file: the text goes." }),
  ),
  fields: creationFields.fields,
  files: Type.Optional(Type.Array(JsonFile, { description: "Files to add." })),
  remove_files: Type.Optional(
    Type.Array(Type.Object({ filename: Type.String() }), {
      contentMediaType: "application/json",
      description:
        "Files to remove, by their names: every file that has one of them. In forms, push[remove_files] is the list as JSON text.",
    }),
  ),
  expire_after_days: Type.Optional(Type.Integer({ description: "Counted from the creation; it must not be over." })),
  expire_after_views: Type.Optional(
    Type.Integer({ description: "The total, with the views that were used; one must remain." }),
  ),
  ...publicOptionFields,
  passphrase: Type.Optional(Type.String({ description: "A new passphrase. It is not stored." })),
  remove_passphrase: Type.Optional(Type.Boolean({ description: "The push needs no passphrase any more." })),
  current_passphrase: Type.Optional(
    Type.String({
      description: "The passphrase before the change. It is needed if a protected push keeps part of its content.",
    }),
  ),
  name,
  note,
  ...nonPublicOptionFields,
});

/** The recipients of a link delivery, for a push that exists. */
export const NotifyEmailsRequest = Type.Object({
  notify_emails_to: recipients,
  notify_emails_to_locale: Type.Optional(recipientsLocale),
});

interface DecodedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

const createPushReader = fieldsReader(CreatePushFields);
const editPushReader = fieldsReader(EditPushFields);
const notifyEmailsReader = fieldsReader(NotifyEmailsRequest);

/**
 * Reads the fields of a push, from JSON or a form, by their wire names.
 * @returns `files`: those inside the JSON, not yet part of an upload.
 * @throws AppError invalid_fields (by domain name), too_large (payload over 4 MiB, files over 8 MiB).
 */
export function readCreatePush(fields: object) {
  const problems = new Map<string, string>();
  const given = createPushReader.read(fields, problems);
  const files = decodeFiles(given.files, problems);
  const expiresAt = instantOf(given.expires_at, problems);
  refuseProblems(problems);
  // A sealed payload consists of ASCII characters.
  const bytesMax = given.encryption === undefined ? payloadBytesMax : pushLimits.sealedCharactersMax;
  assertSize(given.payload ?? "", bytesMax, files);
  const duration = given.expire_after_duration;
  const minutes = duration === undefined ? undefined : durationMinutes[duration];
  const fieldsGiven = withoutUndefined({
    kind: given.kind,
    payload: given.payload,
    fields: withTypes(given.fields),
    encryption: given.encryption,
    encryptionCheck: given.encryption_check,
    mentionsFiles: given.files === undefined ? undefined : true,
    expireAfterDays: given.expire_after_days,
    expireAfterViews: given.expire_after_views,
    expireAfterMs: minutes === undefined ? undefined : minutes * minuteMs,
    expiresAt,
    preset: given.preset === "" ? undefined : given.preset,
    passphrase: given.passphrase === "" ? undefined : given.passphrase,
    name: given.name,
    note: given.note,
    notifyEmailsTo: given.notify_emails_to,
    notifyEmailsToLocale: given.notify_emails_to_locale,
  });
  const request: Omit<CreatePush, "upload"> = Object.assign(fieldsGiven, readOptions(given));
  return { request, files };
}

/** The fields of a creation that no edit changes. */
const fixedFields = Object.keys(CreatePushFields.properties).filter(
  (field) => !Object.hasOwn(EditPushFields.properties, field),
);

/**
 * Reads what changes of a push, by the wire names. A field of a creation that cannot change is refused, so that nobody takes it
 * for changed.
 * @returns `files`: those inside the JSON, not yet part of an upload; `removedNames`: of files.
 * @throws AppError as `readCreatePush`.
 */
export function readEditPush(fields: object) {
  const problems = new Map<string, string>();
  const given = editPushReader.read(fields, problems);
  for (const field of fixedFields) {
    const sent: unknown = Object.hasOwn(fields, field) ? Reflect.get(fields, field) : null;
    if (sent !== null && sent !== "") problems.set(field, "cannot be changed after the creation.");
  }
  const files = decodeFiles(given.files, problems);
  const { passphrase = "", remove_passphrase: removesPassphrase = false } = given;
  if (passphrase !== "" && removesPassphrase) problems.set("passphrase", "must not be sent with remove_passphrase.");
  refuseProblems(problems);
  assertSize(given.payload ?? "", payloadBytesMax, files);
  const fieldsGiven = withoutUndefined({
    payload: given.payload,
    fields: withTypes(given.fields),
    expireAfterDays: given.expire_after_days,
    expireAfterViews: given.expire_after_views,
    passphrase: removesPassphrase ? null : passphrase || undefined,
    currentPassphrase: given.current_passphrase,
    name: given.name,
    note: given.note,
  });
  const request: Omit<EditPush, "upload" | "removedFileIds"> = Object.assign(fieldsGiven, readOptions(given));
  return { request, files, removedNames: (given.remove_files ?? []).map(({ filename }) => filename) };
}

function withTypes(fields: readonly Static<typeof PushFieldSchema>[] | undefined): readonly PushField[] | undefined {
  return fields?.map(({ label, value, type = "text" }) => ({ label, value, type }));
}

function instantOf(text: string | undefined, problems: Map<string, string>): number | undefined {
  if (text === undefined || text === "") return undefined;
  const instant = readInstant(text);
  if (instant === undefined) problems.set("expires_at", "must be a time such as 2026-12-01T17:00:00Z.");
  return instant;
}

/** Reads the recipients of a link delivery, by their wire names. @throws AppError invalid_fields (by domain name). */
export function readNotifyEmails(fields: object): LinkDeliveryRequest {
  const problems = new Map<string, string>();
  const given = notifyEmailsReader.read(fields, problems);
  refuseProblems(problems);
  const { notify_emails_to: notifyEmailsTo = "", notify_emails_to_locale: notifyEmailsToLocale = "" } = given;
  return { notifyEmailsTo, notifyEmailsToLocale };
}

const passphraseReader = fieldsReader(Type.Object({ passphrase: Type.String() }));

/** Reads the passphrase of a retrieval; undefined: none. @throws AppError invalid_fields (by domain name). */
export function readPassphrase(fields: object): string | undefined {
  const problems = new Map<string, string>();
  const { passphrase } = passphraseReader.read(fields, problems);
  refuseProblems(problems);
  return passphrase === "" ? undefined : passphrase;
}

/** @throws AppError invalid_fields (by domain name). */
export function refuseProblems(problems: ReadonlyMap<string, string>): void {
  if (problems.size === 0) return;
  throw invalidFields(Object.fromEntries([...problems].map(([name, problem]) => [domainName(name), [problem]])));
}

/** `expire_after_days` -> `expireAfterDays`. */
function domainName(wireName: string): string {
  return wireName.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function decodeFiles(
  files: readonly Static<typeof JsonFile>[] = [],
  problems: Map<string, string>,
): readonly DecodedFile[] {
  return files.map((file) => decodeFile(file, problems));
}

function decodeFile(
  file: { filename: string; content_type?: string; data: string },
  problems: Map<string, string>,
): DecodedFile {
  const bytes = Buffer.from(file.data, "base64");
  if (!isBase64(file.data, bytes)) problems.set("files", "must have their data in base64 with padding.");
  return { filename: file.filename, contentType: typeOfFile(file.filename, file.content_type ?? ""), bytes };
}

const lastGroup = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * base64url, blanks and missing padding are refused: lenient decoding could return other bytes than were sent. Decoding skips
 * characters that are not base64, so each of them makes the result shorter. The last group may have unused bits.
 */
function isBase64(text: string, decoded: Buffer): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const isWhole = decoded.length === (text.length / 4) * 3 - padding;
  return isWhole && lastGroup.test(text.slice(-4)) && !text.includes("-") && !text.includes("_");
}

function assertSize(payload: string, bytesMax: number, files: readonly DecodedFile[]): void {
  // A UTF-16 code unit takes at most three bytes, so only a long payload has to be measured.
  if (payload.length * 3 > bytesMax && Buffer.byteLength(payload) > bytesMax) {
    throw new AppError("too_large", `The payload may have at most ${bytesMax} bytes.`);
  }
  if (files.reduce((sum, file) => sum + file.bytes.length, 0) > jsonFilesBytesMax) {
    throw new AppError(
      "too_large",
      `Files inside JSON may have at most ${jsonFilesBytesMax} bytes. Send a multipart form.`,
    );
  }
}

type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function withoutUndefined<Fields extends object>(fields: Fields): Given<Fields> {
  const given: Partial<Fields> = {};
  for (const name in fields) {
    if (fields[name] !== undefined) given[name] = fields[name];
  }
  return given as Given<Fields>;
}
