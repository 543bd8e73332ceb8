import Type, { type Static, type TSchema } from "typebox";
import { kindNames } from "../../base/push-kinds.ts";
import { CreatePushFields, EditPushFields } from "../../http/push-fields.ts";
import {
  nonPublicOptionFields,
  ownersOptionAnswers,
  publicOptionAnswers,
  publicOptionFields,
} from "../../http/push-options.ts";
import { auditKindNames, fieldTypes } from "../../pushes/pushes.ts";

/**
 * One schema for each answer: it types the presenters and describes /api/v2/openapi.json. All names are the wire names.
 * The schemas of requests are in http/push-fields.ts, since the pages validate with them too.
 */

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const timestamp = (description: string) => Type.String({ format: "date-time", description });

export const CreatePushRequest = Type.Object({ push: CreatePushFields });
export const EditPushRequest = Type.Object({ push: EditPushFields });

export const PushFile = Type.Object({
  filename: Type.String(),
  content_type: Type.String(),
  url: Type.String({ format: "uri", description: "Download address. It works for a limited time and needs no token." }),
});

/** The keys of a push in every API version. */
export const common = {
  expire_after_views: Type.Integer(),
  expired: Type.Boolean(),
  url_token: Type.String({ description: "Empty in lists if the server does not store the link." }),
  ...publicOptionAnswers,
  expired_on: nullable(timestamp("When it ended; null while it is active.")),
  passphrase: nullable(
    Type.String({
      description:
        "In the answer to a creation, the passphrase that was sent. Otherwise empty while an active push has none, or null: " +
        "it is not stored.",
    }),
  ),
  created_at: timestamp("ISO 8601, UTC, milliseconds."),
  updated_at: timestamp("ISO 8601, UTC, milliseconds."),
  expire_after_days: Type.Integer(),
  days_remaining: Type.Integer({ minimum: 0 }),
  views_remaining: Type.Integer({ minimum: 0 }),
  deleted: Type.Boolean({ description: "Ended by a person and not by a limit." }),
  json_url: Type.String({ description: "Empty if the url_token is." }),
  html_url: Type.String({ description: "The link to hand out; empty if the url_token is." }),
};
const encryption = Type.Optional(
  Type.Enum(["age"], {
    type: "string",
    description: "The content is sealed for the key in the link; absent: it is not.",
  }),
);
const onlyV2 = {
  kind: Type.Enum([...kindNames], { type: "string" }),
  expires_at: nullable(timestamp("The time limit of the push.")),
  encryption,
};
const label = Type.String({ description: "Empty if there is none." });
/** The keys that only an answer for the owner has, in every API version. */
export const labels = { name: label, note: label };
const Labels = Type.Object({ ...labels });
export type Labels = Static<typeof Labels>;
const ownersPart = { ...labels, ...ownersOptionAnswers };
export const secret = {
  payload: nullable(Type.String({ description: "Null when the push has ended, and for files without a text." })),
  files: Type.Array(PushFile),
};

const revealedFields = Type.Optional(
  Type.Array(
    Type.Object({ label: Type.String(), value: Type.String(), type: Type.Enum([...fieldTypes], { type: "string" }) }),
    { description: "Only of a push with fields. Its payload is their readable text." },
  ),
);

const sender = Type.Optional(
  Type.String({
    format: "email",
    description: "The confirmed address of the owner, if the push shows it and the account is not disabled.",
  }),
);

const CommonAnswer = Type.Object({ ...common });
const SecretAnswer = Type.Object({ ...secret });
export const PushAnswer = Type.Object({ ...common, ...onlyV2 });
export const OwnedPushAnswer = Type.Object({ ...common, ...onlyV2, ...ownersPart });
export const CreatedPushAnswer = Type.Object({
  ...common,
  ...onlyV2,
  ...ownersPart,
  fields: Type.Optional(
    Type.Array(Type.Object({ label: Type.String(), type: Type.Enum([...fieldTypes], { type: "string" }) }), {
      description: "The fields that were sent, without their values; absent if there are none.",
    }),
  ),
  notify_emails_to: Type.Optional(Type.String({ description: "As sent; absent if the link is not mailed." })),
  notify_emails_to_locale: Type.Optional(nullable(Type.String())),
});
export const RetrievedPushAnswer = Type.Object({ ...common, ...onlyV2, ...secret, fields: revealedFields, sender });
export const PushListAnswer = Type.Array(OwnedPushAnswer, { maxItems: 50 });

export const PreviewAnswer = Type.Object({
  url: Type.String({ format: "uri" }),
  encryption,
  encryption_check: Type.Optional(
    Type.String({
      description: "As sent with the push: compare it with the key in the link before you retrieve the push.",
    }),
  ),
  encryption_passphrase: Type.Optional(
    Type.Boolean({ description: "With encryption: whether the payload is also sealed under a passphrase." }),
  ),
  sender,
});

const linkDeliveryStatuses = ["pending", "processing", "completed", "partially_failed", "failed"] as const;

const NotifyByEmail = Type.Object({
  recipients: Type.String({ description: "Addresses, separated by commas." }),
  locale: nullable(Type.String()),
  status: Type.Enum([...linkDeliveryStatuses], { type: "string" }),
  successful_sends: nullable(
    Type.String({ description: "Addresses, separated by commas; null before the first try." }),
  ),
  proceed_at: nullable(timestamp("When the last email was sent or given up; null before that.")),
  error_message: Type.Optional(Type.String({ description: "Present if an email failed." })),
});

export const AuditLogAnswer = Type.Object({
  ip: Type.String(),
  user_agent: Type.String(),
  referrer: Type.String(),
  kind: Type.Enum([...auditKindNames], { type: "string" }),
  notify_by_email: Type.Optional(NotifyByEmail),
  created_at: timestamp("ISO 8601, UTC, milliseconds."),
  updated_at: timestamp("ISO 8601, UTC, milliseconds."),
});
export const AuditAnswer = Type.Object({ logs: Type.Array(AuditLogAnswer, { maxItems: 50 }) });

export const VersionAnswer = Type.Object({
  application_version: Type.String(),
  api_version: Type.Literal("2.1"),
  edition: Type.Literal("oss"),
  features: Type.Object({
    anonymous_access: Type.Boolean(),
    api_token_authentication: Type.Literal(true),
    accounts: Type.Object({ enabled: Type.Literal(false) }),
    pushes: Type.Object({
      enabled: Type.Literal(true),
      email_auto_dispatch: Type.Boolean(),
      file_attachments: Type.Object({ enabled: Type.Boolean(), requires_authentication: Type.Boolean() }),
      url_pushes: Type.Object({ enabled: Type.Boolean() }),
      qr_code_pushes: Type.Object({ enabled: Type.Boolean() }),
    }),
    requests: Type.Object({ enabled: Type.Literal(false) }),
  }),
});

/** What this server has beside API v2, for discovery. Names never change. */
export const features = ["fields", "sender_shown", "expires_at", "preset", "policy"] as const;
/** A server has these if its settings switch them on. */
export const configuredFeatures = ["sign-on", "scim"] as const;
export const FeaturesAnswer = Type.Object({
  features: Type.Array(Type.Enum([...features, ...configuredFeatures], { type: "string" })),
});

export const PolicyAnswer = Type.Object({
  passphrase: Type.Object({ required: Type.Boolean(), min_length: Type.Integer(), common_allowed: Type.Boolean() }),
  max_minutes: nullable(Type.Integer()),
  max_views: nullable(Type.Integer()),
  kinds: Type.Array(Type.Enum([...kindNames], { type: "string" })),
  encryption_required: Type.Boolean(),
  notify_on_view_required: Type.Boolean(),
  requests: Type.Boolean(),
  mail_domains: nullable(Type.Array(Type.String())),
  sources: Type.Array(
    Type.Object({
      from: Type.Enum(["settings", "instance", "group"], { type: "string" }),
      name: Type.Optional(Type.String()),
    }),
  ),
});

export const PresetsAnswer = Type.Object({
  presets: Type.Array(
    Type.Object({
      name: Type.String(),
      from: Type.Enum(["own", "group", "instance"], { type: "string" }),
      group: nullable(Type.String({ description: "The name of the group; null: it is no group's." })),
      default: Type.Boolean({
        description: "The form of a new push starts with it, unless a nearer one is the default.",
      }),
      kind: Type.Optional(Type.Enum([...kindNames], { type: "string" })),
      expire_after_minutes: Type.Optional(Type.Integer()),
      expire_after_views: Type.Optional(Type.Integer()),
      ...publicOptionFields,
      ...nonPublicOptionFields,
      fields: Type.Optional(
        Type.Array(Type.Object({ label: Type.String(), type: Type.Enum([...fieldTypes], { type: "string" }) }), {
          description: "What to ask for: labels and kinds, never values.",
        }),
      ),
    }),
  ),
});

export const MessageAnswer = Type.Object({ message: Type.String() });
export const ErrorAnswer = Type.Object({ error: Type.String() });
export const WrongPassphraseAnswer = Type.Object({
  error: Type.Literal("That passphrase is incorrect."),
  message: Type.String(),
  status: Type.Literal("unauthorized"),
});
export const RefusedRetrievalAnswer = Type.Union([WrongPassphraseAnswer, ErrorAnswer]);
export const FieldErrorsAnswer = Type.Record(Type.String(), Type.Array(Type.String()));

export type CommonAnswer = Static<typeof CommonAnswer>;
export type SecretAnswer = Static<typeof SecretAnswer>;
export type PushAnswer = Static<typeof PushAnswer>;
export type OwnedPushAnswer = Static<typeof OwnedPushAnswer>;
export type CreatedPushAnswer = Static<typeof CreatedPushAnswer>;
export type RetrievedPushAnswer = Static<typeof RetrievedPushAnswer>;
export type PreviewAnswer = Static<typeof PreviewAnswer>;
export type AuditAnswer = Static<typeof AuditAnswer>;
export type FeaturesAnswer = Static<typeof FeaturesAnswer>;
export type PolicyAnswer = Static<typeof PolicyAnswer>;
export type PresetsAnswer = Static<typeof PresetsAnswer>;
export type MessageAnswer = Static<typeof MessageAnswer>;
export type VersionAnswer = Static<typeof VersionAnswer>;
export type WrongPassphraseAnswer = Static<typeof WrongPassphraseAnswer>;
