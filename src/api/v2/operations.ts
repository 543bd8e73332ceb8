import type { TSchema } from "typebox";
import type { Scope } from "../../accounts/accounts.ts";
import type { Config } from "../../config/config.ts";
import type { RouteAccess } from "../../http/request.ts";
import * as handlers from "./handlers.ts";
import * as schemas from "./schemas.ts";

export interface Answer {
  readonly description: string;
  readonly schema: TSchema;
}

export type ParameterName = "url_token" | "page" | "passphrase" | "X-Push-Passphrase";

/** One endpoint: what is registered, what the OpenAPI file says and what /help/api shows all come from here. */
export interface Operation {
  readonly id: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Also served with `.json` appended. */
  readonly path: string;
  readonly access: RouteAccess;
  /** What a token must allow; null: nothing. */
  readonly scope: Scope | null;
  readonly changesState: boolean;
  readonly retrieval: boolean;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly ParameterName[];
  readonly takesPush: boolean;
  /** The body names to whom a link shall be mailed. */
  readonly takesRecipients?: boolean;
  /** Absent: everywhere. Where it is not served, its address is one at which there is nothing. */
  readonly isServed?: (config: Config) => boolean;
  readonly answers: Readonly<Record<number, Answer>>;
  readonly handler: handlers.ApiHandler;
}

export const refused = (description: string): Answer => ({ description, schema: schemas.ErrorAnswer });

export const always = {
  429: refused("Too many requests; Retry-After says how many seconds to wait."),
  503: refused("Not now; Retry-After says how many seconds to wait."),
};
export const badToken = { 401: refused("The token given is not valid, or one is needed.") };
export const unknownPush = { 404: refused("No such push.") };
// Where second factors are required, the token of a user without one is refused wherever a token counts.
export const lacksFactor = { 403: refused("The token's user lacks the second factor that this server requires.") };
export const lacksScope = { 403: refused("The token lacks the scope, or its user a required second factor.") };
export const badPage = { 400: refused("Invalid page parameter.") };

const listing = {
  ...{ method: "GET", access: "api_token", scope: "read", changesState: false, retrieval: false, takesPush: false },
  description: "Newest first, 50 a page.",
  parameters: ["page"],
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
    id: "getVersion",
    method: "GET",
    path: "/api/v2/version",
    access: "public",
    scope: null,
    changesState: false,
    retrieval: false,
    summary: "What this server is and can do",
    description: "Needs no token, and answers with a bad one too.",
    parameters: [],
    takesPush: false,
    answers: { 200: { description: "Versions and features.", schema: schemas.VersionAnswer }, ...always },
    handler: handlers.version,
  },
  {
    id: "createPush",
    method: "POST",
    path: "/api/v2/pushes",
    access: "api",
    scope: "create",
    changesState: true,
    retrieval: false,
    summary: "Make a push",
    description:
      "Send JSON, a multipart form (for files) or a urlencoded form. Integers may be digit strings; true, on, yes, " +
      "checked and 1 are true. Null is not given. Unknown keys are ignored. Naming files or the kind file needs a token.",
    parameters: [],
    takesPush: true,
    answers: {
      201: { description: "The push. html_url is the link to hand out.", schema: schemas.OwnedPushAnswer },
      400: refused("Not JSON or not a form, or without an object named push."),
      ...badToken,
      ...lacksScope,
      413: refused("The body, the payload or the files are too large."),
      415: refused("Another media type."),
      422: { description: "What is wrong with each field.", schema: schemas.FieldErrorsAnswer },
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
    scope: null,
    changesState: true,
    retrieval: true,
    summary: "Open a push",
    description:
      "Each successful call is one counted view, its owner's too. The one that reaches the limit still gets the " +
      "payload. HEAD and declared prefetches are not counted and get nothing.",
    parameters: ["url_token", "X-Push-Passphrase", "passphrase"],
    takesPush: false,
    answers: {
      200: { description: "The push; once it has ended, without its payload.", schema: schemas.RetrievedPushAnswer },
      401: { description: "The passphrase is missing or wrong.", schema: schemas.WrongPassphraseAnswer },
      ...lacksFactor,
      ...unknownPush,
      ...always,
    },
    handler: handlers.retrieve,
  },
  {
    id: "expirePush",
    method: "DELETE",
    path: "/api/v2/pushes/:url_token",
    access: "api",
    scope: "expire",
    changesState: true,
    retrieval: false,
    summary: "End a push at once",
    description:
      "For its owner, and for anybody who has the link when viewers may delete it. A token that is sent needs its " +
      "scope even then.",
    parameters: ["url_token"],
    takesPush: false,
    answers: {
      200: { description: "The push. One that had ended already is unchanged.", schema: schemas.PushAnswer },
      ...badToken,
      403: refused("It is another user's push, the token lacks the scope, or its user a required second factor."),
      ...unknownPush,
      ...always,
    },
    handler: handlers.expire,
  },
  {
    id: "previewPush",
    method: "GET",
    path: "/api/v2/pushes/:url_token/preview",
    access: "api",
    scope: null,
    changesState: false,
    retrieval: false,
    summary: "The link to hand out",
    description: "Opens and counts nothing.",
    parameters: ["url_token"],
    takesPush: false,
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
    id: "auditPush",
    method: "GET",
    path: "/api/v2/pushes/:url_token/audit",
    access: "api_token",
    scope: "read",
    changesState: false,
    retrieval: false,
    summary: "What happened to your push",
    description: "Newest first, 50 a page.",
    parameters: ["url_token", "page"],
    takesPush: false,
    answers: {
      200: { description: "Log entries.", schema: schemas.AuditAnswer },
      ...badPage,
      ...badToken,
      403: refused("It is not your push, the token lacks the scope, or its user a required second factor."),
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
    scope: "create",
    changesState: true,
    retrieval: false,
    summary: "Mail the link of your push",
    description:
      "To up to 5 addresses over all times of a push; 5 requests a minute. The audit log tells what becomes of the " +
      "mails. Not served (404) where version says that email_auto_dispatch is false.",
    parameters: ["url_token"],
    takesPush: false,
    takesRecipients: true,
    isServed: (config) => config.linkDeliveries.enabled,
    answers: {
      201: { description: "The mails wait to be sent.", schema: schemas.MessageAnswer },
      400: refused("Not JSON or not a form."),
      ...badToken,
      403: refused("It is not your push, the token lacks the scope, or its user a required second factor."),
      404: refused("No such push, or no links are mailed here."),
      413: refused("The body is too large."),
      415: refused("Another media type."),
      422: { description: "What is wrong with each field.", schema: schemas.FieldErrorsAnswer },
      ...always,
    },
    handler: handlers.notifyEmails,
  },
];
