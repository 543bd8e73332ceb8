import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { createPush, endpoints, type KnownPush, postJson, retrieve } from "../support/endpoints.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { newDataDir } from "../support/processes.ts";
import { startServer } from "../support/server.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

async function start(environment: Readonly<Record<string, string>>) {
  const { url } = await makePostgresDatabase();
  const { baseUrl } = await startServer({ dataDir: newDataDir(), environment: { DATABASE_URL: url, ...environment } });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return { baseUrl, client };
}

describe("while the database is busy", () => {
  it("a claim that waits too long for a row gets 503 and counts no view", async () => {
    const { baseUrl, client } = await start({ PWP__DATABASE__LOCK_TIMEOUT: "1" });
    const push = await createPush(baseUrl, { payload: "worth waiting for", expire_after_views: 1 });
    await client.query("BEGIN");
    await client.query("SELECT * FROM pushes FOR UPDATE");
    const answer = await endpoints.apiV2(baseUrl, push.urlToken);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await answer.text()).not.toContain(push.payload);
    // Other pushes are served meanwhile: only one row is locked.
    const other = await createPush(baseUrl, { payload: "another", expire_after_views: 1 });
    expect(await retrieve(endpoints.step, baseUrl, other)).toBe("payload");
    await client.query("COMMIT");
    expect((await client.query("SELECT views, ended_at FROM pushes WHERE views = 0")).rowCount).toBe(1);
    expect(await retrieve(endpoints.apiV2, baseUrl, push)).toBe("payload");
    expect(await retrieve(endpoints.apiV2, baseUrl, push)).toBe("gone");
  });

  it("five hundred concurrent requests on two connections are answered, and no acknowledged push is lost", async () => {
    const { baseUrl } = await start({ PWP__DATABASE__POOL_SIZE: "2", PWP__DATABASE__CONNECT_TIMEOUT: "60" });
    const made: KnownPush[] = [];
    const refusals: (string | null)[] = [];
    const create = async (at: number) => {
      const push = { payload: `burst ${at}`, expire_after_views: 1 };
      const answer = await postJson(`${baseUrl}/api/v2/pushes`, { push });
      const body = (await answer.json()) as { url_token: string };
      if (answer.status === 201) made.push({ urlToken: body.url_token, payload: push.payload, views: 1 });
      else if (answer.status === 503) refusals.push(answer.headers.get("retry-after"));
      else throw new Error(`A creation was answered ${answer.status}.`);
    };
    await Promise.all(Array.from({ length: 500 }, (_, at) => create(at)));
    expect(made.length + refusals.length).toBe(500);
    expect(refusals.every((seconds) => seconds === "2")).toBe(true);
    // The maximum number of requests that run or wait.
    expect(made.length).toBeGreaterThanOrEqual(400);
    const results = await Promise.all(made.slice(0, 200).map((push) => retrieve(endpoints.apiV2, baseUrl, push)));
    expect(new Set(results)).toEqual(new Set(["payload"]));
    expect((await fetch(`${baseUrl}/ready`)).status).toBe(200);
  });
});

describe("while packets to the database vanish", () => {
  async function startBehindProxy(environment: Readonly<Record<string, string>>) {
    const { url } = await makePostgresDatabase();
    const proxy = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    const { baseUrl } = await start({ DATABASE_URL: proxy.url(url), ...environment });
    return { baseUrl, proxy };
  }

  it("on all connections, a request gets 503 after its time for the database, however long it may wait for each step", async () => {
    const environment = { PWP__DATABASE__STATEMENT_TIMEOUT: "1", PWP__DATABASE__CONNECT_TIMEOUT: "600" };
    const { baseUrl, proxy } = await startBehindProxy(environment);
    const push = await createPush(baseUrl, { payload: "x", expire_after_views: 2 });
    proxy.stall();
    const answers = await Promise.all([
      endpoints.apiV2(baseUrl, push.urlToken),
      postJson(`${baseUrl}/api/v2/pushes`, { push: { payload: "y" } }),
    ]);
    expect(answers.map(({ status, headers }) => [status, headers.get("retry-after")])).toEqual([
      [503, "2"],
      [503, "2"],
    ]);
    proxy.heal();
  });

  it("on existing connections, requests are served on new ones", async () => {
    const environment = { PWP__DATABASE__STATEMENT_TIMEOUT: "600", PWP__DATABASE__CONNECT_TIMEOUT: "600" };
    const { baseUrl, proxy } = await startBehindProxy(environment);
    const push = await createPush(baseUrl, { payload: "served all the same", expire_after_views: 1 });
    proxy.stallOpen();
    expect(await retrieve(endpoints.apiV2, baseUrl, push)).toBe("payload");
    expect(await retrieve(endpoints.apiV2, baseUrl, push)).toBe("gone");
  });
});
