import type { FastifyRequest } from "fastify";
import Type from "typebox";
import { AppError } from "../base/errors.ts";
import type { AnswerUpload, NewAnswer, NewRequest, Requests } from "../requests/requests.ts";
import { requestLimits } from "../requests/requests.ts";
import type { BodyIntake } from "./body/body-intake.ts";
import { receiveBody } from "./body/receive-body.ts";
import { fieldsReader } from "./fields-reader.ts";
import { payloadBytesMax, refuseProblems } from "./push-fields.ts";

const { titleCharactersMax, noteCharactersMax, answersMax } = requestLimits;

export const CreateRequestFields = Type.Object({
  title: Type.Optional(
    Type.String({
      description: `What is asked for, shown to those who answer. 1 to ${titleCharactersMax} characters.`,
    }),
  ),
  note: Type.Optional(Type.String({ description: `Shown below the title. At most ${noteCharactersMax} characters.` })),
  wants_text: Type.Optional(Type.Boolean({ description: "An answer may have a text. Default true." })),
  wants_files: Type.Optional(Type.Boolean({ description: "An answer may have files. Default false." })),
  answers_max: Type.Optional(Type.Integer({ description: `1 to ${answersMax}; default 1.` })),
  expire_after_days: Type.Optional(
    Type.Integer({
      description: "How long it can be answered; at most as long as pushes live. Default 7, or that if it is less.",
    }),
  ),
  recipient: Type.Optional(
    Type.String({ description: "The age recipient (age1...) of a new identity, which answers are sealed for." }),
  ),
  encryption_check: Type.Optional(
    Type.String({
      description:
        "The first 32 hexadecimal digits of the SHA-256 of 'sealpush key check ' and that identity. The answers get it.",
    }),
  ),
  identity_sealed: Type.Optional(
    Type.String({
      description:
        "The identity as an armored age file under your passphrase, so that you can open the answers on any device. The operator " +
        "can try passphrases on it: choose one that cannot be guessed. Empty: you keep the identity. Needs an API token.",
    }),
  ),
  owner_proof: Type.Optional(
    Type.String({
      description:
        "Without an API token: the 64 hexadecimal digits of the SHA-256 of 'sealpush request owner ' and that identity. " +
        "Later they prove, as X-Request-Proof, that the request is yours.",
    }),
  ),
});

const createRequestReader = fieldsReader(CreateRequestFields);

/** Reads the fields of a request for a secret by their wire names. @throws AppError invalid_fields (by domain name). */
export function readCreateRequest(fields: object): NewRequest {
  const problems = new Map<string, string>();
  const given = createRequestReader.read(fields, problems);
  refuseProblems(problems);
  return {
    title: given.title ?? "",
    note: given.note ?? "",
    wantsText: given.wants_text ?? true,
    wantsFiles: given.wants_files ?? false,
    answersMax: given.answers_max ?? 1,
    expireAfterDays: given.expire_after_days,
    recipient: given.recipient ?? "",
    encryptionCheck: given.encryption_check ?? "",
    identitySealed: given.identity_sealed ?? "",
    ownerProof: given.owner_proof ?? "",
  };
}

export const AnswerFields = Type.Object({
  payload: Type.Optional(
    Type.String({
      description:
        "The text. With encryption, an armored age file for the request's recipient, which contains the object of an answer " +
        "that docs/end-to-end.md describes: it names the request, and with files their list.",
    }),
  ),
  encryption: Type.Optional(
    Type.Enum(["age"], {
      type: "string",
      description:
        "Payload and files are age files, so that the server never sees them; send it before the files. Without it the server " +
        "seals what it receives for the recipient, and keeps nothing else.",
    }),
  ),
});

const answerReader = fieldsReader(AnswerFields);

interface ReceivedAnswer {
  readonly answer: NewAnswer;
  /** Why a file was refused. */
  readonly fileRefusal: AppError | undefined;
}

/**
 * Reads an answer from JSON or a form; files, only in a form, are sealed and stored as they arrive. A refused file does not end
 * the reading, so that a page can show what was typed. The answer must be passed to `requests.answer`, or its files abandoned.
 * @throws AppError as `receiveBody`, invalid_fields, invalid_request, too_large; the files are then abandoned.
 */
export async function receiveAnswer(
  request: FastifyRequest,
  { requests, bodyIntake }: { readonly requests: Requests; readonly bodyIntake: BodyIntake },
  urlToken: string,
): Promise<ReceivedAnswer> {
  let files: AnswerUpload | undefined;
  let fileRefusal: AppError | undefined;
  try {
    const { value } = await receiveBody(request, bodyIntake, async (file, before) => {
      if (fileRefusal !== undefined || !/^files(\[\])?$/.test(file.field)) return;
      try {
        files ??= await requests.beginUpload(urlToken, request.actor);
        await files.addFile(file, before.encryption === "age");
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        fileRefusal = error;
      }
    });
    const problems = new Map<string, string>();
    const { payload = "", encryption } = answerReader.read(Object(value), problems);
    refuseProblems(problems);
    const isSealed = encryption === "age";
    if (!isSealed && Buffer.byteLength(payload) > payloadBytesMax) {
      throw new AppError("too_large", `The payload may have at most ${payloadBytesMax} bytes.`);
    }
    if (isSealed && files !== undefined && files.sealedHere.length > 0) {
      throw new AppError("invalid_request", "Send the field encryption before the files.");
    }
    return { answer: { payload, isSealed, files }, fileRefusal };
  } catch (error) {
    await files?.upload.abandon();
    throw error;
  }
}
