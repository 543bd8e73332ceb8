import Type, { type Static, type TSchema } from "typebox";

/**
 * One schema per request and per answer: what is validated, what is answered and what /api/v2/openapi.json says are the
 * same thing. All names are as they stand on the wire.
 */

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const timestamp = (description: string) => Type.String({ format: "date-time", description });

export const kindNames = ["text", "file", "url", "qr"] as const;

export const payloadBytesMax = 4 * 1024 * 1024;
export const jsonFilesBytesMax = 8 * 1024 * 1024;
export const pageMax = 200;

/** Position: the code that clients send; value: minutes. */
export const durationMinutes = [
  ...[15, 30, 45, 60, 6 * 60, 12 * 60],
  ...[1, 2, 3, 4, 5, 6, 7, 14, 21, 30, 60, 90].map((days) => days * 24 * 60),
] as const;

export const JsonFile = Type.Object(
  {
    filename: Type.String(),
    content_type: Type.Optional(Type.String({ description: "Default: application/octet-stream." })),
    data: Type.String({ contentEncoding: "base64", description: "The file's bytes, base64 with padding." }),
  },
  { description: "A small file. All files of one request: 8 MiB decoded. Send larger ones as multipart/form-data." },
);

const recipients = Type.String({
  description:
    "Up to 5 e-mail addresses, separated by commas, to which the server mails the link. Needs a token, and a server " +
    "whose version says that email_auto_dispatch is true.",
});
const recipientsLocale = Type.String({
  description:
    "The language of those mails and of the page that their link opens, such as de or pt-BR. One that the server does " +
    "not speak gives mails in its default language.",
});

export const CreatePushFields = Type.Object({
  payload: Type.Optional(
    Type.String({
      description:
        "The secret: 1 to 1,048,576 characters of text; 1 to 1,024 for qr; an absolute http or https URL of up to " +
        "8,192 characters for url; may be empty for file.",
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
        "Wins over expire_after_days. 0: 15 min, 1: 30 min, 2: 45 min, 3: 1 h, 4: 6 h, 5: 12 h, 6 to 11: 1 to 6 days, " +
        "12: 1 week, 13: 2 weeks, 14: 3 weeks, 15: 30 days, 16: 60 days, 17: 90 days.",
    }),
  ),
  deletable_by_viewer: Type.Optional(Type.Boolean({ description: "Default: the server's for this kind." })),
  retrieval_step: Type.Optional(
    Type.Boolean({ description: "People are asked to click before the secret is shown and the view is counted." }),
  ),
  passphrase: Type.Optional(Type.String({ description: "Null or empty: none. It is not stored." })),
  name: Type.Optional(Type.String({ description: "A label only the owner sees. At most 255 characters." })),
  note: Type.Optional(Type.String({ description: "A remark only the owner sees. At most 65,536 characters." })),
  notify_emails_to: Type.Optional(recipients),
  notify_emails_to_locale: Type.Optional(recipientsLocale),
  notify_on_view: Type.Optional(
    Type.Boolean({
      description:
        "An extension of Sealpush: the owner gets a mail of each counted view by somebody else. Needs a token whose " +
        "user has confirmed their e-mail address (on the account's page), and a server that sends mails. Default: false.",
    }),
  ),
});

export const NotifyEmailsRequest = Type.Object({
  notify_emails_to: recipients,
  notify_emails_to_locale: Type.Optional(recipientsLocale),
});

export const CreatePushRequest = Type.Object({ push: CreatePushFields });

export const PushFile = Type.Object({
  filename: Type.String(),
  content_type: Type.String(),
  url: Type.String({ format: "uri", description: "Download address, good for a bounded time, without a token." }),
});

/** What every version of the API answers of a push. */
export const common = {
  expire_after_views: Type.Integer(),
  expired: Type.Boolean(),
  url_token: Type.String(),
  deletable_by_viewer: Type.Boolean(),
  retrieval_step: Type.Boolean(),
  expired_on: nullable(timestamp("When it ended; null while it is active.")),
  passphrase: nullable(Type.String({ description: "On create what was just sent; otherwise null." })),
  created_at: timestamp("ISO 8601, UTC, milliseconds."),
  updated_at: timestamp("ISO 8601, UTC, milliseconds."),
  expire_after_days: Type.Integer(),
  days_remaining: Type.Integer({ minimum: 0 }),
  views_remaining: Type.Integer({ minimum: 0 }),
  deleted: Type.Boolean({ description: "Ended by a person and not by a limit." }),
  json_url: Type.String({ format: "uri" }),
  html_url: Type.String({ format: "uri", description: "The link to hand out." }),
};
const onlyV2 = {
  kind: Type.Enum([...kindNames], { type: "string" }),
  expires_at: nullable(timestamp("When it ends by time at the latest.")),
};
const label = Type.String({ description: "Empty when there is none." });
export const labels = { name: label, note: label };
export const secret = {
  payload: nullable(Type.String({ description: "Null when the push has ended." })),
  files: Type.Array(PushFile),
};

const CommonAnswer = Type.Object({ ...common });
const SecretAnswer = Type.Object({ ...secret });
export const PushAnswer = Type.Object({ ...common, ...onlyV2 });
export const OwnedPushAnswer = Type.Object({ ...common, ...onlyV2, ...labels });
export const RetrievedPushAnswer = Type.Object({ ...common, ...onlyV2, ...secret });
export const PushListAnswer = Type.Array(OwnedPushAnswer, { maxItems: 50 });

export const PreviewAnswer = Type.Object({ url: Type.String({ format: "uri" }) });

export const auditKinds = [
  ...["creation", "view", "failed_view", "expire", "failed_passphrase"],
  ...["admin_view", "owner_view", "edit", "creation_email_send", "download"],
] as const;

export const linkDeliveryStatuses = ["pending", "processing", "completed", "partially_failed", "failed"] as const;

const NotifyByEmail = Type.Object({
  recipients: Type.String({ description: "Addresses, separated by commas." }),
  locale: nullable(Type.String()),
  status: Type.Enum([...linkDeliveryStatuses], { type: "string" }),
  successful_sends: nullable(
    Type.String({ description: "Addresses, separated by commas; null before the first try." }),
  ),
  proceed_at: nullable(timestamp("When the last mail had left or was given up; null before that.")),
  error_message: Type.Optional(Type.String({ description: "Where something failed." })),
});

export const AuditLogAnswer = Type.Object({
  ip: Type.String(),
  user_agent: Type.String(),
  referrer: Type.String(),
  kind: Type.Enum([...auditKinds], { type: "string" }),
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

export const MessageAnswer = Type.Object({ message: Type.String() });
export const ErrorAnswer = Type.Object({ error: Type.String() });
export const WrongPassphraseAnswer = Type.Object({
  error: Type.Literal("That passphrase is incorrect."),
  message: Type.String(),
  status: Type.Literal("unauthorized"),
});
export const FieldErrorsAnswer = Type.Record(Type.String(), Type.Array(Type.String()));

export type CommonAnswer = Static<typeof CommonAnswer>;
export type SecretAnswer = Static<typeof SecretAnswer>;
export type PushAnswer = Static<typeof PushAnswer>;
export type OwnedPushAnswer = Static<typeof OwnedPushAnswer>;
export type RetrievedPushAnswer = Static<typeof RetrievedPushAnswer>;
export type PreviewAnswer = Static<typeof PreviewAnswer>;
export type AuditAnswer = Static<typeof AuditAnswer>;
export type NotifyByEmail = Static<typeof NotifyByEmail>;
export type MessageAnswer = Static<typeof MessageAnswer>;
export type VersionAnswer = Static<typeof VersionAnswer>;
export type WrongPassphraseAnswer = Static<typeof WrongPassphraseAnswer>;
