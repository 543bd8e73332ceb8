import { describe, expect, it } from "vitest";
import { allEndpoints, createPush, endpoints, retrieve } from "../support/endpoints.ts";
import { makeOwner } from "../support/owner.ts";
import { newDataDir } from "../support/processes.ts";
import { roundsOf } from "../support/rounds.ts";
import { shareServers } from "../support/shared-servers.ts";
import { soon, spawnOpenDomains } from "../support/spawn-domain.ts";

const processes = 4;
const racers = 50;
const rounds = roundsOf(30);

const servers = shareServers(processes);

describe("50 concurrent retrievals of a push through four processes, 30 times", { timeout: 600_000 }, () => {
  it("reveal one of 1 view and one of 5 views exactly that often", async () => {
    const domains = await spawnOpenDomains(processes, newDataDir());
    for (const views of [1, 5]) {
      const tokens = (await domains[0]?.ask({ do: "create", count: rounds, views })) ?? [];
      const revealed: number[] = [];
      for (const urlToken of tokens) {
        const at = soon();
        const asked = domains.map((domain, index) => domain.ask({ do: "claim", urlToken, times: shareOf(index) }, at));
        const outcomes = (await Promise.all(asked)).flat();
        expect(outcomes).toHaveLength(racers);
        expect(outcomes.filter((outcome) => !["revealed", "gone"].includes(outcome))).toEqual([]);
        revealed.push(outcomes.filter((outcome) => outcome === "revealed").length);
      }
      expect(revealed).toEqual(Array(rounds).fill(views));
    }
  });

  it.each([1, 5])("reveal one of %i views exactly that often over HTTP, through every endpoint", async (views) => {
    const opened: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const wish = { payload: `race-${crypto.randomUUID()}`, expire_after_views: views };
      const push = await createPush(servers.urlOf(round), wish);
      const asked = Array.from({ length: racers }, (_, racer) => {
        const endpoint = allEndpoints[Math.floor(racer / processes) % allEndpoints.length] ?? endpoints.apiV2;
        return retrieve(endpoint, servers.urlOf(racer), push);
      });
      const results = await Promise.all(asked);
      expect(results.filter((result) => result === "unavailable")).toEqual([]);
      opened.push(results.filter((result) => result === "payload").length);
    }
    expect(opened).toEqual(Array(rounds).fill(views));
  });
});

const keyedRounds = 10;

describe("50 concurrent retrievals with idempotency keys through four processes, 10 times", {
  timeout: 600_000,
}, () => {
  const payloadWith = async (baseUrl: string, urlToken: string, key: string): Promise<string | null> => {
    const answer = await fetch(`${baseUrl}/api/v2/pushes/${urlToken}`, { headers: { "idempotency-key": key } });
    const body = await answer.json();
    if (answer.status !== 200) throw new Error(`Retrieving was answered ${answer.status}: ${JSON.stringify(body)}`);
    return body.payload;
  };

  it.each([
    ["one key count one view, and all reveal the push", 1, () => "key-of-all-racers", racers],
    [
      "a key each reveal it exactly as often as its limit says",
      5,
      (racer: number) => `key-of-racer-number-${racer}`,
      5,
    ],
  ] as const)("under %s", async (_, counted, keyOf, revealed) => {
    const { urlOf } = servers;
    for (let round = 0; round < keyedRounds; round += 1) {
      const wish = { payload: `race-${crypto.randomUUID()}`, expire_after_views: 5 };
      const { urlToken, payload } = await createPush(urlOf(round), wish);
      const payloads = await Promise.all(
        Array.from({ length: racers }, (_, racer) => payloadWith(urlOf(racer), urlToken, keyOf(racer))),
      );
      expect(payloads.filter((got) => got === payload)).toHaveLength(revealed);
      // The views that are left, by one client each.
      let left = 0;
      while ((await payloadWith(urlOf(left), urlToken, `key-of-a-later-client-${left}`)) !== null) left += 1;
      expect(left).toBe(5 - counted);
    }
  });

  it("create one push under one key of its user", async () => {
    const { apiToken } = await makeOwner(servers.dataDir, servers.urlOf(0));
    const authorization = `Bearer ${apiToken}`;
    for (let round = 0; round < keyedRounds; round += 1) {
      const headers = {
        "content-type": "application/json",
        authorization,
        "idempotency-key": `key-of-the-round-${round}`,
      };
      const body = JSON.stringify({ push: { payload: `race-${round}` } });
      const tokens = await Promise.all(
        Array.from({ length: racers }, async (_, racer) => {
          const url = `${servers.urlOf(racer)}/api/v2/pushes`;
          const answer = await fetch(url, { method: "POST", headers, body });
          return [answer.status, (await answer.json()).url_token];
        }),
      );
      expect(new Set(tokens.map(String)).size).toBe(1);
      expect(tokens[0]).toEqual([201, expect.any(String)]);
    }
    const listed = await fetch(`${servers.urlOf(0)}/api/v2/pushes/active`, { headers: { authorization } });
    expect(await listed.json()).toHaveLength(keyedRounds);
  });
});

/** 13, 13, 12 and 12. */
function shareOf(index: number): number {
  return Math.floor(racers / processes) + (index < racers % processes ? 1 : 0);
}
