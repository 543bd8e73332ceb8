import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";
import { TestClock } from "../support/domain.ts";
import { allEndpoints, endpoints, type KnownPush, retrieve } from "../support/endpoints.ts";
import { newDataDir } from "../support/processes.ts";
import { roundsOf } from "../support/rounds.ts";
import type { Fault } from "../support/s3/faults.ts";
import { environmentOf, startObjectStore } from "../support/s3/object-store.ts";
import { SeededNumbers } from "../support/seeded-numbers.ts";

const racers = 24;
const rounds = roundsOf(8);
const views = 3;
/** Half of the requests succeed. */
const faults: readonly (Fault | undefined)[] = ["denied", "reset", "error", "rotten", ...Array(4).fill(undefined)];

async function createFilePush(origin: string, content: Uint8Array<ArrayBuffer>): Promise<KnownPush> {
  const form = new FormData();
  const payload = `race-${crypto.randomUUID()}`;
  form.append("push[payload]", payload);
  form.append("push[expire_after_views]", String(views));
  for (const name of ["a.bin", "b.bin"]) form.append("push[files][]", new Blob([content]), name);
  const created = await fetch(`${origin}/api/v2/pushes`, { method: "POST", body: form });
  expect(created.status).toBe(201);
  return { urlToken: (await created.json()).url_token, payload, views };
}

test("retrievals at two servers while the bucket comes and goes reveal a file push exactly as often as allowed", async () => {
  const store = await startObjectStore();
  const environment = { ...environmentOf(store), PWP__FILES__ALLOW_ANONYMOUS: "true" };
  const options = { environment, dataDir: newDataDir(), clock: new TestClock(Date.now()) };
  await using first = await startTestApp(options);
  await using second = await startTestApp(options);
  const origins = [await first.listen(), await second.listen()] as const;
  const numbers = new SeededNumbers(1);
  const { store: stored, vault } = first.app.domain;
  let refused = 0;
  let revealedInRace = 0;
  for (let round = 0; round < rounds; round += 1) {
    const content = Uint8Array.from(randomBytes(70_000));
    store.plan = () => undefined;
    const push = await createFilePush(origins[0], content);
    store.plan = ({ operation }) => (operation === "GetObject" ? numbers.pick(faults) : undefined);
    const results = await Promise.all(
      Array.from({ length: racers }, (_, racer) => {
        const endpoint = allEndpoints[racer % allEndpoints.length] ?? endpoints.apiV2;
        return retrieve(endpoint, origins[racer % 2] ?? "", push);
      }),
    );
    const revealed = results.filter((result) => result === "payload").length;
    refused += results.filter((result) => result === "unavailable").length;
    revealedInRace += revealed;
    const row = await stored.find(vault.urlTokens.addressOf(push.urlToken));
    expect(row?.views, `counted in round ${round}`).toBe(revealed);
    store.plan = () => undefined;
    // The views that no retrieval got are still there, and their files download.
    for (let view = revealed; view < views; view += 1) {
      const answer = await (await fetch(`${origins[1]}/api/v2/pushes/${push.urlToken}`)).json();
      expect([answer.payload, answer.files.length]).toEqual([push.payload, 2]);
      for (const { url } of answer.files) {
        expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true);
      }
    }
    expect(await retrieve(endpoints.apiV2, origins[0], push)).toBe("gone");
  }
  expect(refused).toBeGreaterThan(0);
  expect(revealedInRace).toBeGreaterThan(0);
});
