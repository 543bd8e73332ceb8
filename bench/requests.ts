import type { BareAnswers, RecordedAnswer } from "./bare.ts";

/** A password of 40 characters; one view. */
const createBody = JSON.stringify({
  push: { payload: "correct horse battery staple 4711 $%&/()", expire_after_views: 1 },
});

export function createRequest(port: number): string {
  const head = ["POST /api/v2/pushes HTTP/1.1", `Host: 127.0.0.1:${port}`, "Content-Type: application/json"];
  return `${head.join("\r\n")}\r\nContent-Length: ${Buffer.byteLength(createBody)}\r\n\r\n${createBody}`;
}

/** The load generator replaces "TOKEN" by a url_token. */
export function claimRequest(port: number): string {
  return `GET /api/v2/pushes/TOKEN.json HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
}

/** The framework or Node adds these for the bare route too. */
const addedAnyway = new Set(["content-length", "date", "connection", "keep-alive"]);

/** One create and one claim of the real server, for the bare route to repeat. */
export async function recordAnswers(port: number): Promise<BareAnswers> {
  const base = `http://127.0.0.1:${port}/api/v2/pushes`;
  const headers = { "content-type": "application/json" };
  const create = await record(await fetch(base, { method: "POST", headers, body: createBody }));
  const token: unknown = Reflect.get(create.body, "url_token");
  return { create, claim: await record(await fetch(`${base}/${String(token)}.json`)) };
}

async function record(response: Response): Promise<RecordedAnswer> {
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !addedAnyway.has(name)));
  return { status: response.status, headers, body: Object(await response.json()) };
}
