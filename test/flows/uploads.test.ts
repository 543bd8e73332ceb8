import { type ClientRequest, request as httpRequest } from "node:http";
import { makeLinkKey } from "@sealpush/age/link-key";
import { sealText } from "@sealpush/age/seal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { patternBytes } from "../../src/crypto/stream-test-support.ts";
import { en } from "../../src/i18n/i18n.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { environmentOf, launchObjectStore } from "../support/s3/object-store.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const segmentBytes = 65_536;
const mebibyte = 1024 ** 2;
const bytesMax = 10 * mebibyte;

describe.each(["disk", "S3"])("with files on %s", (storage) => {
  let app: TestApp;
  let ada: SignedInClient;
  let eve: SignedInClient;
  let origin: string;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const inBucket = storage === "S3" ? environmentOf(await launchObjectStore((end) => ends.push(end))) : {};
    app = await startTestApp({ environment: { ...inBucket, PWP__FILES__MAX_PUSH_BYTES: String(bytesMax) } });
    origin = await app.listen();
    ada = await signInClient(app, "ada@example.com", { join: true });
    eve = await signInClient(app, "eve@example.com", { join: true });
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
    for (const end of ends) await end();
  });

  interface Sent {
    readonly method: "OPTIONS" | "POST" | "HEAD" | "PATCH" | "DELETE";
    readonly url?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly payload?: Buffer;
    readonly by?: SignedInClient | null;
  }

  async function ask({ method, url = "/uploads", headers = {}, payload, by = ada }: Sent) {
    return await app.server.inject({
      method,
      url,
      headers: {
        "sec-fetch-site": "same-origin",
        "tus-resumable": "1.0.0",
        ...(by !== null && { cookie: by.cookie() }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    });
  }

  const inBase64 = (text: string) => Buffer.from(text).toString("base64");

  async function open(bytes: number, type = "application/pdf"): Promise<string> {
    const metadata = `filename ${inBase64("Pläne.pdf")},filetype ${inBase64(type)}`;
    const answer = await ask({
      method: "POST",
      headers: { "upload-length": String(bytes), "upload-metadata": metadata },
    });
    expect(answer.statusCode).toBe(201);
    return String(answer.headers.location);
  }

  const part = (url: string, offset: number, payload: Buffer, more: Partial<Sent> = {}) =>
    ask({
      method: "PATCH",
      url,
      payload,
      ...more,
      headers: { "content-type": "application/offset+octet-stream", "upload-offset": String(offset), ...more.headers },
    });

  const addressOf = (url: string) => url.slice("/uploads/".length);

  async function createPush(urls: readonly string[], by = ada) {
    const form = new FormData();
    form.set("push[kind]", "file");
    for (const url of urls) form.append("push[uploads][]", addressOf(url));
    return await sendForm(form, by);
  }

  async function sendForm(form: FormData, by = ada) {
    const { payload, headers } = await encode(form);
    return await app.server.inject({
      method: "POST",
      url: "/p",
      headers: { ...headers, "sec-fetch-site": "same-origin", cookie: by.cookie() },
      payload,
    });
  }

  async function expectFile(made: Awaited<ReturnType<typeof createPush>>, bytes: Buffer): Promise<void> {
    expect(made.statusCode).toBe(303);
    const urlToken = /\/p\/([^/?]+)/.exec(String(made.headers.location))?.[1];
    const opened = await app.server.inject({ method: "GET", url: `/api/v2/pushes/${urlToken}` });
    const [file] = opened.json().files;
    expect(file).toMatchObject({ filename: "Pläne.pdf", content_type: "application/pdf" });
    const download = await app.server.inject({ method: "GET", url: new URL(file.url).pathname });
    expect(download.rawPayload.equals(bytes)).toBe(true);
  }

  /** Sends the first bytes of a part that does not end. */
  function sendUnended(url: string, bytes: Buffer, end: number): ClientRequest {
    const headers = {
      cookie: ada.cookie(),
      "sec-fetch-site": "same-origin",
      "tus-resumable": "1.0.0",
      "content-type": "application/offset+octet-stream",
      "upload-offset": "0",
      "content-length": String(bytes.length),
    };
    const request = httpRequest(`${origin}${url}`, { method: "PATCH", headers });
    request.on("error", () => undefined);
    request.write(bytes.subarray(0, end));
    return request;
  }

  const offsetOf = async (url: string) => Number((await ask({ method: "HEAD", url })).headers["upload-offset"]);

  async function encode(form: FormData) {
    const request = new Request("http://127.0.0.1/", { method: "POST", body: form });
    const headers = { "content-type": request.headers.get("content-type") ?? "" };
    return { headers, payload: Buffer.from(await request.arrayBuffer()) };
  }

  describe("a file in several requests", () => {
    test("is refused as sealed if it is not, stays for the next attempt, and is taken if it begins as a sealed one", async () => {
      const plain = patternBytes(segmentBytes + 7);
      const sealed = Buffer.concat([Buffer.from("age-encryption.org/v1\n"), plain]);
      for (const [bytes, status] of [
        [plain, 422],
        [sealed, 303],
      ] as const) {
        const url = await open(bytes.length);
        await part(url, 0, bytes);
        const form = new FormData();
        form.set("push[kind]", "file");
        form.append("push[uploads][]", addressOf(url));
        form.set("push[encryption]", "age");
        form.set("push[payload]", await sealText("x", (await makeLinkKey()).recipient, ""));
        const answer = await sendForm(form);
        expect([answer.statusCode, answer.body.includes('href="#push_files"')]).toEqual([status, status === 422]);
        if (status === 303) continue;
        expect(answer.body).toContain(en.problems.filesUnusable);
        await expectFile(await createPush([url]), bytes);
      }
    });

    test("is described by OPTIONS", async () => {
      expect((await ask({ method: "OPTIONS", headers: { "tus-resumable": "" } })).headers).toMatchObject({
        "tus-version": "1.0.0",
        "tus-extension": "creation,expiration,termination",
        "tus-max-size": String(bytesMax),
      });
    });

    test("is sent from the acknowledged offset on, and becomes a file of the push that names it", async () => {
      const bytes = patternBytes(3 * segmentBytes - 5);
      const url = await open(bytes.length);
      expect(url).toMatch(/^\/uploads\/[\w-]{43}$/);
      const first = await part(url, 0, bytes.subarray(0, 100_000));
      expect([first.statusCode, first.headers["upload-offset"]]).toEqual([204, String(segmentBytes)]);
      expect(Date.parse(String(first.headers["upload-expires"]))).toBeGreaterThan(0);
      const head = await ask({ method: "HEAD", url });
      expect([head.statusCode, head.headers["upload-offset"], head.headers["upload-length"]]).toEqual([
        200,
        String(segmentBytes),
        String(bytes.length),
      ]);
      expect(head.headers["cache-control"]).toBe("no-store");
      const stale = await part(url, 0, bytes);
      expect([stale.statusCode, stale.headers["upload-offset"]]).toEqual([409, String(segmentBytes)]);
      expect((await createPush([url])).statusCode).toBe(422);
      const last = await part(url, segmentBytes, bytes.subarray(segmentBytes));
      expect([last.statusCode, last.headers["upload-offset"]]).toEqual([204, String(bytes.length)]);

      await expectFile(await createPush([url]), bytes);
      expect((await ask({ method: "HEAD", url })).statusCode).toBe(404);
      expect((await createPush([url])).statusCode).toBe(422);
    });

    test("whose connection breaks continues with what has arrived", async () => {
      const bytes = patternBytes(bytesMax);
      const url = await open(bytes.length);
      const sending = sendUnended(url, bytes, bytes.length - 10);
      await expect.poll(() => offsetOf(url)).toBeGreaterThan(0);
      expect((await part(url, 0, bytes)).statusCode).toBe(423);
      sending.destroy();
      const continued = async () => {
        const offset = await offsetOf(url);
        return (await part(url, offset, bytes.subarray(offset))).statusCode;
      };
      await expect.poll(continued).toBe(204);
      await expectFile(await createPush([url]), bytes);
    });

    test("may be empty", async () => {
      expect((await createPush([await open(0)])).statusCode).toBe(303);
    });

    test.each(["", "garbage", "application/octet-stream"])(
      "of type %j has the type that its name implies",
      async (type) => {
        const url = await open(3, type);
        await part(url, 0, Buffer.from("PDF"));
        await expectFile(await createPush([url]), Buffer.from("PDF"));
      },
    );

    test("and a file of the form have no more bytes together than a push may have", async () => {
      const url = await open(bytesMax);
      await part(url, 0, patternBytes(bytesMax));
      const form = new FormData();
      form.set("push[kind]", "file");
      form.append("push[uploads][]", addressOf(url));
      form.append("push[files][]", new Blob(["x"]), "one more byte");
      expect((await sendForm(form)).statusCode).toBe(413);
      expect((await ask({ method: "DELETE", url })).statusCode).toBe(204);
    });

    test("is gone after DELETE", async () => {
      const url = await open(10);
      expect((await ask({ method: "DELETE", url })).statusCode).toBe(204);
      for (const method of ["DELETE", "HEAD"] as const) expect((await ask({ method, url })).statusCode).toBe(404);
      expect((await part(url, 0, patternBytes(10))).statusCode).toBe(404);
    });

    test("is refused with what to mend", async () => {
      const url = await open(10);
      const sized = (length: string) => ask({ method: "POST", headers: { "upload-length": length } });
      for (const length of ["", "-1", "1e3", "9".repeat(16)]) expect((await sized(length)).statusCode).toBe(400);
      expect((await sized(String(bytesMax + 1))).statusCode).toBe(413);
      const older = await ask({ method: "HEAD", url, headers: { "tus-resumable": "0.2.2" } });
      expect([older.statusCode, older.headers["tus-version"]]).toEqual([412, "1.0.0"]);
      const typed = { headers: { "content-type": "application/octet-stream" } };
      expect((await part(url, 0, patternBytes(10), typed)).statusCode).toBe(415);
      const compressed = { headers: { "content-encoding": "gzip" } };
      expect((await part(url, 0, patternBytes(10), compressed)).statusCode).toBe(415);
      expect(await offsetOf(url)).toBe(0);
      expect((await part(url, 0, patternBytes(11))).statusCode).toBe(400);
    });
  });

  describe("the address of an upload", () => {
    test("opens nothing to other users, to nobody, and to other sites", async () => {
      const url = await open(10);
      for (const by of [eve, null]) {
        const statuses = [
          (await ask({ method: "HEAD", url, by })).statusCode,
          (await part(url, 0, patternBytes(10), { by })).statusCode,
          (await ask({ method: "DELETE", url, by })).statusCode,
        ];
        expect(statuses).toEqual([404, 404, 404]);
      }
      const headers = { "sec-fetch-site": "cross-site" };
      expect((await part(url, 0, patternBytes(10), { headers })).statusCode).toBe(403);
      expect((await ask({ method: "DELETE", url, headers })).statusCode).toBe(403);
      expect((await ask({ method: "POST", headers: { ...headers, "upload-length": "1" } })).statusCode).toBe(403);
      expect((await ask({ method: "POST", headers: { "upload-length": "1" }, by: null })).statusCode).toBe(401);
      await part(url, 0, patternBytes(10));
      expect((await createPush([url], eve)).statusCode).toBe(422);
      expect((await createPush([url])).statusCode).toBe(303);
    });

    test("and files of the form are in the order of the form", async () => {
      const form = new FormData();
      form.set("push[kind]", "file");
      for (const sent of ["first", "third"]) {
        const url = await open(sent.length);
        await part(url, 0, Buffer.from(sent));
        form.append("push[uploads][]", addressOf(url));
        form.append("push[files][]", new Blob([`after ${sent}`]), `after ${sent}`);
      }
      const made = await sendForm(form);
      const urlToken = /\/p\/([^/?]+)/.exec(String(made.headers.location))?.[1];
      const { files } = (await app.server.inject({ url: `/api/v2/pushes/${urlToken}` })).json();
      const contents = files.map(
        async (file: { readonly url: string }) => (await app.server.inject({ url: new URL(file.url).pathname })).body,
      );
      expect(await Promise.all(contents)).toEqual(["first", "after first", "third", "after third"]);
    });

    test("is in no log line", async () => {
      const url = await open(10);
      await part(url, 0, patternBytes(10));
      await part(url, 5, patternBytes(5));
      await createPush([url]);
      await ask({ method: "DELETE", url });
      expect(app.logLines.filter((line) => line.includes(addressOf(url)))).toEqual([]);
    });
  });
});
