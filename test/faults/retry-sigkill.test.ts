import { expect, it } from "vitest";
import { createPush } from "../support/endpoints.ts";
import { findDamage } from "../support/integrity-checks.ts";
import { newDataDir } from "../support/processes.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";
import { startServer } from "../support/server.ts";

const rounds = 6;
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
