import { describe, expect, it } from "vitest";
import { allEndpoints, createPush, endpoints, retrieve } from "../support/endpoints.ts";
import { findDamage } from "../support/integrity-checks.ts";
import { limitFileBytes } from "../support/limits.ts";
import { newDataDir } from "../support/processes.ts";
import { filesIn } from "../support/raw-files.ts";
import { expectEachOpensOnce, expectUnavailable, fillUp, sendFile } from "../support/refusals.ts";
import { startServer } from "../support/server.ts";

const environment = { PWP__FILES__ALLOW_ANONYMOUS: "true" };

describe.runIf(process.platform === "linux")("a full disk", () => {
  it("refuses new pushes with 503, loses nothing acknowledged, and serves normally once there is space", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir, environment });
    const before = await createPush(server.baseUrl, { payload: "from before", expire_after_views: 2 });
    limitFileBytes(server.pid, 1_500_000);
    const acknowledged = await fillUp(server);
    expect(acknowledged.length).toBeGreaterThan(0);
    await expectUnavailable(await sendFile(server, 3_000_000));
    expect((await fetch(`${server.baseUrl}/up`)).status).toBe(200);

    limitFileBytes(server.pid, "unlimited");
    const after = await createPush(server.baseUrl, { payload: "from after", expire_after_views: 1 });
    const sent = await sendFile(server, 3_000_000);
    expect(sent.status, await sent.text()).toBe(201);
    await expectEachOpensOnce(server, [...acknowledged.slice(0, 5), after]);
    expect(await retrieve(endpoints.apiV2, server.baseUrl, before)).toBe("payload");
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
    expect(await findDamage(dataDir)).toEqual([]);

    const restarted = await startServer({ dataDir, environment });
    await expectEachOpensOnce(restarted, acknowledged.slice(5));
    expect(await retrieve(endpoints.step, restarted.baseUrl, before)).toBe("payload");
    expect(await retrieve(endpoints.step, restarted.baseUrl, before)).toBe("gone");
    const unfinished = [...filesIn(dataDir).keys()].filter((path) => path.endsWith(".part"));
    expect(unfinished).toEqual([]);
  });

  it("without a free byte releases no secret without counting the view, and a refusal counts no view", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    const pushes = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        createPush(server.baseUrl, { payload: `kept ${at} ${crypto.randomUUID()}`, expire_after_views: 1 }),
      ),
    );
    // Nothing can be written. A limit of the log's size would let claims pass once the log was truncated.
    limitFileBytes(server.pid, 1);
    for (const [at, push] of pushes.entries()) {
      const endpoint = allEndpoints[at % allEndpoints.length] ?? endpoints.apiV2;
      expect(await retrieve(endpoint, server.baseUrl, push)).toBe("unavailable");
    }
    const truncation = () => server.logLines.find((line) => line.includes('"job":"log truncation"'));
    await expect.poll(truncation, { timeout: 10_000 }).toMatch(/"code":"SQLITE_[A-Z_]+"/);
    limitFileBytes(server.pid, "unlimited");
    await expectEachOpensOnce(server, pushes);
    await server.stop();
    expect(await findDamage(dataDir)).toEqual([]);
  });

  it("followed by SIGKILL loses nothing acknowledged", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    limitFileBytes(server.pid, 600_000);
    const acknowledged = await fillUp(server);
    await server.kill();
    const restarted = await startServer({ dataDir });
    await expectEachOpensOnce(restarted, acknowledged);
    await restarted.stop();
    expect(await findDamage(dataDir)).toEqual([]);
  });
});
