import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ClockTrust } from "../../src/base/clock-trust.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { Canaries } from "../support/canaries.ts";
import { TestClock } from "../support/domain.ts";
import { always } from "../support/s3/faults.ts";
import { startForeignStore } from "../support/s3/foreign-store.ts";
import { environmentOf, type ObjectStore, startObjectStore } from "../support/s3/object-store.ts";
import { earnedTrust, makeSweeper } from "../support/sweeper.ts";

const owner = "owner@example.com";

interface Fixture extends AsyncDisposable {
  readonly app: TestApp;
  readonly origin: string;
  push(bytes: Uint8Array<ArrayBuffer>): Promise<Response>;
  /** Download addresses of the files of a new push. */
  urlsOf(created: Response): Promise<readonly string[]>;
  /** With a clock that is trusted unless the test passes another trust. */
  sweep(clockTrust?: ClockTrust): Promise<number>;
}

/** The store checks the time of each request, so the test's clock starts at the real time. */
async function startFixture(environment: Readonly<Record<string, string>>): Promise<Fixture> {
  const app = await startTestApp({ environment, clock: new TestClock(Date.now()) });
  const origin = await app.listen();
  const authorization = `Bearer ${await app.makeToken(owner)}`;
  return {
    app,
    origin,
    async push(bytes) {
      const form = new FormData();
      form.append("push[files][]", new Blob([bytes]), "secret.bin");
      return await fetch(`${origin}/api/v2/pushes`, { method: "POST", body: form, headers: { authorization } });
    },
    async urlsOf(created) {
      const { url_token: token } = await created.json();
      const { files } = await (await fetch(`${origin}/api/v2/pushes/${token}`)).json();
      return files.map((file: { url: string }) => file.url);
    },
    async sweep(clockTrust = earnedTrust()) {
      return (await makeSweeper({ domain: app.app.domain, clock: app.clock }, { clockTrust }).sweep()).blobsDeleted;
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe("files of a server whose settings name a bucket", () => {
  test("are stored only there, can be downloaded whole and in ranges, and are deleted with the push", async () => {
    const store = await startForeignStore();
    await using fixture = await startFixture(store.environment);
    const content = Uint8Array.from(randomBytes(7_000_000));
    const created = await fixture.push(content);
    expect(created.status).toBe(201);
    const { url_token: token } = await created.clone().json();
    expect([...store.objects().keys()]).toEqual([expect.stringMatching(/^([0-9a-f]{2})\/\1[0-9a-f]{30}$/)]);
    expect(existsSync(join(fixture.app.dataDir, "blobs"))).toBe(false);

    const [url = ""] = await fixture.urlsOf(created);
    const whole = await fetch(url, { redirect: "error" });
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
    const part = await fetch(url, { headers: { range: "bytes=5242870-5242890" }, redirect: "error" });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(5_242_870, 5_242_891))).toBe(true);
    expect(new URL(url).origin).toBe(fixture.origin);

    await fetch(`${fixture.origin}/api/v2/pushes/${token}`, { method: "DELETE" });
    expect((await fetch(url)).status).toBe(404);
    expect(await fixture.sweep()).toBe(1);
    expect([...store.objects().keys()]).toEqual([]);
  });

  test("reveal neither content nor name to a thief of the bucket", async () => {
    const store = await startForeignStore();
    await using fixture = await startFixture(store.environment);
    const canaries = new Canaries();
    const secret = canaries.make("content");
    canaries.add("file name", "secret.bin-secret.bin");
    expect((await fixture.push(Uint8Array.from(Buffer.from(secret.repeat(1_000))))).status).toBe(201);
    const stolen = Buffer.concat([...store.files()].flatMap(([name, bytes]) => [Buffer.from(name), bytes]));
    expect(stolen.length).toBeGreaterThan(secret.length * 1_000);
    expect(canaries.findingsIn(stolen)).toEqual([]);
    expect(stolen.includes("secret.bin")).toBe(false);
  });
});

describe("when the object store fails", () => {
  async function startWithStore(): Promise<Fixture & { readonly store: ObjectStore }> {
    const store = await startObjectStore();
    return Object.assign(await startFixture(environmentOf(store)), { store });
  }
  const some = (bytes: number) => Uint8Array.from(randomBytes(bytes));

  test("creating a push with files gets 503 with Retry-After, without details, and leaves nothing behind", async () => {
    await using fixture = await startWithStore();
    fixture.store.plan = always("error", "PutObject", "UploadPart");
    for (const bytes of [1_000, 6_000_000]) {
      const refused = await fixture.push(some(bytes));
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
      expect(await refused.text()).not.toMatch(/S3|object store|127\.0\.0\.1:(?!\d*\/)|sealed-files|InternalError/);
    }
    fixture.store.plan = () => undefined;
    await fixture.sweep();
    expect([fixture.store.objects.size, fixture.store.uploads.size]).toEqual([0, 0]);
    expect((await fixture.push(some(1_000))).status).toBe(201);
    const logged = fixture.app.logLines.join("\n");
    expect(logged).toContain("refused_unavailable");
    expect(logged).toContain("InternalError");
    expect(logged).not.toMatch(/ACCESSKEYOFTHETEST|secret\/key|AWS4-HMAC/);
  });

  test("remains of an upload to an unavailable store are deleted once it is available again", async () => {
    await using fixture = await startWithStore();
    fixture.store.plan = always("error", "UploadPart", "AbortMultipartUpload", "DeleteObject");
    expect((await fixture.push(some(11_000_000))).status).toBe(503);
    expect(fixture.store.uploads.size).toBe(1);
    expect(await fixture.sweep()).toBe(0);
    fixture.store.plan = () => undefined;
    fixture.app.clock.advance(60_000);
    expect(await fixture.sweep()).toBe(1);
    expect(fixture.store.uploads.size).toBe(0);
  });

  test("a file that a person deleted is tried again after a start, before the clock is trusted", async () => {
    await using fixture = await startWithStore();
    const { url_token: token } = await (await fixture.push(some(1_000))).json();
    fixture.store.plan = always("error", "DeleteObject");
    await fetch(`${fixture.origin}/api/v2/pushes/${token}`, { method: "DELETE" });
    expect(await fixture.sweep(new ClockTrust(fixture.app.clock, () => 0))).toBe(0);
    fixture.store.plan = () => undefined;
    fixture.app.clock.advance(60_000);
    expect(await fixture.sweep(new ClockTrust(fixture.app.clock, () => 0))).toBe(1);
    expect(fixture.store.objects.size).toBe(0);
  });

  test("a download is refused at its start or cut off, and works again afterwards", async () => {
    await using fixture = await startWithStore();
    const content = some(3_000_000);
    const [url = ""] = await fixture.urlsOf(await fixture.push(content));
    fixture.store.plan = always("error", "GetObject");
    const refused = await fetch(url);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
    let gets = 0;
    fixture.store.plan = ({ operation }) => {
      if (operation !== "GetObject") return undefined;
      gets += 1;
      return gets === 1 ? "cut" : "error";
    };
    const torn = await fetch(url);
    expect(torn.status).toBe(200);
    await expect(torn.arrayBuffer()).rejects.toThrow();
    fixture.store.plan = () => undefined;
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true);
  });

  test("a file missing in the store is gone for recipients and reported in the log", async () => {
    await using fixture = await startWithStore();
    const [url = ""] = await fixture.urlsOf(await fixture.push(some(1_000)));
    fixture.store.objects.clear();
    for (const range of [{}, { range: "bytes=5-" }]) expect((await fetch(url, { headers: range })).status).toBe(404);
    const logged = fixture.app.logLines.join("");
    expect(logged.match(/"level":"error".*"event":"file_missing".*"pushId":\d+,"fileId":\d+\}/g)).toHaveLength(2);
    expect(logged).not.toContain("unexpected_error");
    for (const part of new URL(url).pathname.split("/").slice(2)) expect(logged).not.toContain(part);
  });

  test("a file lost during its download cuts the connection, so that it cannot look complete", async () => {
    await using fixture = await startWithStore();
    const [url = ""] = await fixture.urlsOf(await fixture.push(some(3_000_000)));
    let gets = 0;
    fixture.store.plan = ({ operation }) => {
      if (operation !== "GetObject") return undefined;
      gets += 1;
      if (gets === 1) return "cut";
      fixture.store.objects.clear();
      return undefined;
    };
    const torn = await fetch(url);
    expect(torn.status).toBe(200);
    await expect(torn.arrayBuffer()).rejects.toThrow();
    expect(fixture.app.logLines.join("")).toContain("download_broken");
  });

  test("changed bytes in the store are never sent", async () => {
    await using fixture = await startWithStore();
    const [url = ""] = await fixture.urlsOf(await fixture.push(some(1_000)));
    fixture.store.plan = always("rotten", "GetObject");
    const refused = await fetch(url);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
    const logged = fixture.app.logLines.join("");
    expect(logged).toMatch(/"level":"error".*"event":"file_damaged".*"pushId":\d+,"fileId":\d+\}/);
    expect(logged).not.toContain("unexpected_error");
  });

  test("text pushes still work", async () => {
    await using fixture = await startWithStore();
    await fixture.store.close();
    const body = JSON.stringify({ push: { payload: "text" } });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${fixture.origin}/api/v2/pushes`, { method: "POST", body, headers })).status).toBe(201);
  });
});
