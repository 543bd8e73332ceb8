import { describe, expect, it } from "vitest";
import { allEndpoints, createPush, endpoints, retrieve } from "../support/endpoints.ts";
import { newDataDir } from "../support/processes.ts";
import { startServer } from "../support/server.ts";
import { soon, spawnOpenDomains } from "../support/spawn-domain.ts";

const processes = 4;
const racers = 50;
const rounds = 60;

describe.each([1, 5])(
  "50 concurrent retrievals of a push of %i views through four processes, 60 times",
  { timeout: 600_000 },
  (views) => {
    it("reveal it exactly that often", async () => {
      const domains = await spawnOpenDomains(processes, newDataDir());
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
    });

    it("reveal it exactly that often over HTTP, through every endpoint", async () => {
      const dataDir = newDataDir();
      const servers = await Promise.all(Array.from({ length: processes }, () => startServer({ dataDir })));
      const opened: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const wish = { payload: `race-${crypto.randomUUID()}`, expire_after_views: views };
        const push = await createPush(servers[round % processes]?.baseUrl ?? "", wish);
        const asked = Array.from({ length: racers }, (_, racer) => {
          const endpoint = allEndpoints[Math.floor(racer / processes) % allEndpoints.length] ?? endpoints.apiV2;
          return retrieve(endpoint, servers[racer % processes]?.baseUrl ?? "", push);
        });
        const results = await Promise.all(asked);
        expect(results.filter((result) => result === "unavailable")).toEqual([]);
        opened.push(results.filter((result) => result === "payload").length);
      }
      expect(opened).toEqual(Array(rounds).fill(views));
    });
  },
);

/** 13, 13, 12 and 12. */
function shareOf(index: number): number {
  return Math.floor(racers / processes) + (index < racers % processes ? 1 : 0);
}
