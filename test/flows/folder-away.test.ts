import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dayMs, minuteMs } from "../../src/base/clock.ts";
import { markerName } from "../../src/blobs/file-blob-store.ts";
import { startTestApp } from "../support/app.ts";
import { TestClock } from "../support/domain.ts";
import { readRows } from "../support/engine-database.ts";
import { makeSweeper } from "../support/sweeper.ts";

async function startFixture() {
  const limit = { signal: new AbortController().signal };
  const app = await startTestApp({
    environment: { PWP__FILES__ALLOW_ANONYMOUS: "true" },
    clock: new TestClock(Date.now()),
    effects: { abortAfter: () => limit.signal },
  });
  const origin = await app.listen();
  const blobs = join(app.dataDir, "blobs");
  const sweeper = makeSweeper({ domain: app.app.domain, clock: app.clock });
  const create = () => {
    const form = new FormData();
    form.append("push[expire_after_views]", "1");
    form.append("push[files][]", new Blob(["content"]), "secret.bin");
    return fetch(`${origin}/api/v2/pushes`, { method: "POST", body: form });
  };
  return {
    app,
    origin,
    blobs,
    limit,
    create,
    async sweep() {
      await sweeper.removeExpiredTickets();
      return await sweeper.sweep();
    },
    unmount: () => renameSync(blobs, `${blobs}-away`),
    mount: () => {
      rmSync(blobs, { recursive: true, force: true });
      renameSync(`${blobs}-away`, blobs);
    },
    push: async (): Promise<string> => `${origin}/api/v2/pushes/${(await (await create()).json()).url_token}`,
    views: async () => (await readRows<{ views: number }>(app.app.domain.db, "SELECT views FROM pushes"))[0]?.views,
    logged: () => app.logLines.join(""),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const outcome = (answer: Response) => [answer.status, answer.headers.get("retry-after")];

test("while the folder of the files is not mounted, no view is counted, no file is taken, and none counts as lost", async () => {
  await using fixture = await startFixture();
  const push = await fixture.push();
  fixture.unmount();
  expect(outcome(await fetch(push))).toEqual([503, "60"]);
  expect(outcome(await fixture.create())).toEqual([503, "60"]);
  expect(await fixture.views()).toBe(0);
  expect(fixture.logged()).not.toContain("file_missing");
  expect(fixture.logged()).not.toContain("unexpected_error");
  expect(fixture.logged()).toContain("NOT_MOUNTED");
  fixture.mount();
  const { files } = await (await fetch(push)).json();
  expect(await (await fetch(files[0].url)).text()).toBe("content");
});

test("while the folder of the files is not mounted, downloads wait for it, and deletions are tried again", async () => {
  await using fixture = await startFixture();
  const push = await fixture.push();
  const { files } = await (await fetch(push)).json();
  fixture.unmount();
  expect(outcome(await fetch(files[0].url))).toEqual([503, "60"]);
  fixture.app.clock.advance(dayMs);
  expect(await fixture.sweep()).toMatchObject({ ticketsResumed: 0, blobsDeleted: 0 });
  fixture.mount();
  expect(await fixture.sweep()).toMatchObject({ ticketsResumed: 1 });
  expect(await (await fetch(files[0].url)).text()).toBe("content");
  // The push has ended: its file is due for deletion, but the folder is away again.
  fixture.app.clock.advance(90 * minuteMs);
  fixture.unmount();
  expect(await fixture.sweep()).toMatchObject({ blobsDeleted: 0 });
  fixture.mount();
  fixture.app.clock.advance(minuteMs);
  expect(await fixture.sweep()).toMatchObject({ blobsDeleted: 1 });
  expect((await fixture.create()).status).toBe(201);
});

test("an upload whose folder goes away meanwhile is refused with 503, and continues at once when it is back", async () => {
  await using fixture = await startFixture();
  const headers = { "tus-resumable": "1.0.0", "sec-fetch-site": "same-origin" };
  const bytes = Buffer.alloc(100_000, 7);
  const opened = await fetch(`${fixture.origin}/uploads`, {
    method: "POST",
    headers: { ...headers, "upload-length": String(bytes.length) },
  });
  const upload = `${fixture.origin}${opened.headers.get("location")}`;
  const partHeaders = { ...headers, "content-type": "application/offset+octet-stream", "upload-offset": "0" };
  const part = request(upload, { method: "PATCH", headers: { ...partHeaders, "content-length": bytes.length } });
  const answered = once(part, "response");
  part.write(bytes.subarray(0, 90_000));
  const unfinished = () => readdirSync(fixture.blobs, { recursive: true, encoding: "utf8" });
  await expect.poll(() => unfinished().some((name) => name.endsWith(".part"))).toBe(true);
  fixture.unmount();
  part.end(bytes.subarray(90_000));
  const [refused] = await answered;
  expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([503, "60"]);
  expect(fixture.logged()).not.toContain("unexpected_error");
  fixture.mount();
  const again = await fetch(upload, { method: "PATCH", headers: partHeaders, body: bytes });
  expect([again.status, again.headers.get("upload-offset")]).toEqual([204, String(bytes.length)]);
});

test("a retrieval and a download wait for a disk that hangs only until their deadline, and count no view", async () => {
  await using fixture = await startFixture();
  const { files } = await (await fetch(await fixture.push())).json();
  const push = await fixture.push();
  // Opening a pipe hangs until somebody opens its other end.
  const pipes = readdirSync(fixture.blobs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== markerName)
    .map((entry) => join(entry.parentPath, entry.name));
  expect(pipes).toHaveLength(2);
  for (const pipe of pipes) {
    rmSync(pipe);
    execFileSync("mkfifo", [pipe]);
  }
  using _ = {
    [Symbol.dispose]() {
      for (const pipe of pipes) closeSync(openSync(pipe, constants.O_RDWR));
    },
  };
  const deadline = new AbortController();
  fixture.limit.signal = deadline.signal;
  const answers = Promise.all([fetch(push), fetch(files[0].url)]);
  // Passwords are hashed on the threads that wait for files.
  await fixture.app.makeToken("owner@example.com");
  deadline.abort();
  expect((await answers).map(outcome)).toEqual([
    [503, "60"],
    [503, "60"],
  ]);
  expect(await readRows(fixture.app.app.domain.db, "SELECT views FROM pushes ORDER BY id")).toEqual([
    { views: 1 },
    { views: 0 },
  ]);
});
