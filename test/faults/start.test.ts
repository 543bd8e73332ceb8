import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withDatabaseOf } from "../support/database-of.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { newDataDir } from "../support/processes.ts";
import { expectIntact, makeData, refusedStart, refusedUntouched } from "../support/refused-starts.ts";
import { startServer } from "../support/server.ts";

const keys = { one: "11".repeat(32), other: "22".repeat(32) };

describe("a start", () => {
  it("with an empty data folder serves requests", async () => {
    const begun = performance.now();
    const server = await startServer({ dataDir: newDataDir() });
    const answer = await fetch(`${server.baseUrl}/up`);
    const firstAnswerMs = performance.now() - begun;
    expect(answer.status).toBe(200);
    console.log(`listening after ${Math.round(server.startMs)} ms, first answer after ${Math.round(firstAnswerMs)} ms`);
  });

  it("with another master key is refused and changes nothing", async () => {
    const { dataDir } = await makeData({ PWPUSH_MASTER_KEY: keys.one });
    const sentence = await refusedUntouched({ dataDir, environment: { PWPUSH_MASTER_KEY: keys.other } });
    expect(sentence).toMatch(/^The database is sealed under the master key with id [0-9a-f]{8}, which is not among/);
    expect(sentence).not.toContain(keys.other);
  });

  it("without the master.key of its database is refused and creates no new one", async () => {
    const { dataDir, push } = await makeData();
    const kept = join(dataDir, "..", "kept");
    renameSync(join(dataDir, "master.key"), kept);
    expect(await refusedUntouched({ dataDir })).toContain("its master.key is missing: restore it");
    renameSync(kept, join(dataDir, "master.key"));
    await expectIntact(dataDir, push);
  });

  it("with a damaged master.key is refused", async () => {
    const { dataDir } = await makeData();
    writeFileSync(join(dataDir, "master.key"), "damaged");
    expect(await refusedUntouched({ dataDir })).toContain("does not hold a master key (64 hex digits)");
  });

  it("on a database that has lost a secret is refused and generates no new one", async () => {
    const { dataDir, push } = await makeData();
    const secrets = "SELECT value FROM meta WHERE name = 'access_secret'";
    const [secret] = await withDatabaseOf(dataDir, (db) => readRows<{ value: Buffer }>(db, secrets));
    if (secret === undefined) throw new Error("There is no access secret.");
    await withDatabaseOf(dataDir, (db) => changeRows(db, "DELETE FROM meta WHERE name = 'access_secret'"));
    expect(await refusedStart({ dataDir })).toContain("the row access_secret of its table meta is missing");
    expect(await withDatabaseOf(dataDir, (db) => readRows(db, secrets))).toEqual([]);
    const putBack = "INSERT INTO meta (name, value) VALUES ('access_secret', ?)";
    await withDatabaseOf(dataDir, (db) => changeRows(db, putBack, secret.value));
    await expectIntact(dataDir, push);
  });
});
