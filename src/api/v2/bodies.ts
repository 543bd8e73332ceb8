import type { TObject, TSchema } from "typebox";
import { type BodyType, bodyTypes } from "../../http/body/receive-body.ts";
import { CreatePushFields, EditPushFields, NotifyEmailsRequest } from "../../http/push-fields.ts";
import { AnswerFields, CreateRequestFields } from "../../http/request-fields.ts";
import { CreateRequestRequest } from "../requests/schemas.ts";
import { CreatePushRequest, EditPushRequest } from "./schemas.ts";

/** What a request has in its body. Files arrive in multipart forms. */
export interface RequestBody {
  /** The object that holds the fields; null: the body itself. In forms it is the prefix of their names. */
  readonly wrapper: "push" | "request" | null;
  readonly fields: TObject;
  /** The whole body as JSON. */
  readonly json: TSchema;
  readonly encodings: readonly BodyType[];
}

const [json, urlencoded] = bodyTypes;

export type BodyName = "push" | "edit" | "recipients" | "request" | "answer";

export const requestBodies: Readonly<Record<BodyName, RequestBody>> = {
  push: { wrapper: "push", fields: CreatePushFields, json: CreatePushRequest, encodings: bodyTypes },
  edit: { wrapper: "push", fields: EditPushFields, json: EditPushRequest, encodings: bodyTypes },
  recipients: { wrapper: null, fields: NotifyEmailsRequest, json: NotifyEmailsRequest, encodings: [json, urlencoded] },
  request: { wrapper: "request", fields: CreateRequestFields, json: CreateRequestRequest, encodings: [json] },
  answer: { wrapper: null, fields: AnswerFields, json: AnswerFields, encodings: bodyTypes },
};
