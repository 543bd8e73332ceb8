import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "vitest";
import { Canaries } from "./canaries.ts";
import type { ServerProcess } from "./server.ts";
import { storedIn } from "./stored.ts";

export interface Asked {
  readonly headers: Headers;
  readonly text: string;
}

export interface PushCanaries {
  readonly payload: string;
  readonly passphrase: string;
  readonly name: string;
  readonly note: string;
  /** The names of the secrets in findings. */
  readonly labels: { readonly [field in "payload" | "passphrase" | "name" | "note" | "token"]: string };
}

/** Sends requests to one server and checks that each response contains exactly the expected secrets. */
export class CanaryClient {
  readonly canaries = new Canaries();
  readonly server: ServerProcess;
  readonly dataDir: string;

  constructor(server: ServerProcess, dataDir: string) {
    this.server = server;
    this.dataDir = dataDir;
  }

  /** New secrets for one push; its url_token is added when it is known. */
  newPush(of: string): PushCanaries {
    const make = (field: string) => this.canaries.make(`${of} ${field}`);
    return {
      payload: make("payload"),
      passphrase: make("passphrase"),
      name: make("name"),
      note: make("note"),
      labels: {
        payload: `${of} payload`,
        passphrase: `${of} passphrase`,
        name: `${of} name`,
        note: `${of} note`,
        token: `${of} token`,
      },
    };
  }

  /**
   * @param path a path, or an absolute URL.
   * @param shows the names of all canaries that headers and body of the response must contain.
   */
  async ask(status: number, path: string, init: RequestInit = {}, shows: readonly string[] = []): Promise<Asked> {
    const answer = await fetch(new URL(path, this.server.baseUrl), { redirect: "manual", ...init });
    const text = Buffer.from(await answer.arrayBuffer()).toString("utf8");
    const what = `${init.method ?? "GET"} answered ${answer.status}: ${text.slice(0, 300)}`;
    expect(answer.status, what).toBe(status);
    const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    expect(this.canaries.namesIn(Buffer.from(`${headers}\n${text}`)), what).toEqual([...shows].sort());
    return { headers: answer.headers, text };
  }

  /** Sends raw bytes that no HTTP client would send; the response must not contain a secret. */
  async sendRaw(request: string): Promise<string> {
    const socket = connect(this.server.port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    const closed = once(socket, "close");
    socket.end(request, "latin1");
    await closed;
    const answer = Buffer.concat(chunks);
    expect(this.canaries.findingsIn(answer)).toEqual([]);
    return answer.toString("latin1");
  }

  expectNothingLogged(): void {
    const leaking = this.server.logLines
      .map((line) => ({ line, found: this.canaries.findingsIn(Buffer.from(line)) }))
      .filter(({ found }) => found.length > 0);
    expect(leaking).toEqual([]);
  }

  /** Searches every file of the data folder and every row. */
  async expectNothingStored(): Promise<void> {
    const leaking = [...(await storedIn(this.dataDir))]
      .map(([path, bytes]) => ({ path, found: this.canaries.findingsIn(bytes) }))
      .filter(({ found }) => found.length > 0);
    expect(leaking).toEqual([]);
  }
}

/** Multipart without a library: with the test's boundary, and file names that are not escaped. */
export function multipart(parts: readonly { name: string; value: string; filename?: string }[]): RequestInit {
  const boundary = "a-boundary-of-the-test";
  const lines = parts.flatMap(({ name, value, filename }) => [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}`,
    ...(filename === undefined ? [] : ["Content-Type: text/plain"]),
    "",
    value,
  ]);
  return {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: [...lines, `--${boundary}--`, ""].join("\r\n"),
  };
}
