import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { CanaryClient, type PushCanaries } from "./canary-client.ts";
import { makeToken } from "./owner.ts";
import { newDataDir } from "./processes.ts";
import { startServer } from "./server.ts";

export const api = "/api/v2/pushes";
export const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x64; rv:140.0) Gecko/20100101 Firefox/140.0" };
/** For forms of our pages. */
export const fromOurPage = { ...browser, "sec-fetch-site": "same-origin" };
export const email = "ada@example.com";

const metricsToken = randomBytes(16).toString("hex");
/** Settings with which `finish` can read the metrics. */
export const withMetrics = { PWP__METRICS__ENABLED: "true", PWP__METRICS__TOKEN: metricsToken };

export interface Signed {
  readonly client: CanaryClient;
  /** For commands on the server's data. */
  readonly environment: Readonly<Record<string, string>>;
  readonly token: string;
  readonly password: string;
  readonly bearer: { readonly authorization: string };
}

/** A server with the log level debug. Its master key and a user's password and token are canaries. */
export async function begin(): Promise<Signed> {
  const dataDir = newDataDir();
  const masterKey = randomBytes(32).toString("hex");
  const environment = {
    DATA_DIR: dataDir,
    PWPUSH_MASTER_KEY: masterKey,
    PWP__LOG_LEVEL: "debug",
    PWP__FILES__ALLOW_ANONYMOUS: "true",
    ...withMetrics,
  };
  const server = await startServer({ dataDir, environment });
  const client = new CanaryClient(server, dataDir);
  client.canaries.add("master key", masterKey);
  client.canaries.add("metrics token", metricsToken);
  const password = client.canaries.make("password");
  const token = await makeToken(environment, { email, admin: false, password });
  client.canaries.add("API token", token);
  return { client, environment, token, password, bearer: { authorization: `Bearer ${token}` } };
}

/**
 * Searches the metrics; then log and files, first while the server runs and its write-ahead log is full, and again after
 * the server has stopped and the database is closed.
 */
export async function finish(client: CanaryClient): Promise<void> {
  await client.ask(200, "/metrics", { headers: { authorization: `Bearer ${metricsToken}` } });
  client.expectNothingLogged();
  await client.expectNothingStored();
  expect(await client.server.stop()).toEqual({ exitCode: 0, signal: null });
  client.expectNothingLogged();
  await client.expectNothingStored();
}

export const fieldsOf = ({ payload, passphrase, name, note }: PushCanaries) => ({ payload, passphrase, name, note });

export function jsonRequest(push: object, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ push }),
  };
}

export function formRequest(
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): RequestInit {
  const form = Object.entries(fields).map(([name, value]) => [`push[${name}]`, value]);
  return { method: "POST", headers, body: Buffer.from(new URLSearchParams(form).toString()) };
}

/** @returns the url_token of the push, which becomes a canary. */
export function addTokenCanary(client: CanaryClient, text: string, push: PushCanaries): string {
  const urlToken = /"url_token":"([a-z0-9]+)"/.exec(text)?.[1] ?? "";
  client.canaries.add(push.labels.token, urlToken);
  return urlToken;
}

/** @param more additional fields; a `passphrase` of "" creates a push without one. */
export async function createByJson(signed: Signed, of: string, more: Readonly<Record<string, unknown>> = {}) {
  const { client, bearer } = signed;
  const push = client.newPush(of);
  const { passphrase, name, note } = push.labels;
  const repeatable = { ...bearer, "idempotency-key": client.canaries.makeCore("idempotency key of a creation") };
  const request = jsonRequest({ ...fieldsOf(push), expire_after_views: 3, ...more }, repeatable);
  const shown = more.passphrase === "" ? [name, note] : [passphrase, name, note];
  const { text } = await client.ask(201, api, request, shown);
  return { push, urlToken: addTokenCanary(client, text, push) };
}
