import type { TSchema } from "typebox";
import type { RouteGroup } from "../../http/listener.ts";
import type { NeededScope, RouteAccess } from "../../http/request.ts";
import type { BodyName } from "./bodies.ts";
import * as handlers from "./handlers.ts";
import * as schemas from "./schemas.ts";

interface Answer {
  readonly description: string;
  readonly schema: TSchema;
}

export type ParameterName =
  | "url_token"
  | "page"
  | "push_locale"
  | "passphrase"
  | "X-Push-Passphrase"
  | "X-Request-Proof"
  | "Idempotency-Key";

/** One endpoint: its route, its part of the OpenAPI file and its entry at /help/api all come from this row. */
export interface Operation {
  readonly id: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path is also served with `.json` appended. */
  readonly path: string;
  readonly access: RouteAccess;
  readonly group: RouteGroup;
  readonly scope: NeededScope;
  readonly changesState: boolean;
  readonly retrieval: boolean;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly ParameterName[];
  /** What the body has; null: nothing that is described. */
  readonly body: BodyName | null;
  readonly answers: Readonly<Record<number, Answer>>;
  readonly handler: handlers.ApiHandler;
}

export const refused = (description: string): Answer => ({ description, schema: schemas.ErrorAnswer });

export const always = {
  429: refused("Too many requests; Retry-After says how many seconds to wait."),
  503: refused("Temporarily unavailable; Retry-After says how many seconds to wait."),
};
export const badToken = { 401: refused("The token is not valid, or a token is required.") };
export const unknownPush = { 404: refused("No such push.") };
// If two-step sign-in is required, the token of a user without it is refused on every route that reads tokens.
export const lacksFactor = { 403: refused("The token's user lacks the two-step sign-in that this server requires.") };
export const lacksScope = {
  403: refused("The token lacks the scope, or its user lacks the required two-step sign-in."),
};
export const badPage = { 400: refused("Invalid page parameter.") };

export const fieldErrors = {
  422: { description: "What is wrong with each field.", schema: schemas.FieldErrorsAnswer },
};
export const badBody = {
  413: refused("The body, the payload or the files are too large."),
  415: refused("Another media type."),
};
/** Operations on the caller's own push refuse others with it. */
export const notYours = {
  403: refused("It is not your push, the token lacks the scope, or its user lacks the required two-step sign-in."),
};
/** Everything but the push that a retrieval answers, in both versions of the API. */
export const notRetrieved = {
  400: refused("An invalid Idempotency-Key, more than one passphrase, or a body that cannot be read."),
  401: {
    description: "The passphrase is missing or wrong, or the token is not valid.",
    schema: schemas.RefusedRetrievalAnswer,
  },
  ...lacksFactor,
  ...unknownPush,
  422: { description: "The Idempotency-Key was used.", schema: schemas.FieldErrorsAnswer },
  ...always,
};
/** Likewise for the end of a push. */
export const notEnded = {
  ...badToken,
  403: refused(
    "It is another user's push, the token lacks the scope, or its user lacks the required two-step sign-in.",
  ),
  ...unknownPush,
  ...always,
};

export const readOnly = { changesState: false, retrieval: false, body: null } as const;

const listing = {
  ...readOnly,
  method: "GET",
  access: "api_token",
  group: "internal",
  scope: "read",
  description: "Newest first, 50 a page.",
  parameters: ["page", "push_locale"],
  answers: {
    200: { description: "Pushes.", schema: schemas.PushListAnswer },
    ...badPage,
    ...badToken,
    ...lacksScope,
    ...always,
  },
} as const satisfies Partial<Operation>;

export const operations: readonly Operation[] = [
  {
    ...readOnly,
    id: "getVersion",
    method: "GET",
    path: "/api/v2/version",
    access: "public",
    group: "internal",
    scope: null,
    summary: "Version and features of this server",
    description: "Needs no token, and ignores an invalid one.",
    parameters: [],
    answers: { 200: { description: "Versions and features.", schema: schemas.VersionAnswer }, ...always },
    handler: handlers.version,
  },
  {
    ...readOnly,
    id: "getFeatures",
    method: "GET",
    path: "/api/sealpush",
    access: "public",
    group: "internal",
    scope: null,
    summary: "The extensions that this server has",
    description:
      "Fields that other servers ignore, by name: a client that needs one can ask first. Needs no token, and ignores an " +
      "invalid one. Servers without extensions answer 404.",
    parameters: [],
    answers: { 200: { description: "The names.", schema: schemas.FeaturesAnswer }, ...always },
    handler: handlers.showFeatures,
  },
  {
    ...readOnly,
    id: "getPolicy",
    method: "GET",
    path: "/api/sealpush/policy",
    access: "api",
    group: "internal",
    scope: "any",
    summary: "The rules for your pushes",
    description:
      "What holds for the caller when a push is created, edited or mailed and when a secret is requested. What breaks a rule " +
      "is 422 at its field; what a request leaves out follows the rules. Null: no rule. Of an end-to-end push the server can " +
      "check only that a passphrase locks it: its sender keeps to the rules for the passphrase.",
    parameters: [],
    answers: {
      200: { description: "The rules.", schema: schemas.PolicyAnswer },
      ...badToken,
      ...lacksFactor,
      ...always,
    },
    handler: handlers.showPolicy,
  },
  {
    ...readOnly,
    id: "listPresets",
    method: "GET",
    path: "/api/sealpush/presets",
    access: "api",
    group: "internal",
    scope: "any",
    summary: "The presets that you can name",
    description:
      "Named settings for new pushes: your own, those of your groups and those of the server, the nearest first. Send the name " +
      "as preset when you create a push. Absent keys are left open.",
    parameters: [],
    answers: {
      200: { description: "The presets.", schema: schemas.PresetsAnswer },
      ...badToken,
      ...lacksFactor,
      ...always,
    },
    handler: handlers.showPresets,
  },
  {
    id: "createPush",
    method: "POST",
    path: "/api/v2/pushes",
    access: "api",
    group: "internal",
    scope: "create",
    changesState: true,
    retrieval: false,
    summary: "Create a push",
    description:
      "Send JSON, a multipart form (for files) or a urlencoded form. Integers may be digit strings; true, on, yes, " +
      "checked and 1 are true. Null counts as not sent, except in booleans, where it is false. A number in a text field is a " +
      "text of the same characters. Unknown keys are ignored. Fields may also be in the query string, as push[payload]. The " +
      "key files and the kind file need a token. " +
      "If the answer was lost, send the request again with the same Idempotency-Key and token: for 24 hours it gets the push " +
      "of the first request as it is now, and nothing is created. After the end of that push, or with another content, the " +
      "key is 422.",
    parameters: ["push_locale", "Idempotency-Key"],
    body: "push",
    answers: {
      201: { description: "The push. html_url is the link to hand out.", schema: schemas.CreatedPushAnswer },
      400: refused("Not JSON or not a form, or without an object named push; an invalid Idempotency-Key."),
      ...badToken,
      ...lacksScope,
      ...badBody,
      ...fieldErrors,
      ...always,
    },
    handler: handlers.create,
  },
  {
    ...listing,
    id: "listActivePushes",
    path: "/api/v2/pushes/active",
    summary: "List your active pushes",
    handler: handlers.listActive,
  },
  {
    ...listing,
    id: "listExpiredPushes",
    path: "/api/v2/pushes/expired",
    summary: "List your pushes that have ended",
    handler: handlers.listExpired,
  },
  {
    id: "retrievePush",
    method: "GET",
    path: "/api/v2/pushes/:url_token",
    access: "api",
    group: "recipient",
    scope: null,
    changesState: true,
    retrieval: true,
    summary: "Retrieve a push",
    description:
      "Each successful call is one counted view, also the owner's. The one that reaches the limit still gets the " +
      "payload. HEAD and declared prefetches are not counted and get no payload. If the answer was lost, send the request " +
      "again with the same Idempotency-Key: within a minute it gets the same answer, and no other view is counted. Later, while " +
      "the push can be opened, the key is 422.",
    parameters: ["url_token", "X-Push-Passphrase", "passphrase", "push_locale", "Idempotency-Key"],
    body: null,
    answers: {
      200: { description: "The push; after its end, without its payload.", schema: schemas.RetrievedPushAnswer },
      ...notRetrieved,
    },
    handler: handlers.retrieve,
  },
  {
    id: "editPush",
    method: "PATCH",
    path: "/api/sealpush/pushes/:url_token",
    access: "api_token",
    group: "internal",
    scope: "edit",
    changesState: true,
    retrieval: false,
    body: "edit",
    summary: "Change your push",
    description:
      "An extension of Sealpush. The link stays, and views that were counted count. What is not sent stays as it is; null counts " +
      "as not sent, except in booleans, where it is false. New content needs the current passphrase of a protected push, unless " +
      "content and passphrase are all replaced. An end-to-end push keeps its content. A repeated request adds its files again.",
    parameters: ["url_token", "push_locale"],
    answers: {
      200: { description: "The push, without its secret, name and note.", schema: schemas.PushAnswer },
      400: refused("Not JSON or not a form, or without an object named push."),
      ...badToken,
      ...lacksScope,
      404: refused("No such push of yours."),
      409: refused("Another request changed the push at the same time. This one changed nothing."),
      410: refused("The push has ended."),
      ...badBody,
      ...fieldErrors,
      ...always,
    },
    handler: handlers.edit,
  },
  {
    id: "expirePush",
    method: "DELETE",
    path: "/api/v2/pushes/:url_token",
    access: "api",
    group: "recipient",
    scope: "expire",
    changesState: true,
    retrieval: false,
    summary: "Delete a push",
    description:
      "The push ends at once. Allowed for its owner, and for anybody who has the link if viewers may delete it. A token " +
      "that is sent needs the scope in either case.",
    parameters: ["url_token", "push_locale"],
    body: null,
    answers: {
      200: { description: "The push. One that has ended already is unchanged.", schema: schemas.PushAnswer },
      ...notEnded,
    },
    handler: handlers.expire,
  },
  {
    ...readOnly,
    id: "previewPush",
    method: "GET",
    path: "/api/v2/pushes/:url_token/preview",
    access: "api",
    group: "recipient",
    scope: null,
    summary: "Get the link of a push",
    description: "Reveals no secret and counts no view.",
    parameters: ["url_token", "push_locale"],
    answers: {
      200: { description: "The link.", schema: schemas.PreviewAnswer },
      ...badToken,
      ...lacksFactor,
      ...unknownPush,
      ...always,
    },
    handler: handlers.preview,
  },
  {
    ...readOnly,
    id: "auditPush",
    method: "GET",
    path: "/api/v2/pushes/:url_token/audit",
    access: "api_token",
    group: "internal",
    scope: "read",
    summary: "Get the audit log of your push",
    description: "Oldest first, 50 a page.",
    parameters: ["url_token", "page"],
    answers: {
      200: { description: "Audit entries.", schema: schemas.AuditAnswer },
      ...badPage,
      ...badToken,
      ...notYours,
      ...unknownPush,
      ...always,
    },
    handler: handlers.audit,
  },
  {
    id: "notifyEmails",
    method: "POST",
    path: "/api/v2/pushes/:url_token/notify_emails",
    access: "api_token",
    group: "internal",
    scope: "create",
    changesState: true,
    retrieval: false,
    summary: "Email the link of your push",
    description:
      "At most 5 addresses for each push in total, and 5 requests a minute. The audit log shows the state of the " +
      "emails. 404 if version says that email_auto_dispatch is false.",
    parameters: ["url_token"],
    body: "recipients",
    answers: {
      201: { description: "The emails wait to be sent.", schema: schemas.MessageAnswer },
      400: refused("Not JSON or not a form."),
      ...badToken,
      ...notYours,
      404: refused("No such push, or this server does not email links."),
      413: refused("The body is too large."),
      415: refused("Another media type."),
      ...fieldErrors,
      ...always,
    },
    handler: handlers.notifyEmails,
  },
];
