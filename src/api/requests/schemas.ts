import Type, { type Static } from "typebox";
import { CreateRequestFields } from "../../http/request-fields.ts";
import { OwnedPushAnswer } from "../v2/schemas.ts";

export const CreateRequestRequest = Type.Object({ request: CreateRequestFields });

const common = {
  url_token: Type.String({ description: "Empty in lists if the server does not store the link." }),
  title: Type.String(),
  note: Type.String(),
  wants_text: Type.Boolean(),
  wants_files: Type.Boolean(),
  state: Type.Enum(["open", "full", "closed", "expired"], {
    type: "string",
    description: "full: it has all the answers that it may have.",
  }),
  expires_at: Type.String({ format: "date-time" }),
  recipient: Type.String({ description: "Seal the answer for this age recipient." }),
};
const open = {
  ...common,
  asked_by: Type.Union([Type.String(), Type.Null()], {
    description: "The confirmed email address of the account that asks; null: it is not known who asks.",
  }),
};
const owned = {
  ...common,
  created_at: Type.String({ format: "date-time" }),
  answers: Type.Integer({ minimum: 0, description: "How many have come." }),
  answers_max: Type.Integer(),
  encryption_check: Type.String(),
  identity_sealed: Type.String({ description: "Empty: you keep the identity yourself." }),
  html_url: Type.String({
    description:
      "The link to send to those who shall answer; empty if the url_token is. Behind # is the fingerprint of your recipient, which they compare: the first " +
      "32 hexadecimal digits of the SHA-256 of 'sealpush request recipient ' and the recipient.",
  }),
  answers_url: Type.String({
    description: "Your page of the answers, which the identity behind # opens; empty if the url_token is.",
  }),
};
export const RequestAnswer = Type.Object({ ...open });
export const OwnedRequestAnswer = Type.Object({ ...owned });
export const RequestListAnswer = Type.Array(OwnedRequestAnswer, { maxItems: 50 });
export const RequestAnswersAnswer = Type.Object({
  ...owned,
  pushes: Type.Array(OwnedPushAnswer, {
    description:
      "The answers, oldest first. Each is a push of yours: retrieve it as any other, and open what you get with the identity.",
  }),
});

export type RequestAnswer = Static<typeof RequestAnswer>;
export type OwnedRequestAnswer = Static<typeof OwnedRequestAnswer>;
export type RequestAnswersAnswer = Static<typeof RequestAnswersAnswer>;
