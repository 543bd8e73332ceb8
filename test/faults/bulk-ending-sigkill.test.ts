import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import type { Database } from "../../src/database/database.ts";
import { openTestDomain, stranger, TestClock, type TestDomain } from "../support/domain.ts";
import { settingsOfEngine } from "../support/engine.ts";
import { readRows } from "../support/engine-database.ts";
import { newDataDir, spawnProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

/** Ten transactions of the job. */
const floodSize = 2_000;

interface Progress {
  readonly last_id: number;
  readonly ended: number;
  readonly ended_bytes: number;
  readonly finished_at: number | null;
}

const progress = async (db: Database) =>
  (await readRows<Progress>(db, "SELECT last_id, ended, ended_bytes, finished_at FROM bulk_endings"))[0];
const countOf = async (db: Database, what: string) =>
  Number((await readRows<{ rows: number }>(db, `SELECT count(*) AS rows FROM ${what}`))[0]?.rows);

interface Victim {
  /** Begins to end the pushes in another process. */
  start(fixture: TestDomain): Promise<() => Promise<unknown>>;
}

const victims: Readonly<Record<string, Victim>> = {
  "the command": {
    async start({ dataDir }) {
      const argv = ["pushes", "end", "--from-network", stranger.address, "--yes"];
      const command = spawnProgram(argv, { ...(await settingsOfEngine(dataDir)), DATA_DIR: dataDir });
      onTestFinished(() => void command.kill("SIGKILL"));
      const ended = once(command, "exit");
      return () => {
        command.kill("SIGKILL");
        return ended;
      };
    },
  },
  "a server": {
    async start({ domain, dataDir }) {
      const filter = { network: stranger.address, olderThanMs: 0, largerThanBytes: 0, owners: "all" } as const;
      await domain.pushes.startBulkEnding(filter, stranger, async () => undefined);
      return (await startServer({ dataDir })).kill;
    },
  },
};

test.each(Object.entries(victims))(
  "after SIGKILL of %s in the middle of ending many pushes, the next server ends the others, each once",
  async (_name, { start }) => {
    const dataDir = newDataDir();
    await using fixture = await openTestDomain({ dataDir, clock: new TestClock(Date.now()) });
    const { db, pushes } = fixture.domain;
    const create = (address: string) => pushes.create({ payload: "ten bytes." }, { ...stranger, address });
    for (let made = 0; made < floodSize; made += 500) {
      await Promise.all(Array.from({ length: 500 }, () => create(stranger.address)));
    }
    const other = await create("198.51.100.1");

    const kill = await start(fixture);
    await expect.poll(async () => (await progress(db))?.ended ?? 0, { interval: 1 }).toBeGreaterThan(0);
    await kill();
    const before = await progress(db);
    expect(before?.ended).toBeLessThan(floodSize);
    expect(before).toMatchObject({ finished_at: null, ended_bytes: (before?.ended ?? 0) * 10 });
    expect(await countOf(db, "pushes WHERE ended_at IS NOT NULL")).toBe(before?.ended);

    fixture.clock.advance(hourMs);
    const late = await create(stranger.address);
    const server = await startServer({ dataDir });
    await expect.poll(async () => (await progress(db))?.finished_at ?? null).not.toBeNull();
    expect(await progress(db)).toMatchObject({ ended: floodSize, ended_bytes: floodSize * 10 });
    expect(await countOf(db, "pushes WHERE ended_at IS NOT NULL")).toBe(floodSize);
    expect(await countOf(db, "payloads")).toBe(2);
    for (const { urlToken } of [other, late]) {
      expect((await fetch(`${server.baseUrl}/api/v2/pushes/${urlToken}`)).status).toBe(200);
    }
  },
);
