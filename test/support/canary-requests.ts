import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { CanaryWalk, type PushCanaries } from "./canary-walk.ts";
import { newDataDir, runProgram } from "./processes.ts";
import { startServer } from "./server.ts";

export const api = "/api/v2/pushes";
export const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x64; rv:140.0) Gecko/20100101 Firefox/140.0" };
export const email = "ada@example.com";

const metricsToken = randomBytes(16).toString("hex");
/** Settings with which `finish` can read the metrics. */
export const withMetrics = { PWP__METRICS__ENABLED: "true", PWP__METRICS__TOKEN: metricsToken };

export interface Signed {
  readonly walk: CanaryWalk;
  readonly token: string;
  readonly password: string;
  readonly bearer: { readonly authorization: string };
}

/** A server with the log level debug. Its master key and a user's password and token are canaries. */
export async function begin(): Promise<Signed> {
  const dataDir = newDataDir();
  const masterKey = randomBytes(32).toString("hex");
  const environment = {
    PWPUSH_MASTER_KEY: masterKey,
    PWP__LOG_LEVEL: "debug",
    PWP__FILES__ALLOW_ANONYMOUS: "true",
    ...withMetrics,
  };
  const server = await startServer({ dataDir, environment });
  const walk = new CanaryWalk(server, dataDir);
  walk.canaries.add("master key", masterKey);
  walk.canaries.add("metrics token", metricsToken);
  const password = walk.canaries.make("password");
  const command = { ...environment, DATA_DIR: dataDir };
  const user = await runProgram(["user", "create", "--email", email, "--password-stdin"], command, `${password}\n`);
  expect(user.exitCode, user.stderr).toBe(0);
  const made = await runProgram(["token", "create", "--email", email, "--name", "test"], command);
  const token = made.stdout.trim();
  walk.canaries.add("API token", token);
  return { walk, token, password, bearer: { authorization: `Bearer ${token}` } };
}

/**
 * Searches the metrics; then log and files, first while the server runs and its write-ahead log is full, and again after
 * the server has stopped and the database is closed.
 */
export async function finish(walk: CanaryWalk): Promise<void> {
  await walk.ask(200, "/metrics", { headers: { authorization: `Bearer ${metricsToken}` } });
  walk.expectNothingLogged();
  await walk.expectNothingStored();
  expect(await walk.server.stop()).toEqual({ exitCode: 0, signal: null });
  walk.expectNothingLogged();
  await walk.expectNothingStored();
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
export function learnToken(walk: CanaryWalk, text: string, push: PushCanaries): string {
  const urlToken = /"url_token":"([a-z0-9]+)"/.exec(text)?.[1] ?? "";
  walk.canaries.add(push.labels.token, urlToken);
  return urlToken;
}

/** @param more additional fields; a `passphrase` of "" creates a push without one. */
export async function createByJson(signed: Signed, of: string, more: Readonly<Record<string, unknown>> = {}) {
  const { walk, bearer } = signed;
  const push = walk.newPush(of);
  const { passphrase, name, note } = push.labels;
  const request = jsonRequest({ ...fieldsOf(push), expire_after_views: 3, ...more }, bearer);
  const shown = more.passphrase === "" ? [name, note] : [passphrase, name, note];
  const { text } = await walk.ask(201, api, request, shown);
  return { push, urlToken: learnToken(walk, text, push) };
}
