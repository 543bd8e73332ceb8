import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPush } from "../support/endpoints.ts";
import { makeEmptyPostgresDatabase } from "../support/postgres/database.ts";
import { startPostgresPair } from "../support/postgres/pair.ts";
import { startPostgres } from "../support/postgres/server.ts";
import { PushLedger } from "../support/push-ledger.ts";
import { PushLoad } from "../support/push-load.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";
import { launchServer, type ServerProcess } from "../support/server.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

const clients = 6;

interface Member extends ServerProcess {
  /** The process survives every failure of the database: every request has an answer. */
  readonly mayBreak: false;
}

/** Two processes that share nothing but the database and the master key. */
async function startTwo(
  databaseUrl: string,
  more: Readonly<Record<string, string>> = {},
): Promise<readonly [Member, Member]> {
  return await launchTwo({ DATABASE_URL: databaseUrl, ...more }, onTestFinished);
}

/** @param atTheEnd registers what ends them. */
async function launchTwo(
  settings: Readonly<Record<string, string>>,
  atTheEnd: (end: () => Promise<void>) => void,
): Promise<readonly [Member, Member]> {
  const environment = { PWPUSH_MASTER_KEY: randomBytes(32).toString("hex"), ...settings };
  const start = async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "sealpush-"));
    atTheEnd(async () => rmSync(dataDir, { recursive: true, force: true }));
    return { ...(await launchServer({ dataDir, environment }, atTheEnd)), mayBreak: false as const };
  };
  return [await start(), await start()];
}

async function statusOf(member: Member, path: string): Promise<number> {
  const answer = await fetch(`${member.baseUrl}${path}`);
  await answer.body?.cancel();
  return answer.status;
}

async function expectAliveButNotReady(members: readonly Member[]): Promise<void> {
  for (const member of members) {
    await expect.poll(() => statusOf(member, "/ready")).toBe(503);
    expect(await statusOf(member, "/up")).toBe(200);
  }
}

async function expectReady(members: readonly Member[]): Promise<void> {
  for (const member of members) {
    await expect.poll(() => statusOf(member, "/ready")).toBe(200);
  }
}

const seconds = (ms: number) => (ms / 1_000).toFixed(1);

describe("when the primary is lost", { timeout: 600_000 }, () => {
  it("and its standby is promoted, nothing acknowledged is lost or retrieved twice", async () => {
    await using pair = await startPostgresPair();
    await using network = await TcpProxy.inFrontOf(pair.primary);
    const members = await startTwo(network.url(pair.primary.url()));
    const ledger = new PushLedger(seededNumbers(0xfa11));
    const load = new PushLoad(ledger, members, clients);
    await load.more(400);
    const lostAt = performance.now();
    await pair.primary.kill();
    await expectAliveButNotReady(members);
    await pair.promote();
    network.pointTo(pair.standby);
    const promotedAt = performance.now();
    await Promise.all(members.map((member) => load.moreAt(member, 1)));
    const healedAt = performance.now();
    await expectReady(members);
    await load.more(400);
    await load.stop();
    await ledger.verify(members[0].baseUrl);
    const times = `${seconds(healedAt - lostAt)} s after the loss, ${seconds(healedAt - promotedAt)} s after the promotion`;
    console.log(`failover: served again ${times}; ${load.counts.refused} requests refused; ${ledger.summary}`);
  });

  it("each client that repeats its request under its key gets the secret, counted once, and nobody else does", async () => {
    await using pair = await startPostgresPair();
    await using network = await TcpProxy.inFrontOf(pair.primary);
    const members = await startTwo(network.url(pair.primary.url()), { PWP__CLAIM_RETRY_SECONDS: "3600" });
    const pushes = await Promise.all(
      Array.from({ length: 80 }, (_, at) =>
        createPush(members[at % 2 === 0 ? 0 : 1].baseUrl, { payload: `kept-${at}`, expire_after_views: 1 }),
      ),
    );
    const ask = (member: Member, urlToken: string, key: string) =>
      fetch(`${member.baseUrl}/api/v2/pushes/${urlToken}`, { headers: { "idempotency-key": `${key}-${urlToken}` } });
    let answered = 0;
    await Promise.allSettled(
      pushes.map(async ({ urlToken }, at) => {
        const answer = await ask(members[at % 2 === 0 ? 0 : 1], urlToken, "client");
        await answer.arrayBuffer();
        answered += 1;
        if (answered === 30) await pair.primary.kill();
      }),
    );
    await expectAliveButNotReady(members);
    await pair.promote();
    network.pointTo(pair.standby);
    await expectReady(members);
    for (const { urlToken, payload } of pushes) {
      const answer = await ask(members[1], urlToken, "client");
      expect([answer.status, (await answer.json()).payload]).toEqual([200, payload]);
      const other = await ask(members[0], urlToken, "another");
      expect([other.status, (await other.json()).payload]).toEqual([200, null]);
    }
  });

  it("servers that know both hosts follow the promotion by themselves", async () => {
    await using pair = await startPostgresPair();
    const hosts = `127.0.0.1:${pair.primary.port},127.0.0.1:${pair.standby.port}`;
    const address = pair.primary.url().replace(`127.0.0.1:${pair.primary.port}`, hosts);
    const members = await startTwo(`${address}?target_session_attrs=read-write`);
    const ledger = new PushLedger(seededNumbers(0x2057));
    const load = new PushLoad(ledger, members, clients);
    await load.more(200);
    await pair.primary.kill();
    await expectAliveButNotReady(members);
    await pair.promote();
    await Promise.all(members.map((member) => load.moreAt(member, 100)));
    await expectReady(members);
    await load.stop();
    await ledger.verify(members[0].baseUrl);
    console.log(`failover to the second host: ${load.counts.refused} requests refused; ${ledger.summary}`);
  });

  it("and comes back with its own files, nothing acknowledged is lost or retrieved twice", async () => {
    await using server = await startPostgres({ settings: { fsync: "on", full_page_writes: "on" } });
    const members = await startTwo(server.url());
    const ledger = new PushLedger(seededNumbers(0xc4a5));
    const load = new PushLoad(ledger, members, clients);
    for (let crash = 1; crash <= 5; crash += 1) {
      await load.more(150);
      await server.kill();
      await load.moreFailures(5);
      await server.start();
      await Promise.all(members.map((member) => load.moreAt(member, 1)));
    }
    await load.stop();
    await ledger.verify(members[1].baseUrl);
    console.log(`5 crashes of the database: ${load.counts.refused} requests refused; ${ledger.summary}`);
  });
});

describe("when the network to the database fails", { timeout: 600_000 }, () => {
  let network: TcpProxy;
  let members: readonly [Member, Member];
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const { url } = await makeEmptyPostgresDatabase();
    network = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
    ends.push(() => network[Symbol.asyncDispose]());
    members = await launchTwo({ DATABASE_URL: network.url(url) }, (end) => ends.push(end));
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  const heal = () => {
    network.intercept(() => "pass");
    network.delay(0);
    network.heal();
  };
  afterEach(heal);

  async function withNetwork(work: (load: PushLoad) => Promise<void>): Promise<string> {
    const ledger = new PushLedger(seededNumbers(0x9e7));
    const load = new PushLoad(ledger, members, clients);
    await load.more(100);
    await work(load);
    heal();
    await Promise.all(members.map((member) => load.moreAt(member, 50)));
    await expectReady(members);
    await load.stop();
    await ledger.verify(members[0].baseUrl);
    return `${load.counts.done} requests done, ${load.counts.refused} refused; ${ledger.summary}`;
  }

  it("by closing every connection repeatedly, nothing acknowledged is lost or retrieved twice", async () => {
    const summary = await withNetwork(async (load) => {
      for (let cut = 1; cut <= 5; cut += 1) {
        network.cut();
        await expectAliveButNotReady(members);
        network.heal();
        await Promise.all(members.map((member) => load.moreAt(member, 20)));
      }
    });
    console.log(`network cut: ${summary}`);
  });

  it("by dropping all packets, requests are refused in time and nothing is lost or retrieved twice", async () => {
    const summary = await withNetwork(async (load) => {
      network.stall();
      await load.moreFailures(clients);
      await expectAliveButNotReady(members);
    });
    console.log(`network stalled: ${summary}`);
  });

  it("by being slow, all results are still correct", async () => {
    const summary = await withNetwork(async (load) => {
      network.delay(30);
      await load.more(100);
    });
    console.log(`network delayed: ${summary}`);
  });

  it.each([
    ["the answers to writes that were done", "lose answer"],
    ["writes before they arrive", "lose request"],
  ] as const)("by losing %s, nothing acknowledged is lost or read twice", async (_, verdict) => {
    const random = seededNumbers(0x105e);
    const summary = await withNetwork(async (load) => {
      network.intercept((statement) => (isWrite(statement) && random() < 0.1 ? verdict : "pass"));
      const before = network.lost.answers + network.lost.requests;
      await load.more(600);
      const lost = () => network.lost.answers + network.lost.requests - before;
      // Concurrent requests share a statement, so the number of statements depends on the machine.
      while (lost() < 40) await load.more(50);
      console.log(`${lost()} times: ${verdict}`);
    });
    console.log(`network that loses: ${summary}`);
  });
});

/** A statement whose answer acknowledges a durable write. */
function isWrite(statement: string): boolean {
  return /^\s*(COMMIT|WITH|INSERT|UPDATE|DELETE)\b/i.test(statement);
}
