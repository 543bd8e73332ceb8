import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createPush, endpoints, postJson, retrieve } from "../support/endpoints.ts";
import { findDamage } from "../support/integrity-checks.ts";
import { newDataDir } from "../support/processes.ts";
import { expectEachOpensOnce, pushOf } from "../support/refusals.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const preload = join(import.meta.dirname, "../support/controlled-sync.ts");

/** A server on SQLite whose log is synced when the test lets it. */
async function startOnControlledDisk(dataDir = newDataDir()) {
  const [held, fails, failsOnce] = [join(dataDir, "held"), join(dataDir, "fails"), join(dataDir, "fails-once")];
  const control = { SYNC_HELD: held, SYNC_FAILS: fails, SYNC_FAILS_ONCE: failsOnce };
  const environment = { NODE_OPTIONS: `--import ${preload}`, ...control };
  const server = await startServer({ dataDir, environment });
  return {
    server,
    dataDir,
    hold: () => writeFileSync(held, ""),
    release: () => rmSync(held),
    fail: () => writeFileSync(fails, ""),
    repair: () => rmSync(fails),
    failOnce: () => writeFileSync(failsOnce, ""),
  };
}

/** @returns undefined: the connection was closed or refused. */
async function unlessEnded(request: Promise<Response>): Promise<Response | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** @returns whether it has settled. The server answers other requests meanwhile, and has had the time to answer this one. */
async function hasSettled(server: ServerProcess, request: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const watch = () => {
    settled = true;
  };
  request.then(watch, watch);
  for (let times = 0; times < 20; times += 1) expect((await fetch(`${server.baseUrl}/up`)).status).toBe(200);
  return settled;
}

it("during a sync the server answers other requests, but no write and nothing that was read from it", async () => {
  const { server, hold, release } = await startOnControlledDisk();
  const once = await createPush(server.baseUrl, { payload: "once", expire_after_views: 1 });
  const twice = await createPush(server.baseUrl, { payload: "twice", expire_after_views: 2 });
  hold();
  const claims = [1, 2].map(() => retrieve(endpoints.apiV2, server.baseUrl, once));
  const creation = createPush(server.baseUrl, { payload: "new", expire_after_views: 1 });
  for (const request of [...claims, creation]) expect(await hasSettled(server, request)).toBe(false);
  // Sees the view that is committed and not durable.
  const refused = retrieve(endpoints.step, server.baseUrl, once);
  const later = retrieve(endpoints.step, server.baseUrl, twice);
  expect(await hasSettled(server, refused)).toBe(false);
  expect(await hasSettled(server, later)).toBe(false);
  release();
  expect((await Promise.all([...claims, refused])).toSorted()).toEqual(["gone", "gone", "payload"]);
  expect(await later).toBe("payload");
  await expectEachOpensOnce(server, [await creation]);
});

it("a failed sync refuses what waits for it and ends the process; nothing acknowledged is lost", async () => {
  const { server, dataDir, fail, repair } = await startOnControlledDisk();
  const before = await createPush(server.baseUrl, { payload: "from before", expire_after_views: 1 });
  fail();
  const refused = await postJson(`${server.baseUrl}/api/v2/pushes`, pushOf("never acknowledged"));
  expect(refused.status, await refused.text()).toBe(503);
  expect(await server.ended).toEqual({ exitCode: 1, signal: null });
  const failures = server.logLines.filter((line) => line.includes('"storage_failed"'));
  expect(failures.map((line): unknown => JSON.parse(line))).toMatchObject([{ code: "EIO" }]);
  repair();
  const restarted = await startServer({ dataDir });
  await expectEachOpensOnce(restarted, [before]);
  await restarted.stop();
  expect(await findDamage(dataDir)).toEqual([]);
});

it("a sync that fails once, which the system then forgets: nothing is acknowledged any more until the process ends", async () => {
  const { server, dataDir, failOnce } = await startOnControlledDisk();
  const before = await createPush(server.baseUrl, { payload: "from before", expire_after_views: 2 });
  failOnce();
  // Some arrive before the failed sync, some while the process ends.
  const statuses: number[] = [];
  const client = async () => {
    for (let times = 0; times < 50; times += 1) {
      const creation = await unlessEnded(postJson(`${server.baseUrl}/api/v2/pushes`, pushOf("never acknowledged")));
      const claim = await unlessEnded(endpoints.apiV2(server.baseUrl, before.urlToken));
      statuses.push(...[creation, claim].flatMap((answer) => answer?.status ?? []));
      if (claim === undefined) return;
    }
  };
  await Promise.all(Array.from({ length: 32 }, client));
  expect(await server.ended).toEqual({ exitCode: 1, signal: null });
  expect(statuses.length).toBeGreaterThan(0);
  expect(new Set(statuses)).toEqual(new Set([503]));
  const restarted = await startServer({ dataDir });
  expect(await retrieve(endpoints.apiV2, restarted.baseUrl, before)).toBe("payload");
  await restarted.stop();
  expect(await findDamage(dataDir)).toEqual([]);
});
