import { connect } from "node:net";
import { afterAll, beforeAll, expect } from "vitest";
import { startTestApp, type TestApp } from "./app.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A response as a client reads it. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The first header of this name, case-insensitively; "" if there is none. */
  header(name: string): string;
  /** Fails the test if the body is not a JSON object. */
  object(): Fields;
  /** Fails the test if the body is not a JSON array of objects. */
  list(): readonly Fields[];
}

export interface Replay {
  readonly app: TestApp;
  /** e.g. `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** The value of the `Host` header. */
  readonly host: string;
  readonly email: string;
  readonly token: string;
  /** Sends these bytes and reads one response, like a client that keeps its connection. */
  send(request: string | Buffer): Promise<Answer>;
}

/** A server for the tests of one client, on a real socket. */
export function replayServer(environment: Readonly<Record<string, string>> = {}): Replay {
  let app: TestApp | undefined;
  let origin = "";
  let token = "";
  const email = "owner@example.com";
  const started = (): TestApp => {
    if (app === undefined) throw new Error("The server has not started.");
    return app;
  };
  beforeAll(async () => {
    app = await startTestApp({ environment });
    token = await app.makeToken(email);
    origin = await app.listen();
  });
  afterAll(() => app?.[Symbol.asyncDispose]());
  return {
    email,
    get app() {
      return started();
    },
    get origin() {
      return origin;
    },
    get host() {
      return new URL(origin).host;
    },
    get token() {
      return token;
    },
    async send(request) {
      return readAnswer(await exchange(origin, request));
    },
  };
}

/**
 * The bytes of a request, with the lines in their order and case.
 * @param body undefined: none, and no Content-Length; otherwise its length is added as the last header.
 */
export function wire(lines: readonly string[], body?: string | Buffer): Buffer {
  const bytes = Buffer.from(body ?? "");
  const length = body === undefined ? [] : [`Content-Length: ${bytes.length}`];
  return Buffer.concat([Buffer.from([...lines, ...length, "", ""].join("\r\n")), bytes]);
}

const headEnd = Buffer.from("\r\n\r\n");

function exchange(origin: string, request: string | Buffer): Promise<Buffer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      const received = withoutInterim(Buffer.concat(chunks));
      const end = received.indexOf(headEnd);
      if (end === -1) return;
      const length = Number(/^content-length: (\d+)/im.exec(received.toString("latin1", 0, end))?.[1] ?? 0);
      if (received.length < end + headEnd.length + length) return;
      socket.destroy();
      resolve(received);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`The answer was cut off: ${Buffer.concat(chunks).toString("latin1")}`)));
  });
}

/** 100 Continue comes before the answer (RFC 9110, 15.2). */
function withoutInterim(received: Buffer): Buffer {
  return received.toString("latin1", 0, 12) === "HTTP/1.1 100" && received.includes(headEnd)
    ? received.subarray(received.indexOf(headEnd) + headEnd.length)
    : received;
}

function readAnswer(received: Buffer): Answer {
  const end = received.indexOf(headEnd);
  const head = received.toString("latin1", 0, end);
  const text = received.toString("utf8", end + headEnd.length);
  const parsed = (): unknown => {
    expect(head).toMatch(/^content-type: application\/json; charset=utf-8$/im);
    return JSON.parse(text);
  };
  return {
    status: Number(head.slice("HTTP/1.1 ".length).slice(0, 3)),
    text,
    header: (name) => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1] ?? "",
    object() {
      const value = parsed();
      if (!isObject(value)) throw new Error(`No JSON object: ${text}`);
      return value;
    },
    list() {
      const value = parsed();
      if (!Array.isArray(value) || !value.every(isObject)) throw new Error(`No JSON list of objects: ${text}`);
      return value;
    },
  };
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One part of a multipart form, with `--boundary` before it and without the last line. */
export function formPart(boundary: string, headers: readonly string[], content: string): string {
  return [`--${boundary}`, ...headers, "", content, ""].join("\r\n");
}

export function formEnd(boundary: string): string {
  return `--${boundary}--\r\n`;
}
