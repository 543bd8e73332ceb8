import type { TObject } from "typebox";
import {
  always,
  badBody,
  badPage,
  badToken,
  fieldErrors,
  lacksFactor,
  lacksScope,
  notEnded,
  notRetrieved,
  notYours,
  type Operation,
  readOnly,
  refused,
  unknownPush,
} from "../v2/operations.ts";
import * as handlers from "./handlers.ts";
import * as schemas from "./schemas.ts";

/** One endpoint of API v1: what is registered and what `GET /api` shows come from here. */
export interface V1Operation extends Operation {
  /** Further paths that serve the same endpoint. */
  readonly alsoAt: readonly string[];
  /** The object in the body that holds the fields; null: no body. */
  readonly wrapper: string | null;
  /** The fields that it takes there. */
  readonly fields: TObject | null;
}

const bodiless = { ...readOnly, wrapper: null, fields: null } as const;

const creating = {
  method: "POST",
  access: "api",
  group: "internal",
  scope: "create",
  changesState: true,
  retrieval: false,
  body: "push",
  parameters: ["push_locale", "Idempotency-Key"],
  alsoAt: [],
  answers: {
    201: { description: "The push. html_url is the link to hand out.", schema: schemas.OwnedPushAnswer },
    400: refused("Not JSON or not a form, or without the object that holds the fields; an invalid Idempotency-Key."),
    ...badToken,
    ...lacksScope,
    ...badBody,
    ...fieldErrors,
    ...always,
  },
} as const satisfies Partial<V1Operation>;

const listing = {
  ...bodiless,
  method: "GET",
  access: "api_token",
  group: "internal",
  scope: "read",
  parameters: ["page", "push_locale"],
  description: "All kinds, newest first, 50 a page. Page 0 is page 1.",
  answers: {
    200: { description: "Pushes.", schema: schemas.PushListAnswer },
    ...badPage,
    ...badToken,
    ...lacksScope,
    ...always,
  },
} as const satisfies Partial<V1Operation>;

/** Each of these prefixes once served one kind of push; now a token is valid at all of them. */
const atAll = (rest: string) => ({ path: `/p${rest}`, alsoAt: [`/f${rest}`, `/r${rest}`] });

export const operations: readonly V1Operation[] = [
  {
    ...bodiless,
    id: "v1GetVersion",
    method: "GET",
    path: "/api/v1/version.json",
    alsoAt: ["/api/v1/version"],
    access: "public",
    group: "internal",
    scope: null,
    summary: "Version of this server",
    description: "Needs no token, and ignores an invalid one.",
    parameters: [],
    answers: { 200: { description: "Versions.", schema: schemas.VersionAnswer }, ...always },
    handler: handlers.version,
  },
  {
    ...creating,
    id: "v1CreatePassword",
    path: "/p.json",
    wrapper: "password",
    fields: schemas.PasswordFields,
    summary: "Create a text push",
    description:
      "Send JSON, a multipart form or a urlencoded form. With kind or with files, it creates a push of that kind. " +
      "Pages of any origin may send this request.",
    handler: handlers.createPassword,
  },
  {
    ...creating,
    id: "v1CreateFilePush",
    path: "/f.json",
    wrapper: "file_push",
    fields: schemas.FilePushFields,
    summary: "Create a file push",
    description: "Send a multipart form. It needs a token, unless the server allows anonymous file pushes.",
    handler: handlers.createFilePush,
  },
  {
    ...creating,
    id: "v1CreateUrl",
    path: "/r.json",
    wrapper: "url",
    fields: schemas.UrlFields,
    summary: "Create a URL push",
    description: "The payload is an absolute http or https URL. Viewers cannot delete such a push.",
    handler: handlers.createUrl,
  },
  {
    ...listing,
    ...atAll("/active.json"),
    id: "v1ListActivePushes",
    summary: "List your active pushes",
    handler: handlers.listActive,
  },
  {
    ...listing,
    ...atAll("/expired.json"),
    id: "v1ListExpiredPushes",
    summary: "List your pushes that have ended",
    handler: handlers.listExpired,
  },
  {
    ...bodiless,
    ...atAll("/:url_token.json"),
    id: "v1RetrievePush",
    method: "GET",
    access: "api",
    group: "recipient",
    scope: null,
    changesState: true,
    retrieval: true,
    summary: "Retrieve a push",
    description:
      "Each successful call is one counted view, except those of the owner and of administrators. The one that " +
      "reaches the limit still gets the payload. A counted view can be repeated with the same Idempotency-Key.",
    parameters: ["url_token", "X-Push-Passphrase", "passphrase", "push_locale", "Idempotency-Key"],
    answers: {
      200: { description: "The push; after its end, without its payload.", schema: schemas.RetrievedPushAnswer },
      ...notRetrieved,
    },
    handler: handlers.retrieve,
  },
  {
    ...bodiless,
    ...atAll("/:url_token.json"),
    id: "v1ExpirePush",
    method: "DELETE",
    access: "api",
    group: "recipient",
    scope: "expire",
    changesState: true,
    summary: "Delete a push",
    description:
      "The push ends at once. Allowed for its owner, and for anybody who has the link if viewers may delete it.",
    parameters: ["url_token"],
    answers: {
      200: { description: "The push. One that has ended already is unchanged.", schema: schemas.PushAnswer },
      ...notEnded,
    },
    handler: handlers.expire,
  },
  {
    ...bodiless,
    ...atAll("/:url_token/preview.json"),
    id: "v1PreviewPush",
    method: "GET",
    access: "api",
    group: "internal",
    scope: null,
    summary: "Get the link of a push",
    description: "Reveals no secret and counts no view.",
    parameters: ["url_token"],
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
    ...bodiless,
    ...atAll("/:url_token/audit.json"),
    id: "v1AuditPush",
    method: "GET",
    access: "api_token",
    group: "internal",
    scope: "read",
    summary: "Get the audit log of your push",
    description: "Oldest first, 50 a page. Page 0 is page 1.",
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
];
