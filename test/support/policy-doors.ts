import type { LinkKey } from "@sealpush/age/link-key";
import { operations as requestOperations } from "../../src/api/requests/operations.ts";
import { operations as v1Operations } from "../../src/api/v1/operations.ts";
import { operations as v2Operations } from "../../src/api/v2/operations.ts";
import type { KindName } from "../../src/base/push-kinds.ts";
import { bearer, type TestApp } from "./app.ts";
import { pushForm } from "./owner-requests.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A caller with an account, by API token and by session. `service`: a group's token; nobody can sign in to its account. */
export interface DoorCaller {
  readonly fixture: TestApp;
  readonly origin: string;
  readonly token: string;
  readonly cookie: string;
}

export type CallerName = "user" | "service";

/** How somebody gets in: the route, and who can use it. */
interface Door {
  readonly name: string;
  /** As in the server's list of routes. */
  readonly route: string;
  readonly callers: readonly CallerName[];
}

const byToken: readonly CallerName[] = ["user", "service"];
const bySession: readonly CallerName[] = ["user"];

interface DoorAnswer {
  readonly status: number;
  /** The fields that are refused; null: the door says it in words. */
  readonly refused: readonly string[] | null;
}

/** A way to make a push, with the kinds that it makes. */
export interface CreationDoor extends Door {
  readonly kinds: (kind: KindName) => boolean;
  /** False: it ignores the recipients of links and end-to-end encryption. */
  readonly takesMail: boolean;
  readonly create: (caller: DoorCaller, kind: KindName, fields: Fields) => Promise<DoorAnswer>;
}

/** A payload and files of each kind. */
export const contentOf: Readonly<Record<KindName, Fields>> = {
  text: { payload: "the secret" },
  file: { payload: "the secret", files: [{ filename: "a.txt", data: "aGVsbG8=" }] },
  url: { payload: "https://example.com/" },
  qr: { payload: "the secret" },
};

async function send(caller: DoorCaller, url: string, payload: object, method: "POST" | "PATCH" = "POST") {
  const headers = bearer(caller.token);
  const answer = await caller.fixture.server.inject({ method, url, headers, payload });
  return { status: answer.statusCode, refused: Object.keys(answer.json()) };
}

const kindOfWrapper: Readonly<Record<string, KindName>> = { file_push: "file", url: "url" };

/** Every endpoint that takes a push, of all versions of the API, and the form: a new endpoint is one of them by itself. */
export const creationDoors: readonly CreationDoor[] = [
  ...v2Operations
    .filter(({ body }) => body === "push")
    .map(({ id, method, path }) => ({
      ...{ name: id, route: `${method} ${path}`, callers: byToken },
      kinds: () => true,
      takesMail: true,
      create: (caller: DoorCaller, kind: KindName, fields: Fields) =>
        send(caller, path, { push: { ...contentOf[kind], kind, ...fields } }),
    })),
  ...v1Operations
    .filter(({ body }) => body === "push")
    .map(({ id, method, path, wrapper }) => ({
      ...{ name: id, route: `${method} ${path}`, callers: byToken },
      kinds: (kind: KindName) => (kindOfWrapper[wrapper ?? ""] ?? kind) === kind,
      takesMail: false,
      create: (caller: DoorCaller, kind: KindName, fields: Fields) =>
        send(caller, path, { [wrapper ?? ""]: { ...contentOf[kind], kind, ...fields } }),
    })),
  {
    ...{ name: "the form", route: "POST /p", callers: bySession },
    kinds: () => true,
    takesMail: true,
    async create({ origin, cookie }, kind, fields) {
      const { payload } = contentOf[kind];
      const values = Object.entries({ payload, kind, ...fields }).map(([name, value]) => [name, formValue(value)]);
      const body = pushForm(Object.fromEntries(values), kind === "file" ? { "a.txt": "hello" } : {});
      return { status: await sendForm(`${origin}/p`, body, cookie), refused: null };
    },
  },
];

/** @returns the status as an API would answer it: 201 where the form leads on. */
async function sendForm(url: string, body: FormData | URLSearchParams, cookie: string): Promise<number> {
  const headers = { cookie, "sec-fetch-site": "same-origin" };
  const answer = await fetch(url, { method: "POST", body, headers, redirect: "manual" });
  await answer.arrayBuffer();
  return answer.status === 303 ? 201 : answer.status;
}

/** As the boxes of a form are sent. */
function formValue(value: unknown): string {
  return typeof value === "boolean" ? String(Number(value)) : String(value);
}

/** Every endpoint that makes a request for a secret, and its form. */
export const requestDoors: readonly (Door & {
  readonly ask: (caller: DoorCaller, fields: Fields) => Promise<number>;
})[] = [
  ...requestOperations
    .filter(({ body }) => body === "request")
    .map(({ id, method, path }) => ({
      ...{ name: id, route: `${method} ${path}`, callers: byToken },
      ask: async (caller: DoorCaller, request: Fields) => (await send(caller, path, { request })).status,
    })),
  {
    ...{ name: "the form", route: "POST /requests", callers: bySession },
    async ask({ origin, cookie }, fields) {
      const values = Object.entries(fields).map(([name, value]) => [name, formValue(value)]);
      return sendForm(`${origin}/requests`, new URLSearchParams(Object.fromEntries(values)), cookie);
    },
  },
];

/** Every endpoint that mails the link of a push, and its form. */
export const mailingDoors: readonly (Door & {
  readonly mail: (caller: DoorCaller, urlToken: string, fields: Readonly<Record<string, string>>) => Promise<number>;
})[] = [
  ...v2Operations
    .filter(({ body }) => body === "recipients")
    .map(({ id, method, path }) => ({
      ...{ name: id, route: `${method} ${path}`, callers: byToken },
      mail: async (caller: DoorCaller, urlToken: string, fields: Fields) =>
        (await send(caller, path.replace(":url_token", urlToken), fields)).status,
    })),
  {
    ...{ name: "the form", route: "POST /p/:token/notify_emails", callers: bySession },
    mail: ({ origin, cookie }, urlToken, fields) =>
      sendForm(`${origin}/p/${urlToken}/notify_emails`, new URLSearchParams(fields), cookie),
  },
];

/** Every way to change a push. */
export const editDoors: readonly (Door & {
  readonly edit: (caller: DoorCaller, urlToken: string, fields: Fields) => Promise<number>;
})[] = [
  ...v2Operations
    .filter(({ body }) => body === "edit")
    .map(({ id, method, path }) => ({
      ...{ name: id, route: `${method} ${path}`, callers: byToken },
      async edit(caller: DoorCaller, urlToken: string, push: Fields) {
        const { status } = await send(caller, path.replace(":url_token", urlToken), { push }, "PATCH");
        return status === 200 ? 201 : status;
      },
    })),
  {
    ...{ name: "the form", route: "POST /p/:token/edit", callers: bySession },
    edit({ origin, cookie }, urlToken, fields) {
      const values = Object.entries(fields).map(([name, value]) => [name, formValue(value)]);
      return sendForm(`${origin}/p/${urlToken}/edit`, pushForm(Object.fromEntries(values)), cookie);
    },
  },
];

/** What changes something and is never judged: uploads become part of a push later; the others are about requests that were made. */
export const neverJudged: readonly string[] = [
  "POST /uploads",
  "PATCH /uploads/:upload",
  "DELETE /uploads/:upload",
  "POST /requests/:token",
  "POST /api/sealpush/requests/:url_token",
  "POST /requests/:token/answers",
  "POST /requests/:token/close",
  "POST /requests/:token/delete",
];

/** A valid request for a secret. */
export function requestFor(key: LinkKey): Fields {
  return { title: "Root password", recipient: key.recipient, encryption_check: key.check, answers_max: 1 };
}
