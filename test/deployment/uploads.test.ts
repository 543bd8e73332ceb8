import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { patternBytes } from "../../src/crypto/stream-test-support.ts";
import { processHeader } from "../support/alternating-proxy.ts";
import { type Deployment, openDeployment, type Which } from "../support/deployment.ts";
import type { Owner } from "../support/owner.ts";
import { pushForm } from "../support/owner-requests.ts";

const mebibyte = 1024 ** 2;
const bytes = patternBytes(12 * mebibyte);

async function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return answer.resume();
}

/** A browser that sends a file in several requests. */
class Sender {
  readonly #deployment: Deployment;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #owner: Owner;

  constructor(deployment: Deployment, owner: Owner) {
    this.#deployment = deployment;
    this.#owner = owner;
    this.#headers = { cookie: owner.cookie, "tus-resumable": "1.0.0", "sec-fetch-site": "same-origin" };
  }

  /** @returns the path of the upload. */
  async open(filename: string, length = bytes.length): Promise<string> {
    const metadata = `filename ${Buffer.from(filename).toString("base64")}`;
    const opened = await this.#deployment.fetch("/uploads", {
      method: "POST",
      headers: { ...this.#headers, "upload-length": String(length), "upload-metadata": metadata },
    });
    expect(opened.status).toBe(201);
    return opened.headers.get("location") ?? "";
  }

  async offset(path: string): Promise<number> {
    const answer = await this.#deployment.fetch(path, { method: "HEAD", headers: this.#headers });
    expect(answer.status).toBe(200);
    return Number(answer.headers.get("upload-offset"));
  }

  /** @returns the status. */
  async send(path: string, offset: number, end = bytes.length): Promise<number> {
    const body = new Uint8Array(bytes.subarray(offset, end));
    const answer = await this.#deployment.fetch(path, { method: "PATCH", headers: this.#partHeaders(offset), body });
    return answer.status;
  }

  /** Sends most of the file, or of other bytes of the same length, to one process, in a request that does not end. */
  sendUnended(path: string, to: Which, content: Uint8Array = bytes): ClientRequest {
    const headers = { ...this.#partHeaders(0), "content-length": String(bytes.length), [processHeader]: String(to) };
    const request = httpRequest(this.#deployment.origin + path, { method: "PATCH", headers });
    request.on("error", () => undefined);
    request.write(content.subarray(0, 11 * mebibyte));
    return request;
  }

  async untilAcknowledged(path: string): Promise<void> {
    await expect.poll(() => this.offset(path)).toBeGreaterThan(0);
  }

  async push(paths: readonly string[]): Promise<string> {
    const uploads = paths.map((path) => path.slice("/uploads/".length));
    const made = await this.#deployment.visit("/p", this.#owner, pushForm({ kind: "file", uploads }));
    expect(made.status, await made.clone().text()).toBe(303);
    return /\/p\/([^/?]+)/.exec(made.headers.get("location") ?? "")?.[1] ?? "";
  }

  async expectFiles(urlToken: string, filenames: readonly string[], content: Uint8Array = bytes): Promise<void> {
    const { body } = await this.#deployment.api(`/api/v2/pushes/${urlToken}`);
    expect(body.files.map(({ filename }: { filename: string }) => filename)).toEqual(filenames);
    for (const { url } of body.files) {
      const download = await this.#deployment.fetch(this.#deployment.pathOf(url));
      expect(Buffer.from(await download.arrayBuffer()).equals(content)).toBe(true);
    }
  }

  #partHeaders(offset: number) {
    const type = "application/offset+octet-stream";
    return { ...this.#headers, "content-type": type, "upload-offset": String(offset) };
  }
}

describe.each(["folder", "bucket"] as const)("with files in one %s", (files) => {
  const deployment = openDeployment({ files });
  let sender: Sender;
  beforeAll(async () => {
    sender = new Sender(deployment, await deployment.makeUser("ada@example.com"));
  });

  deployment.test("a file is sent in requests to both processes, and opened", async () => {
    const path = await sender.open("plan.bin");
    for (const end of [100_000, 6 * mebibyte + 1, bytes.length]) {
      expect(await sender.send(path, await sender.offset(path), end)).toBe(204);
    }
    await sender.expectFiles(await sender.push([path]), ["plan.bin"]);
  });

  deployment.test("a request to one process is refused while the other one receives the file", async () => {
    const path = await sender.open("plan.bin");
    const unended = sender.sendUnended(path, 0);
    await sender.untilAcknowledged(path);
    expect(await sender.send(path, 0)).toBe(423);
    expect(await sender.send(path, 0)).toBe(423);
    unended.destroy();
    await expect.poll(async () => sender.send(path, await sender.offset(path))).toBe(204);
    await sender.expectFiles(await sender.push([path]), ["plan.bin"]);
  });

  test("the file continues after the process that received it was killed", async () => {
    const path = await sender.open("plan.bin");
    const unended = sender.sendUnended(path, 0);
    await sender.untilAcknowledged(path);
    const closed = new Promise((resolve) => unended.once("close", resolve));
    // Its replacement may take long to start: 30 seconds from the last byte, and the minute that clocks may differ by.
    await deployment.query("UPDATE resumable_uploads SET run_until = run_until + 60000");
    await deployment.killAndReplace(0);
    await closed;
    const offset = await sender.offset(path);
    expect(offset).toBeGreaterThan(0);
    // For all that the others know, it might still be writing.
    expect(await sender.send(path, offset)).toBe(423);
    await deployment.query("UPDATE resumable_uploads SET run_until = 0");
    expect(await sender.send(path, offset)).toBe(204);
    await sender.expectFiles(await sender.push([path]), ["plan.bin"]);
  });

  test("a process that was suspended while it received other bytes changes nothing when it resumes", async () => {
    const path = await sender.open("plan.bin");
    const other = new Uint8Array(bytes.length).fill(1);
    const unended = sender.sendUnended(path, 0, other);
    const closed = new Promise((resolve) => unended.once("close", resolve));
    await sender.untilAcknowledged(path);
    const { offset, urlToken } = await deployment.whileSuspended(0, async () => {
      await deployment.query("UPDATE resumable_uploads SET run_until = 0");
      const offset = await sender.offset(path);
      expect(await sender.send(path, offset)).toBe(204);
      return { offset, urlToken: await sender.push([path]) };
    });
    unended.end(other.subarray(0, mebibyte));
    await closed;
    const expected = Buffer.concat([other.subarray(0, offset), bytes.subarray(offset)]);
    for (const _ of ["each", "process"]) await sender.expectFiles(urlToken, ["plan.bin"], expected);
  });

  test("a process that was suspended answers with the offset that the other one has reached", async () => {
    const path = await sender.open("plan.bin");
    const unended = sender.sendUnended(path, 0);
    const answered = answerOf(unended);
    await sender.untilAcknowledged(path);
    await deployment.whileSuspended(0, async () => {
      await deployment.query("UPDATE resumable_uploads SET run_until = 0");
      expect(await sender.send(path, await sender.offset(path))).toBe(204);
    });
    unended.end(bytes.subarray(11 * mebibyte));
    const { statusCode, headers } = await answered;
    expect([statusCode, headers["upload-offset"]]).toEqual([409, String(bytes.length)]);
    await sender.expectFiles(await sender.push([path]), ["plan.bin"]);
  });
});
