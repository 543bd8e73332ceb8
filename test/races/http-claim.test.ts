import { describe, expect, it } from "vitest";
import { allEndpoints, createPush, endpoints, type KnownPush, retrieve } from "../support/endpoints.ts";
import { engine } from "../support/engine.ts";
import { roundsOf } from "../support/rounds.ts";
import { shareServers } from "../support/shared-servers.ts";

const racers = 50;
const rounds = roundsOf(20);

/** Sends all requests at once, over every endpoint and every process in turn. @returns how many got the secret. */
async function race(baseUrls: readonly string[], push: KnownPush, count: number): Promise<number> {
  const results = await Promise.all(
    Array.from({ length: count }, (_, racer) => {
      const endpoint = allEndpoints[racer % allEndpoints.length] ?? endpoints.apiV2;
      const baseUrl = baseUrls[Math.floor(racer / allEndpoints.length) % baseUrls.length] ?? "";
      return retrieve(endpoint, baseUrl, push);
    }),
  );
  return results.filter((result) => result === "payload").length;
}

function make(baseUrl: string, views: number, more: Readonly<Record<string, unknown>> = {}): Promise<KnownPush> {
  return createPush(baseUrl, { payload: `race-${crypto.randomUUID()}`, expire_after_views: views, ...more });
}

describe.each([
  { name: "one process", processes: 1 },
  { name: "two processes on one database", processes: 2 },
])("50 retrievals at once through every endpoint of $name", ({ processes }) => {
  const servers = shareServers(processes);
  // More processes on PostgreSQL: four-processes.postgres.test.ts.
  const limits = engine === "postgres" && processes > 1 ? [] : [1, 5];
  it.each(limits)("reveal a push of %i views exactly that often", async (views) => {
    const { baseUrls } = servers;
    for (let round = 0; round < rounds; round += 1) {
      expect(await race(baseUrls, await make(servers.urlOf(0), views), racers), `round ${round}`).toBe(views);
    }
  });

  it("reveal the push to the client with the passphrase exactly once, despite concurrent guesses", async () => {
    const passphrase = "the right one";
    const push = await make(servers.urlOf(0), 1, { passphrase });
    const answers = await Promise.all(
      Array.from({ length: racers }, async (_, racer) => {
        const knows = racer % 10 === 0;
        const answer = await fetch(`${servers.urlOf(racer)}/api/v2/pushes/${push.urlToken}`, {
          headers: {
            "x-push-passphrase": knows ? passphrase : "a wrong one",
            // The loopback is a trusted proxy: these are two clients with separate limits.
            "x-forwarded-for": knows ? "198.51.100.7" : "192.0.2.1",
          },
        });
        return { knows, status: answer.status, opened: (await answer.text()).includes(push.payload) };
      }),
    );
    expect(answers.filter(({ opened }) => opened)).toEqual([{ knows: true, status: 200, opened: true }]);
    expect(answers.filter(({ knows, status }) => knows && status !== 200)).toEqual([]);
    expect(answers.filter(({ knows, status }) => !knows && ![200, 401, 429].includes(status))).toEqual([]);
  });

  it("and a DELETE: nothing is revealed once it is acknowledged, and it reports correctly how the push ended", async () => {
    const { baseUrls } = servers;
    const [first, other] = [servers.urlOf(0), servers.urlOf(1)];
    let deletedFirst = 0;
    for (let round = 0; round < rounds; round += 1) {
      const push = await make(first, 5, { deletable_by_viewer: true });
      // The first and the last round are no races: each side wins at least once.
      const isLast = round === rounds - 1;
      const earlier = race(baseUrls, push, isLast ? racers : round % 8);
      if (isLast) await earlier;
      const deletion = fetch(`${first}/api/v2/pushes/${push.urlToken}`, { method: "DELETE" });
      if (round === 0) await deletion;
      const beside = race(baseUrls, push, racers);
      const answer = await deletion;
      // The deletion is acknowledged: every later retrieval at either process gets nothing.
      const later = race([other], push, 10);
      expect(answer.status).toBe(200);
      const { deleted, expired } = (await answer.json()) as { deleted: boolean; expired: boolean };
      expect(expired).toBe(true);
      expect(await later).toBe(0);
      const opened = (await earlier) + (await beside);
      if (deleted) expect(opened).toBeLessThan(push.views);
      else expect(opened).toBe(push.views);
      if (deleted) deletedFirst += 1;
    }
    expect(deletedFirst).toBeGreaterThan(0);
    expect(deletedFirst).toBeLessThan(rounds);
  });
});
