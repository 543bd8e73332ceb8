import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/domain.ts";
import { allEndpoints, type KnownPush, retrieve } from "../support/endpoints.ts";
import { readRows } from "../support/engine-database.ts";
import { pausedReader } from "../support/paused-reader.ts";
import { always, type Fault } from "../support/s3/faults.ts";
import { environmentOf, type ObjectStore, startObjectStore } from "../support/s3/object-store.ts";
import { makeSweeper } from "../support/sweeper.ts";

interface Fixture extends AsyncDisposable {
  readonly app: TestApp;
  readonly origin: string;
  readonly store: ObjectStore;
  /** Ends the wait of all retrievals for the store, as their deadline does. */
  passDeadline(): void;
  push(files: readonly Uint8Array<ArrayBuffer>[]): Promise<KnownPush>;
  /** Holds the retries of all requests to the store, until the returned function is called. */
  holdRetries(): () => void;
  /** Retrieves the push. @returns the addresses of its files. */
  claimFiles(push: KnownPush): Promise<readonly string[]>;
  sweep(): ReturnType<ReturnType<typeof makeSweeper>["sweep"]>;
}

async function startFixture(): Promise<Fixture> {
  const store = await startObjectStore();
  const deadline = new AbortController();
  let mayRetry = Promise.resolve();
  const app = await startTestApp({
    environment: { ...environmentOf(store), PWP__FILES__ALLOW_ANONYMOUS: "true" },
    clock: new TestClock(Date.now()),
    effects: { abortAfter: () => deadline.signal, pause: () => mayRetry },
  });
  const origin = await app.listen();
  const sweeper = makeSweeper({ domain: app.app.domain, clock: app.clock });
  return {
    app,
    origin,
    store,
    passDeadline: () => deadline.abort(),
    holdRetries() {
      const { promise, resolve } = Promise.withResolvers<void>();
      mayRetry = promise;
      return resolve;
    },
    async push(files) {
      const form = new FormData();
      const payload = `text-${crypto.randomUUID()}`;
      form.append("push[payload]", payload);
      form.append("push[expire_after_views]", "1");
      for (const bytes of files) form.append("push[files][]", new Blob([bytes]), "secret.bin");
      const created = await fetch(`${origin}/api/v2/pushes`, { method: "POST", body: form });
      expect(created.status).toBe(201);
      return { urlToken: (await created.json()).url_token, payload, views: 1 };
    },
    async claimFiles({ urlToken, payload }) {
      const claimed = await (await fetch(`${origin}/api/v2/pushes/${urlToken}`)).json();
      expect(claimed.payload).toBe(payload);
      return claimed.files.map((file: { url: string }) => file.url);
    },
    async sweep() {
      await sweeper.removeExpiredTickets();
      return await sweeper.sweep();
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const some = (bytes: number) => Uint8Array.from(randomBytes(bytes));

async function expectNothingCounted({ app }: Fixture): Promise<void> {
  const rows = await readRows<{ views: number; refusals: number; ended_at: number | null }>(
    app.app.domain.db,
    "SELECT views, refusals, ended_at FROM pushes",
  );
  expect(rows).toEqual([{ views: 0, refusals: 0, ended_at: null }]);
}

test.each<Fault>(["error", "denied", "reset", "cut", "short", "rotten"])(
  "while the store fails (%s), no endpoint counts the last view, and the push opens afterwards",
  async (fault) => {
    await using fixture = await startFixture();
    const push = await fixture.push([some(1_000), some(100_000)]);
    fixture.store.plan = always(fault, "GetObject");
    for (const endpoint of allEndpoints) {
      expect(await retrieve(endpoint, fixture.origin, push), endpoint.name).toBe("unavailable");
    }
    await expectNothingCounted(fixture);
    fixture.store.plan = () => undefined;
    expect(await fixture.claimFiles(push)).toHaveLength(2);
    expect(fixture.app.logLines.join("")).not.toContain("unexpected_error");
  },
);

test("a retrieval waits for a silent store only until its deadline, and counts no view", async () => {
  await using fixture = await startFixture();
  const push = await fixture.push([some(1_000)]);
  fixture.store.plan = ({ operation }) => {
    if (operation !== "GetObject") return undefined;
    fixture.passDeadline();
    return "silent";
  };
  const refused = await fetch(`${fixture.origin}/api/v2/pushes/${push.urlToken}`);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
  await expectNothingCounted(fixture);
});

test("a retrieval whose client closes the connection while it waits for the store counts no view", async () => {
  await using fixture = await startFixture();
  const push = await fixture.push([some(1_000)]);
  const { server } = fixture.app.server;
  const connections = () => promisify(server.getConnections.bind(server))();
  const others = await connections();
  const release = fixture.holdRetries();
  const asked = Promise.withResolvers<void>();
  fixture.store.plan = ({ operation }) => {
    if (operation !== "GetObject") return undefined;
    asked.resolve();
    return "error";
  };
  const client = await pausedReader(fixture.origin, `/api/v2/pushes/${push.urlToken}`);
  await asked.promise;
  client.destroy();
  await expect.poll(connections).toBe(others);
  fixture.store.plan = () => undefined;
  release();
  await expect.poll(() => fixture.app.logLines.join("")).toContain('"status":499');
  await expectNothingCounted(fixture);
  expect(await fixture.claimFiles(push)).toHaveLength(1);
});

test("a store without the file counts no view, and the log names the file", async () => {
  await using fixture = await startFixture();
  const push = await fixture.push([some(1_000)]);
  const objects = new Map(fixture.store.objects);
  fixture.store.objects.clear();
  const refused = await fetch(`${fixture.origin}/api/v2/pushes/${push.urlToken}`);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
  await expectNothingCounted(fixture);
  const logged = fixture.app.logLines.join("");
  expect(logged).toMatch(/"level":"error".*"event":"file_missing".*"pushId":\d+,"fileId":\d+\}/);
  expect(logged).not.toContain(push.urlToken);
  for (const [path, bytes] of objects) fixture.store.objects.set(path, bytes);
  expect(await fixture.claimFiles(push)).toHaveLength(1);
});

test("a push without files opens while the store is unavailable", async () => {
  await using fixture = await startFixture();
  await fixture.store.close();
  const body = JSON.stringify({ push: { payload: "text", expire_after_views: 1 } });
  const headers = { "content-type": "application/json" };
  const created = await fetch(`${fixture.origin}/api/v2/pushes`, { method: "POST", body, headers });
  expect(await fixture.claimFiles({ urlToken: (await created.json()).url_token, payload: "text", views: 1 })).toEqual(
    [],
  );
});

async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url);
  await answer.arrayBuffer();
  return answer.status;
}

test("all files of a retrieval can still be downloaded after the archive of them has failed to start", async () => {
  await using fixture = await startFixture();
  const contents = [some(1_000), some(2_000), some(3_000)];
  const urls = await fixture.claimFiles(await fixture.push(contents));
  const ticketOf = (url: string) => url.slice(url.lastIndexOf("/") + 1);
  const archive = `${fixture.origin}/files/zip/${urls.map(ticketOf).join(".")}`;
  fixture.store.plan = always("error", "GetObject");
  expect(await statusOf(archive)).toBe(503);
  fixture.app.clock.advance(24 * 60 * minuteMs);
  expect(await fixture.sweep()).toMatchObject({ ticketsResumed: 0 });
  fixture.store.plan = () => undefined;
  expect(await fixture.sweep()).toMatchObject({ ticketsResumed: 3 });
  expect(await statusOf(archive)).toBe(200);
  for (const [at, url] of urls.entries()) {
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(contents[at] ?? some(1))).toBe(true);
  }
  fixture.app.clock.advance(16 * minuteMs);
  expect([await statusOf(archive), await statusOf(urls[2] ?? "")]).toEqual([404, 404]);
});

test("a download that failed to start works for 15 minutes after the store is available again", async () => {
  await using fixture = await startFixture();
  const [first, second] = [some(1_000), some(2_000)];
  const push = await fixture.push([first, second]);
  const [waiting = "", untried = ""] = await fixture.claimFiles(push);
  fixture.store.plan = always("error", "GetObject", "DeleteObject", "ListMultipartUploads");
  expect(await statusOf(waiting)).toBe(503);
  // Days later the store is still unavailable. Without the wait, the files of the ended push would have been deleted by now.
  for (let days = 0; days < 3; days += 1) {
    fixture.app.clock.advance(24 * 60 * minuteMs);
    expect(await fixture.sweep()).toMatchObject({ ticketsResumed: 0 });
  }
  // The recipient had no reason to try the other file of the same retrieval.
  expect([await statusOf(waiting), await statusOf(untried)]).toEqual([503, 503]);
  fixture.store.plan = () => undefined;
  expect(await fixture.sweep()).toMatchObject({ ticketsResumed: 2 });
  fixture.app.clock.advance(14 * minuteMs);
  await fixture.sweep();
  const downloaded = await fetch(waiting);
  expect(Buffer.from(await downloaded.arrayBuffer()).equals(first)).toBe(true);
  expect(Buffer.from(await (await fetch(untried)).arrayBuffer()).equals(second)).toBe(true);
  fixture.app.clock.advance(minuteMs);
  expect([await statusOf(waiting), await statusOf(untried)]).toEqual([404, 404]);
  fixture.app.clock.advance(61 * minuteMs);
  await fixture.sweep();
  expect(fixture.store.objects.size).toBe(0);
  expect(await readRows(fixture.app.app.domain.db, "SELECT * FROM download_tickets")).toEqual([]);
});

test("a download that fails to start is not in the audit trail; one that starts is", async () => {
  await using fixture = await startFixture();
  const authorization = `Bearer ${await fixture.app.makeToken("owner@example.com")}`;
  const form = new FormData();
  form.append("push[files][]", new Blob([some(1_000)]), "secret.bin");
  const request = { method: "POST", body: form, headers: { authorization } };
  const { url_token: urlToken } = await (await fetch(`${fixture.origin}/api/v2/pushes`, request)).json();
  const address = `${fixture.origin}/api/v2/pushes/${urlToken}`;
  const [file] = (await (await fetch(address)).json()).files;
  const kinds = async () => {
    const { logs } = await (await fetch(`${address}/audit`, { headers: { authorization } })).json();
    return logs.map((entry: { kind: string }) => entry.kind);
  };
  fixture.store.plan = always("error", "GetObject");
  expect(await statusOf(file.url)).toBe(503);
  expect(await kinds()).not.toContain("download");
  fixture.store.plan = () => undefined;
  expect(await statusOf(file.url)).toBe(200);
  expect((await kinds()).filter((kind: string) => kind === "download")).toHaveLength(1);
});

test("a download waits for the store for 7 days at most, and then its file is deleted", async () => {
  await using fixture = await startFixture();
  const [url = ""] = await fixture.claimFiles(await fixture.push([some(1_000)]));
  fixture.store.plan = always("error", "GetObject");
  expect(await statusOf(url)).toBe(503);
  for (let days = 0; days < 7; days += 1) {
    fixture.app.clock.advance(24 * 60 * minuteMs);
    expect(await statusOf(url)).toBe(503);
  }
  fixture.app.clock.advance(15 * minuteMs);
  fixture.store.plan = () => undefined;
  expect(await statusOf(url)).toBe(404);
  fixture.app.clock.advance(61 * minuteMs);
  expect(await fixture.sweep()).toMatchObject({ ticketsResumed: 0, blobsDeleted: 1 });
});

test("a person's deletion ends a download that waits for the store, and its file is deleted at once", async () => {
  await using fixture = await startFixture();
  const form = new FormData();
  form.append("push[deletable_by_viewer]", "true");
  form.append("push[expire_after_views]", "2");
  form.append("push[files][]", new Blob([some(1_000)]), "secret.bin");
  const created = await (await fetch(`${fixture.origin}/api/v2/pushes`, { method: "POST", body: form })).json();
  const address = `${fixture.origin}/api/v2/pushes/${created.url_token}`;
  const [file] = (await (await fetch(address)).json()).files;
  fixture.store.plan = always("error", "GetObject");
  expect(await statusOf(file.url)).toBe(503);
  expect((await fetch(address, { method: "DELETE" })).status).toBe(200);
  fixture.store.plan = () => undefined;
  expect(await statusOf(file.url)).toBe(404);
  expect(await fixture.sweep()).toMatchObject({ blobsDeleted: 1 });
});
