import { describe, expect, it, onTestFinished } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { makeGroup } from "../support/groups.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

/** Tables of the domain. Other statements are the process's own, such as request counters or reading the theme. */
const ofRequests = /\b(pushes|row_secrets|payloads|files|audit_entries|api_tokens|users|policies|presets)\b/;
/** Statements of the sweeper and the mail job, and those that measure the used space. */
const ofJobs = /SKIP LOCKED|\boutbox\b|\bdeparted_owners\b|FROM view_notifications|sum\(stored_bytes\)/;

interface Fixture {
  readonly app: TestApp;
  ask(method: "GET" | "POST", path: string, wish?: Wish): Promise<Asked>;
  /** @returns the first word of each statement that the work executed. */
  statementsOf(work: () => Promise<void>): Promise<readonly string[]>;
}

interface Wish {
  readonly push?: Readonly<Record<string, unknown>>;
  readonly token?: string;
}

interface Asked {
  readonly status: number;
  readonly urlToken: string;
  readonly statements: readonly string[];
}

async function open(): Promise<Fixture> {
  const { url } = await makePostgresDatabase();
  const proxy = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
  const app = await startTestApp({ environment: { DATABASE_URL: proxy.url(url) } });
  onTestFinished(async () => {
    await app[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  let statements: string[] = [];
  proxy.intercept((statement) => {
    if (ofRequests.test(statement) && !ofJobs.test(statement))
      statements.push(statement.trim().split(/\s/, 1)[0] ?? "");
    return "pass";
  });
  const statementsOf = async (work: () => Promise<void>) => {
    statements = [];
    await work();
    return statements;
  };
  return {
    app,
    statementsOf,
    async ask(method, path, { push, token } = {}) {
      let asked = { status: 0, urlToken: "" };
      const taken = await statementsOf(async () => {
        const { statusCode, payload } = await app.server.inject({
          method,
          url: `/api/v2/pushes${path}`,
          ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
          ...(push !== undefined && { payload: { push } }),
        });
        const { url_token: urlToken = "" } = JSON.parse(payload) as { url_token?: string };
        asked = { status: statusCode, urlToken };
      });
      return { ...asked, statements: taken };
    },
  };
}

const read = "SELECT";
/** One statement with several parts, which is atomic. */
const write = "WITH";

describe("over the network to the database", () => {
  it("creating a push takes one round trip and retrieving it two, also for the last view", async () => {
    const { ask } = await open();
    // The first creation of a process reserves a block of ids.
    await ask("POST", "", { push: { payload: "x" } });
    const { status, urlToken, statements } = await ask("POST", "", { push: { payload: "x", expire_after_views: 2 } });
    expect([status, statements]).toEqual([201, [write]]);
    for (let view = 1; view <= 2; view += 1) {
      expect(await ask("GET", `/${urlToken}`)).toMatchObject({ status: 200, statements: [read, write] });
    }
    expect(await ask("GET", `/${urlToken}`)).toMatchObject({ status: 200, statements: [read, read] });
  });

  it("creating an owned push takes one more read, for the token", async () => {
    const { app, ask } = await open();
    const token = await app.makeToken("ada@example.com");
    // The time of last use of a token is recorded at intervals only.
    await ask("POST", "", { push: { payload: "x" }, token });
    const made = await ask("POST", "", { push: { payload: "x", expire_after_views: 2, name: "n", note: "n" }, token });
    expect(made).toMatchObject({ status: 201, statements: [read, write] });
    for (let view = 1; view <= 2; view += 1) {
      expect(await ask("GET", `/${made.urlToken}`)).toMatchObject({ status: 200, statements: [read, write] });
    }
    for (const list of ["/active", "/expired"]) {
      expect(await ask("GET", list, { token })).toMatchObject({ status: 200, statements: [read, read] });
    }
    expect(await ask("GET", `/${made.urlToken}/audit`, { token })).toMatchObject({ statements: [read, read, read] });
  });

  it("a creation under rules reads them in one statement, and again only after half a second", async () => {
    const { app, ask } = await open();
    const token = await app.makeToken("ada@example.com");
    const { id = 0 } = (await app.app.domain.accounts.findUserByEmail("ada@example.com")) ?? {};
    for (const name of ["First", "Second"]) await makeGroup(app, name, [id], { rules: { maxViews: 3 } });
    const create = (push: object = {}) => ask("POST", "", { push: { payload: "x", ...push }, token });
    await create();
    app.clock.advance(500);
    expect(await create()).toMatchObject({ status: 201, statements: [read, read, write] });
    expect(await create()).toMatchObject({ status: 201, statements: [read, write] });
    expect(await create({ expire_after_views: 4 })).toMatchObject({ status: 422, statements: [read] });
    app.clock.advance(499);
    const { status, urlToken, statements } = await create();
    expect([status, statements]).toEqual([201, [read, write]]);
    app.clock.advance(1);
    expect(await create()).toMatchObject({ statements: [read, read, write] });
    // Retrieving one reads no rules.
    app.clock.advance(500);
    expect(await ask("GET", `/${urlToken}`)).toMatchObject({ status: 200, statements: [read, write] });
  });

  it("a search reads the labels of a thousand pushes in a few round trips", async () => {
    const { app, ask, statementsOf } = await open();
    const token = await app.makeToken("ada@example.com");
    for (let at = 0; at < 1_000; at += 100) {
      const some = Array.from({ length: 100 }, () =>
        ask("POST", "", { push: { payload: "x", name: "a name" }, token }),
      );
      await Promise.all(some);
    }
    const { pushes, accounts } = app.app.domain;
    const owner = await accounts.findUserByEmail("ada@example.com");
    const search = { state: "all", order: "newest", kind: null, text: "nowhere", page: 1 } as const;
    const statements = await statementsOf(async () => {
      expect(await pushes.search(owner?.id ?? 0, search)).toMatchObject({ pushes: [], stopped: false });
    });
    // Four batches of 250 pushes, each with one read of its labels, and one that finds no more.
    expect(statements).toEqual(Array(9).fill(read));
  });
});
