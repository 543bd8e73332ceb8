import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { startPostgresPair } from "./pair.ts";

async function clientOf(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // The connections of a killed server emit an error.
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe("a primary and its standby", () => {
  it("keeps what was acknowledged when the primary is killed, and accepts writes once it is promoted", async () => {
    await using pair = await startPostgresPair();
    const before = await clientOf(pair.primary.url());
    await before.query("CREATE TABLE kept (x int)");
    for (let x = 0; x < 100; x += 1) await before.query("INSERT INTO kept VALUES ($1)", [x]);
    await pair.primary.kill();
    await pair.promote();
    const after = await clientOf(pair.standby.url());
    expect((await after.query("SELECT count(*)::int AS kept FROM kept")).rows).toEqual([{ kept: 100 }]);
    await after.query("INSERT INTO kept VALUES (100)");
  });

  it("acknowledges only commits that the standby has", async () => {
    await using pair = await startPostgresPair();
    const client = await clientOf(pair.primary.url());
    await client.query("CREATE TABLE waited (x int)");
    await pair.standby.stop();
    const other = await clientOf(pair.primary.url());
    const waiting = client.query("INSERT INTO waited VALUES (1)").then(
      () => "acknowledged",
      () => "never acknowledged",
    );
    const state = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    await expect.poll(async () => (await other.query(state)).rowCount).toBe(1);
    await pair.primary.kill();
    expect(await waiting).toBe("never acknowledged");
  });
});
