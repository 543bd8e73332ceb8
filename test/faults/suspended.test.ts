import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createPush } from "../support/endpoints.ts";
import { makeOwner } from "../support/owner.ts";
import { newDataDir } from "../support/processes.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const keys = Array.from({ length: 30 }, (_, at) => `key-of-a-client-${String(at).padStart(2, "0")}`);
const environment = { PWP__CLAIM_RETRY_SECONDS: "1" };
/** Longer than a claim can be repeated. */
const suspensionMs = 1_500;

/**
 * Sends a request for each key, suspends the server as soon as one is answered, and sends all of them again meanwhile.
 * @returns both answers to each key.
 */
async function sendTwice<Answer>(server: ServerProcess, send: (key: string) => Promise<Answer>) {
  const first = keys.map(send);
  await Promise.race(first);
  process.kill(server.pid, "SIGSTOP");
  const second = keys.map(send);
  await pause(suspensionMs);
  process.kill(server.pid, "SIGCONT");
  return await Promise.all(first.map((answer, at) => Promise.all([answer, second[at]])));
}

test("a server that is suspended for longer than claims can be repeated makes one push for a key", async () => {
  const dataDir = newDataDir();
  const server = await startServer({ dataDir, environment });
  const { apiToken } = await makeOwner(dataDir, server.baseUrl);
  const answers = await sendTwice(server, async (key) => {
    const answer = await fetch(`${server.baseUrl}/api/v2/pushes`, {
      method: "POST",
      body: JSON.stringify({ push: { payload: key } }),
      headers: { "content-type": "application/json", authorization: `Bearer ${apiToken}`, "idempotency-key": key },
    });
    return { status: answer.status, ...((await answer.json()) as { url_token: string }) };
  });
  for (const [first, second] of answers) {
    expect([first.status, second?.status]).toEqual([201, 201]);
    expect(second?.url_token).toBe(first.url_token);
  }
  expect(new Set(answers.map(([{ url_token }]) => url_token)).size).toBe(keys.length);
});

test("a server that is suspended for that long counts one view for a key", async () => {
  const server = await startServer({ dataDir: newDataDir(), environment });
  const tokens = new Map<string, string>();
  for (const key of keys) {
    tokens.set(key, (await createPush(server.baseUrl, { payload: key, expire_after_views: 5 })).urlToken);
  }
  const open = async (key: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${tokens.get(key)}`, { headers });
    return { status: answer.status, ...((await answer.json()) as { payload?: string; views_remaining?: number }) };
  };
  const answers = await sendTwice(server, (key) => open(key, { "idempotency-key": key }));
  for (const [at, key] of keys.entries()) {
    const both = answers[at] ?? [];
    // Only one of them can be late: then its answer says that the key was used.
    expect(both.map((answer) => answer?.status)).toContain(200);
    for (const answer of both) {
      if (answer?.status === 200) expect(answer).toMatchObject({ payload: key, views_remaining: 4 });
      else expect(answer?.status).toBe(422);
    }
    expect(await open(key)).toMatchObject({ payload: key, views_remaining: 3 });
  }
});
