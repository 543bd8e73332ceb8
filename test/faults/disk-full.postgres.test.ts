import { describe, expect, it } from "vitest";
import { withDatabaseOf } from "../support/database-of.ts";
import { allEndpoints, createPush, endpoints, postJson, retrieve } from "../support/endpoints.ts";
import { findDamage } from "../support/integrity-checks.ts";
import { newDataDir } from "../support/processes.ts";
import { expectEachOpensOnce, expectUnavailable, pushOf } from "../support/refusals.ts";
import { refuseWrites } from "../support/refused-writes.ts";
import { startServer } from "../support/server.ts";

describe("a PostgreSQL server whose disk is full", () => {
  it("releases no secret without counting the view, counts no view for a refusal, and serves normally once there is space", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    const pushes = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        createPush(server.baseUrl, { payload: `kept ${at} ${crypto.randomUUID()}`, expire_after_views: 1 }),
      ),
    );
    await withDatabaseOf(dataDir, async (db) => {
      const takeWrites = await refuseWrites(db);
      for (const [at, push] of pushes.entries()) {
        const endpoint = allEndpoints[at % allEndpoints.length] ?? endpoints.apiV2;
        expect(await retrieve(endpoint, server.baseUrl, push)).toBe("unavailable");
      }
      await expectUnavailable(await postJson(`${server.baseUrl}/api/v2/pushes`, pushOf("too much")));
      expect((await fetch(`${server.baseUrl}/up`)).status).toBe(200);
      await takeWrites();
    });
    await expectEachOpensOnce(server, pushes);
    const after = await createPush(server.baseUrl, { payload: "from after", expire_after_views: 1 });
    await expectEachOpensOnce(server, [after]);
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
    expect(await findDamage(dataDir)).toEqual([]);
  });
});
