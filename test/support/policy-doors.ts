import type { LinkKey } from "@sealpush/age/link-key";
import { operations as requestOperations } from "../../src/api/requests/operations.ts";
import { operations as v1Operations } from "../../src/api/v1/operations.ts";
import { operations as v2Operations } from "../../src/api/v2/operations.ts";
import type { KindName } from "../../src/base/push-kinds.ts";
import { bearer, type TestApp } from "./app.ts";
import { pushForm } from "./owner-requests.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A caller with an account, by API token and by session. */
export interface DoorCaller {
  readonly fixture: TestApp;
  readonly origin: string;
  readonly token: string;
  readonly cookie: string;
}

interface DoorAnswer {
  readonly status: number;
  /** The fields that are refused; null: the door says it in words. */
  readonly refused: readonly string[] | null;
}

/** A way to make a push, with the kinds that it makes. */
export interface CreationDoor {
  readonly name: string;
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

async function send(caller: DoorCaller, url: string, payload: object) {
  const headers = bearer(caller.token);
  const answer = await caller.fixture.server.inject({ method: "POST", url, headers, payload });
  return { status: answer.statusCode, refused: Object.keys(answer.json()) };
}

const kindOfWrapper: Readonly<Record<string, KindName>> = { file_push: "file", url: "url" };

/** Every endpoint that takes a push, of all versions of the API, and the form: a new endpoint is one of them by itself. */
export const creationDoors: readonly CreationDoor[] = [
  ...v2Operations
    .filter(({ takesPush }) => takesPush)
    .map(({ id, path }) => ({
      name: id,
      kinds: () => true,
      takesMail: true,
      create: (caller: DoorCaller, kind: KindName, fields: Fields) =>
        send(caller, path, { push: { ...contentOf[kind], kind, ...fields } }),
    })),
  ...v1Operations
    .filter(({ takesPush }) => takesPush)
    .map(({ id, path, wrapper }) => ({
      name: id,
      kinds: (kind: KindName) => (kindOfWrapper[wrapper ?? ""] ?? kind) === kind,
      takesMail: false,
      create: (caller: DoorCaller, kind: KindName, fields: Fields) =>
        send(caller, path, { [wrapper ?? ""]: { ...contentOf[kind], kind, ...fields } }),
    })),
  {
    name: "the form",
    kinds: () => true,
    takesMail: true,
    async create({ origin, cookie }, kind, fields) {
      const { payload } = contentOf[kind];
      const values = Object.entries({ payload, kind, ...fields }).map(([name, value]) => [name, formValue(value)]);
      const answer = await fetch(`${origin}/p`, {
        method: "POST",
        body: pushForm(Object.fromEntries(values), kind === "file" ? { "a.txt": "hello" } : {}),
        headers: { cookie, "sec-fetch-site": "same-origin" },
        redirect: "manual",
      });
      await answer.arrayBuffer();
      return { status: answer.status === 303 ? 201 : answer.status, refused: null };
    },
  },
];

/** As the boxes of a form are sent. */
function formValue(value: unknown): string {
  return typeof value === "boolean" ? String(Number(value)) : String(value);
}

/** Every endpoint that makes a request for a secret, and its form. */
export const requestDoors: readonly {
  readonly name: string;
  readonly ask: (caller: DoorCaller, fields: Fields) => Promise<number>;
}[] = [
  ...requestOperations
    .filter(({ takesRequest = false }) => takesRequest)
    .map(({ id, path }) => ({
      name: id,
      ask: async (caller: DoorCaller, request: Fields) => (await send(caller, path, { request })).status,
    })),
  {
    name: "the form",
    async ask({ origin, cookie }, fields) {
      const values = Object.entries(fields).map(([name, value]) => [name, formValue(value)]);
      const answer = await fetch(`${origin}/requests`, {
        method: "POST",
        body: new URLSearchParams(Object.fromEntries(values)),
        headers: { cookie, "sec-fetch-site": "same-origin" },
        redirect: "manual",
      });
      await answer.arrayBuffer();
      return answer.status === 303 ? 201 : answer.status;
    },
  },
];

/** Every endpoint that mails the link of a push. */
export const mailingDoors = v2Operations
  .filter(({ takesRecipients = false }) => takesRecipients)
  .map(({ id, path }) => ({
    name: id,
    mail: async (caller: DoorCaller, urlToken: string, fields: Fields) =>
      (await send(caller, path.replace(":url_token", urlToken), fields)).status,
  }));

/** A valid request for a secret. */
export function requestFor(key: LinkKey): Fields {
  return { title: "Root password", recipient: key.recipient, encryption_check: key.check, answers_max: 1 };
}
