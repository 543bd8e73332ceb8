import Type, { type Static } from "typebox";
import * as v2 from "../v2/schemas.ts";

/** The answers of API v1: those of v2 without the keys that v1 clients do not know. */

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
