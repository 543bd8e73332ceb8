import { startTestApp, type TestApp } from "./app.ts";
import { type MailSink, startMailSink } from "./mail-sink.ts";

type Json = Readonly<Record<string, unknown>>;

export interface ApiAnswer {
  readonly status: number;
  readonly retryAfter: unknown;
  readonly body: Json;
}

/** A server that sends links by email, the emails that it sends, and a user with an API token. */
export interface Mailing extends AsyncDisposable {
  readonly fixture: TestApp;
  readonly sink: MailSink;
  readonly token: string;
  /** @param token null: none. */
  ask(method: "GET" | "POST", url: string, payload?: object, token?: string | null): Promise<ApiAnswer>;
  create(push: object, token?: string | null): Promise<ApiAnswer>;
  /** @returns the url_token of a new push. */
  push(push?: object): Promise<string>;
  notify(urlToken: string, body: object, token?: string | null): Promise<ApiAnswer>;
  /** The link deliveries of the audit trail, newest first. */
  mailed(urlToken: string): Promise<readonly Json[]>;
}

export const owner = "ada@example.com";

export async function startMailing(environment: Readonly<Record<string, string>> = {}): Promise<Mailing> {
  const sink = await startMailSink();
  // No account emails, so that all emails are about pushes.
  const settings = { ...sink.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "false", ...environment };
  const fixture = await startTestApp({ environment: settings });
  const ownToken = await fixture.makeToken(owner);
  const ask: Mailing["ask"] = async (method, url, payload, token = ownToken) => {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const answer = await fixture.server.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: answer.statusCode, retryAfter: answer.headers["retry-after"], body: answer.json() };
  };
  const create: Mailing["create"] = (push, token) =>
    ask("POST", "/api/v2/pushes", { push: { payload: "the secret", ...push } }, token);
  return {
    fixture,
    sink,
    token: ownToken,
    ask,
    create,
    async push(push = {}) {
      const { status, body } = await create(push);
      if (status !== 201) throw new Error(`No push was made: ${JSON.stringify(body)}`);
      return String(body.url_token);
    },
    notify: (urlToken, body, token) => ask("POST", `/api/v2/pushes/${urlToken}/notify_emails`, body, token),
    async mailed(urlToken) {
      const { body } = await ask("GET", `/api/v2/pushes/${urlToken}/audit`);
      const logs = Array.isArray(body.logs) ? body.logs : [];
      return logs.filter(({ kind }) => kind === "creation_email_send").map((log) => log.notify_by_email);
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}
