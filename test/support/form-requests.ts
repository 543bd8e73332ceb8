import type { TestApp } from "./app.ts";

export interface FormAnswer {
  readonly status: number;
  readonly body: string;
  readonly location: string | undefined;
  /** The session's cookie as the browser would send it; "": none was set. */
  readonly cookie: string;
  readonly retryAfter: string | undefined;
}

export interface Sender {
  readonly address?: string;
  readonly cookie?: string;
  readonly userAgent?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Form = Readonly<Record<string, string>>;

/** Sends a form as a browser on our own page does; without a form, asks for the page. */
export async function ask(
  fixture: TestApp,
  url: string,
  form?: Form,
  { address = "192.0.2.7", cookie = "", userAgent = "test", headers = {} }: Sender = {},
) {
  return await fixture.server.inject({
    method: form === undefined ? "GET" : "POST",
    url,
    remoteAddress: address,
    headers: {
      "user-agent": userAgent,
      "sec-fetch-site": "same-origin",
      ...(cookie !== "" && { cookie }),
      ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      ...headers,
    },
    ...(form !== undefined && { payload: new URLSearchParams(form).toString() }),
  });
}

/** The session cookie after this response, as a browser would send it; "": removed; undefined: unchanged. */
export function cookieSetBy({ cookies }: Awaited<ReturnType<typeof ask>>): string | undefined {
  const set = cookies.find(({ name }) => name.endsWith("sealpush_session"));
  if (set === undefined) return undefined;
  return set.value === "" ? "" : `${set.name}=${set.value}`;
}

/** Like `ask`, but returns only status, location, cookie and body. */
export async function visit(fixture: TestApp, url: string, form?: Form, sender: Sender = {}): Promise<FormAnswer> {
  const answer = await ask(fixture, url, form, sender);
  const { location, "retry-after": retryAfter } = answer.headers;
  return {
    status: answer.statusCode,
    body: answer.body,
    location: typeof location === "string" ? location : undefined,
    cookie: cookieSetBy(answer) ?? "",
    retryAfter: retryAfter === undefined ? undefined : String(retryAfter),
  };
}

/** Whether this cookie is a valid session. */
export async function isSignedIn(fixture: TestApp, cookie: string): Promise<boolean> {
  return (await visit(fixture, "/users/token", undefined, { cookie })).status === 200;
}

/** A response without what differs between two requests, for comparisons. */
export function comparable({ status, body, location, cookie }: FormAnswer, typed: string) {
  return { status, body: body.replaceAll(typed, "(typed)"), location, cookie };
}

export function bootCodeOf({ logLines }: Pick<TestApp, "logLines">): string {
  for (const line of logLines) {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === "object" && entry !== null && "event" in entry && entry.event === "boot_code_made") {
      return "code" in entry ? String(entry.code) : "";
    }
  }
  throw new Error("No boot code was logged.");
}
