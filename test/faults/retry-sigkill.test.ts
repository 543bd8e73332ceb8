import { expect, it } from "vitest";
import { createPush } from "../support/endpoints.ts";
import { findDamage } from "../support/integrity-checks.ts";
import { makeOwner } from "../support/owner.ts";
import { newDataDir } from "../support/processes.ts";
import { roundsOf } from "../support/rounds.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";
import { startServer } from "../support/server.ts";

const rounds = roundsOf(4);
const creationRounds = 3;
const pushesPerRound = 40;

const payloadFor = async (baseUrl: string, urlToken: string, key: string): Promise<string | null> => {
  const answer = await fetch(`${baseUrl}/api/v2/pushes/${urlToken}`, { headers: { "idempotency-key": key } });
  return ((await answer.json()) as { payload: string | null }).payload;
};

it("after SIGKILL the client with the same key gets the secret, whether its view was counted or not, and no other does", async () => {
  const dataDir = newDataDir();
  const random = seededNumbers(11);
  for (let round = 0; round < rounds; round += 1) {
    const server = await startServer({ dataDir });
    const pushes = await Promise.all(
      Array.from({ length: pushesPerRound }, (_, at) =>
        createPush(server.baseUrl, { payload: `kept-${round}-${at}`, expire_after_views: 1 }),
      ),
    );
    const killAfter = Math.floor(random() * pushesPerRound);
    let answers = 0;
    await Promise.allSettled(
      pushes.map(async ({ urlToken }) => {
        await payloadFor(server.baseUrl, urlToken, `key-of-client-${urlToken}`);
        answers += 1;
        if (answers === killAfter) await server.kill();
      }),
    );
    await server.kill();
    const next = await startServer({ dataDir });
    for (const { urlToken, payload } of pushes) {
      expect(await payloadFor(next.baseUrl, urlToken, `key-of-client-${urlToken}`)).toBe(payload);
      expect(await payloadFor(next.baseUrl, urlToken, `key-of-another-${urlToken}`)).toBeNull();
    }
    await next.stop();
  }
  expect(await findDamage(dataDir)).toEqual([]);
});

const createAgain = async (baseUrl: string, apiToken: string, payload: string): Promise<string> => {
  const answer = await fetch(`${baseUrl}/api/v2/pushes`, {
    method: "POST",
    body: JSON.stringify({ push: { payload } }),
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${apiToken}`,
      "idempotency-key": `key-of-client-${payload}`,
    },
  });
  if (answer.status !== 201) throw new Error(`Creating was answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { url_token: string }).url_token;
};

it("after SIGKILL a repeated creation gets the push of the first request, whether its answer arrived or not", async () => {
  const dataDir = newDataDir();
  const random = seededNumbers(12);
  let server = await startServer({ dataDir });
  const { apiToken } = await makeOwner(dataDir, server.baseUrl);
  const known = new Set<string>();
  for (let round = 0; round < creationRounds; round += 1) {
    const payloads = Array.from({ length: pushesPerRound }, (_, at) => `kept-${round}-${at}`);
    const killAfter = Math.floor(random() * pushesPerRound);
    const answered = new Map<string, string>();
    const { baseUrl, kill } = server;
    await Promise.allSettled(
      payloads.map(async (payload) => {
        answered.set(payload, await createAgain(baseUrl, apiToken, payload));
        if (answered.size === killAfter) await kill();
      }),
    );
    await kill();
    server = await startServer({ dataDir });
    for (const payload of payloads) {
      const urlToken = await createAgain(server.baseUrl, apiToken, payload);
      expect(urlToken).toBe(answered.get(payload) ?? urlToken);
      expect(await createAgain(server.baseUrl, apiToken, payload)).toBe(urlToken);
      known.add(urlToken);
    }
  }
  const listed: string[] = [];
  for (let page = 1; listed.length === (page - 1) * 50; page += 1) {
    const answer = await fetch(`${server.baseUrl}/api/v2/pushes/active?page=${page}`, {
      headers: { authorization: `Bearer ${apiToken}` },
    });
    listed.push(...((await answer.json()) as { url_token: string }[]).map((push) => push.url_token));
  }
  expect(listed.toSorted()).toEqual([...known].toSorted());
  await server.stop();
  expect(await findDamage(dataDir)).toEqual([]);
});
