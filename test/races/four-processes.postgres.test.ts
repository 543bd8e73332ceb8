import { describe, expect, it } from "vitest";
import { createPush, doors, everyDoor, read } from "../support/doors.ts";
import { newDataDir } from "../support/processes.ts";
import { startServer } from "../support/server.ts";
import { soon, spawnOpenDomains } from "../support/spawn-domain.ts";

const processes = 4;
const racers = 50;
const rounds = 60;

describe.each([1, 5])(
  "50 who ask four processes at once for a push of %i views, 60 times",
  { timeout: 600_000 },
  (views) => {
    it("get it exactly so often", async () => {
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

    it("get it exactly so often over HTTP, through every door", async () => {
      const dataDir = newDataDir();
      const servers = await Promise.all(Array.from({ length: processes }, () => startServer({ dataDir })));
      const opened: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const wish = { payload: `race-${crypto.randomUUID()}`, expire_after_views: views };
        const push = await createPush(servers[round % processes]?.baseUrl ?? "", wish);
        const asked = Array.from({ length: racers }, (_, racer) => {
          const door = everyDoor[Math.floor(racer / processes) % everyDoor.length] ?? doors.apiV2;
          return read(door, servers[racer % processes]?.baseUrl ?? "", push);
        });
        const readings = await Promise.all(asked);
        expect(readings.filter((reading) => reading === "unavailable")).toEqual([]);
        opened.push(readings.filter((reading) => reading === "payload").length);
      }
      expect(opened).toEqual(Array(rounds).fill(views));
    });
  },
);

/** 13, 13, 12 and 12. */
function shareOf(index: number): number {
  return Math.floor(racers / processes) + (index < racers % processes ? 1 : 0);
}
