import { onTestFinished } from "vitest";
import { startTestApp, type TestApp } from "./app.ts";

export const scimToken = "scim-0123456789-abcdefghijklmnopq";

export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface ScimAnswer {
  readonly status: number;
  /** null: there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect of it.
  readonly body: any;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Requests of an identity provider. @param body an object, or the text to send. */
export function scimClient({ server }: Pick<TestApp, "server">, token = scimToken) {
  const ask = async (
    method: Method,
    path: string,
    body?: object | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ScimAnswer> => {
    const answer = await server.inject({
      method,
      url: `/scim/v2${path}`,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json", ...headers },
      ...(body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const json = answer.body === "" ? null : JSON.parse(answer.body);
    return { status: answer.statusCode, body: json, headers: answer.headers };
  };
  return {
    ask,
    make: (userName: string, externalId?: string, more: object = {}) =>
      ask("POST", "/Users", { schemas: [userSchema], userName, ...(externalId && { externalId }), ...more }),
    find: (filter: string) => ask("GET", `/Users?filter=${encodeURIComponent(filter)}`),
    patch: (id: string, ...operations: readonly object[]) =>
      ask("PATCH", `/Users/${id}`, { schemas: [patchSchema], Operations: operations }),
    setActive: (id: string, value: unknown) =>
      ask("PATCH", `/Users/${id}`, { schemas: [patchSchema], Operations: [{ op: "Replace", path: "active", value }] }),
    remove: (id: string) => ask("DELETE", `/Users/${id}`),
  };
}

/** A server that an identity provider manages, closed after the test. It has one account: `admin@example.com`, an administrator. */
export async function startScimApp(environment: Readonly<Record<string, string>> = {}) {
  const app = await startTestApp({ environment: { PWP__SCIM__TOKEN: scimToken, ...environment } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const adminToken = await app.makeToken("admin@example.com", true);
  const { accounts } = app.app.domain;
  /** What the administrators' trail has of SCIM, oldest first. */
  const trail = async () =>
    (await accounts.listAdminEntries(1))
      .filter(({ action }) => action.startsWith("scim_"))
      .map(({ action, subject }) => `${action} ${subject}`)
      .reverse();
  return { app, accounts, adminToken, trail, ...scimClient(app) };
}

export const shell = { userId: null, email: "shell", address: "" };
