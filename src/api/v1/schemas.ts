import Type, { type Static } from "typebox";
import { CreatePushFields } from "../../http/push-fields.ts";
import * as v2 from "../v2/schemas.ts";

/** The fields and answers of API v1: those of v2 without what v1 clients do not know. */

/** Fields of v2 that v1 ignores: it never mails links, and has no extensions. */
export const ignoredFields = [
  "notify_emails_to",
  "notify_emails_to_locale",
  "encryption",
  "encryption_check",
  "expires_at",
  "fields",
  "preset",
  "sender_shown",
] as const satisfies readonly (keyof typeof CreatePushFields.properties)[];

export const PasswordFields = Type.Omit(CreatePushFields, [...ignoredFields]);
/** The endpoint determines the kind. */
export const FilePushFields = Type.Omit(PasswordFields, ["kind"]);
/** In v1, viewers can never delete a url push, regardless of the server's default. */
export const UrlFields = Type.Omit(PasswordFields, ["kind", "deletable_by_viewer"]);

const push = {
  ...v2.common,
  deletable_by_viewer: v2.nullable(Type.Boolean({ description: "Null for a url push." })),
};

export const PushAnswer = Type.Object({ ...push });
export const OwnedPushAnswer = Type.Object({ ...push, ...v2.labels });
export const RetrievedPushAnswer = Type.Object({ ...push, ...v2.secret });
export const PushListAnswer = Type.Array(OwnedPushAnswer, { maxItems: 50 });
export const AuditAnswer = Type.Object({
  views: Type.Array(Type.Omit(v2.AuditLogAnswer, ["notify_by_email"]), { maxItems: 50 }),
});
export const PreviewAnswer = Type.Pick(v2.PreviewAnswer, ["url"]);
export const VersionAnswer = Type.Object({
  application_version: Type.String(),
  api_version: Type.Literal("1.5"),
  edition: Type.Literal("oss"),
});

export type PushAnswer = Static<typeof PushAnswer>;
export type OwnedPushAnswer = Static<typeof OwnedPushAnswer>;
export type RetrievedPushAnswer = Static<typeof RetrievedPushAnswer>;
export type AuditAnswer = Static<typeof AuditAnswer>;
export type PreviewAnswer = Static<typeof PreviewAnswer>;
export type VersionAnswer = Static<typeof VersionAnswer>;
