import { preview } from "../v2/handlers.ts";
import {
  always,
  badPage,
  badToken,
  lacksFactor,
  lacksScope,
  type Operation,
  refused,
  unknownPush,
} from "../v2/operations.ts";
import { FieldErrorsAnswer, PreviewAnswer, WrongPassphraseAnswer } from "../v2/schemas.ts";
import * as handlers from "./handlers.ts";
import * as schemas from "./schemas.ts";

/** One endpoint of API v1: what is registered and what `GET /api` shows come from here. */
export interface V1Operation extends Operation {
  /** Where the same is served as well. */
  readonly alsoAt: readonly string[];
  /** Of the fields in the body; null: it takes none. */
  readonly wrapper: string | null;
}

const looking = { changesState: false, retrieval: false, takesPush: false, wrapper: null } as const;

const creating = {
  ...{ method: "POST", access: "api", scope: "create", changesState: true, retrieval: false, takesPush: true },
  ...{ parameters: [], alsoAt: [] },
  answers: {
    201: { description: "The push. html_url is the link to hand out.", schema: schemas.OwnedPushAnswer },
    400: refused("Not JSON or not a form, or without the object that holds the fields."),
    ...badToken,
    ...lacksScope,
    413: refused("The body, the payload or the files are too large."),
    415: refused("Another media type."),
    422: { description: "What is wrong with each field.", schema: FieldErrorsAnswer },
    ...always,
  },
} as const satisfies Partial<V1Operation>;

const listing = {
  ...looking,
  ...{ method: "GET", access: "api_token", scope: "read", parameters: ["page"] },
  description: "Of every kind, newest first, 50 a page. Page 0 is page 1.",
  answers: {
    200: { description: "Pushes.", schema: schemas.PushListAnswer },
    ...badPage,
    ...badToken,
    ...lacksScope,
    ...always,
  },
} as const satisfies Partial<V1Operation>;

/** One kind of push once had each of these addresses; a token opens the same push at all of them. */
const atAll = (rest: string) => ({ path: `/p${rest}`, alsoAt: [`/f${rest}`, `/r${rest}`] });

export const operations: readonly V1Operation[] = [
  {
    ...looking,
    id: "v1GetVersion",
    method: "GET",
    path: "/api/v1/version.json",
    alsoAt: ["/api/v1/version"],
    access: "public",
    scope: null,
    summary: "Which server this is",
    description: "Needs no token, and answers with a bad one too.",
    parameters: [],
    answers: { 200: { description: "Versions.", schema: schemas.VersionAnswer }, ...always },
    handler: handlers.version,
  },
  {
    ...creating,
    id: "v1CreatePassword",
    path: "/p.json",
    wrapper: "password",
    summary: "Make a push of text",
    description:
      "Send JSON, a multipart form or a urlencoded form. With kind, or with files, it becomes a push of that kind. " +
      "Pages of any origin may send this request.",
    handler: handlers.createPassword,
  },
  {
    ...creating,
    id: "v1CreateFilePush",
    path: "/f.json",
    wrapper: "file_push",
    summary: "Make a push of files",
    description: "Send a multipart form. It needs a token, unless the server takes files from everybody.",
    handler: handlers.createFilePush,
  },
  {
    ...creating,
    id: "v1CreateUrl",
    path: "/r.json",
    wrapper: "url",
    summary: "Make a push of a web address",
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
    ...looking,
    ...atAll("/:url_token.json"),
    id: "v1RetrievePush",
    method: "GET",
    access: "api",
    scope: null,
    changesState: true,
    retrieval: true,
    summary: "Open a push",
    description:
      "Each successful call is one counted view, but for those of its owner and of administrators. The one that " +
      "reaches the limit still gets the payload.",
    parameters: ["url_token", "X-Push-Passphrase", "passphrase"],
    answers: {
      200: { description: "The push; once it has ended, without its payload.", schema: schemas.RetrievedPushAnswer },
      401: { description: "The passphrase is missing or wrong.", schema: WrongPassphraseAnswer },
      ...lacksFactor,
      ...unknownPush,
      ...always,
    },
    handler: handlers.retrieve,
  },
  {
    ...looking,
    ...atAll("/:url_token.json"),
    id: "v1ExpirePush",
    method: "DELETE",
    access: "api",
    scope: "expire",
    changesState: true,
    summary: "End a push at once",
    description: "For its owner, and for anybody who has the link when viewers may delete it.",
    parameters: ["url_token"],
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
    ...looking,
    ...atAll("/:url_token/preview.json"),
    id: "v1PreviewPush",
    method: "GET",
    access: "api",
    scope: null,
    summary: "The link to hand out",
    description: "Opens and counts nothing.",
    parameters: ["url_token"],
    answers: {
      200: { description: "The link.", schema: PreviewAnswer },
      ...badToken,
      ...lacksFactor,
      ...unknownPush,
      ...always,
    },
    handler: preview,
  },
  {
    ...looking,
    ...atAll("/:url_token/audit.json"),
    id: "v1AuditPush",
    method: "GET",
    access: "api_token",
    scope: "read",
    summary: "What happened to your push",
    description: "Newest first, 50 a page. Page 0 is page 1.",
    parameters: ["url_token", "page"],
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
];
