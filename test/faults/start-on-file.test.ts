import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { databaseFile } from "../support/database-file.ts";
import { boundByPermissions, withFileBytesMax } from "../support/limits.ts";
import { newDataDir } from "../support/processes.ts";
import { filesIn } from "../support/raw-files.ts";
import { expectIntact, makeData, refusedStart, refusedUntouched } from "../support/refused-starts.ts";

const PWPUSH_MASTER_KEY = "11".repeat(32);

describe("a start", () => {
  it("on a database of a newer version is refused and changes nothing", async () => {
    const { dataDir } = await makeData();
    const db = new Database(databaseFile(dataDir));
    db.pragma("user_version = 999");
    db.close();
    expect(await refusedUntouched({ dataDir })).toMatch(/^The database has schema version 999, this program knows \d+/);
  });

  it("on a file that is not a database is refused and changes nothing", async () => {
    const { dataDir } = await makeData();
    writeFileSync(databaseFile(dataDir), "This is a diary. ".repeat(1_000));
    expect(await refusedUntouched({ dataDir })).toMatch(/^The database cannot be used \(SQLITE_NOTADB\)/);
  });

  it("in a new folder that cannot be written is refused", async () => {
    const dataDir = newDataDir();
    mkdirSync(dataDir, { mode: 0o500 });
    expect(await refusedStart({ dataDir, launcher: boundByPermissions })).toContain(
      "master.key cannot be created (permission denied)",
    );
    const environment = { PWPUSH_MASTER_KEY };
    expect(await refusedStart({ dataDir, environment, launcher: boundByPermissions })).toBe(
      `${databaseFile(dataDir)} cannot be used (permission denied).\n`,
    );
    expect(filesIn(dataDir).size).toBe(0);
  });

  it("on read-only data is refused, and succeeds once it is writable", async () => {
    const { dataDir, push } = await makeData();
    chmodSync(dataDir, 0o500);
    const readOnlyFolder = await refusedUntouched({ dataDir, launcher: boundByPermissions });
    expect(readOnlyFolder).toMatch(/^The database cannot be used \(SQLITE_\w+\): /);
    expect(readOnlyFolder).toContain(`${databaseFile(dataDir)}. The user of this process must be able to`);
    chmodSync(databaseFile(dataDir), 0o400);
    chmodSync(dataDir, 0o700);
    const readOnlyFile = await refusedStart({ dataDir, launcher: boundByPermissions });
    expect(readOnlyFile).toMatch(/sealpush\.sqlite3-wal cannot be used \(permission denied\)/);
    chmodSync(databaseFile(dataDir), 0o600);
    await expectIntact(dataDir, push);
  });

  it.runIf(process.platform === "linux")("on a full disk is refused, and succeeds once there is space", async () => {
    const { dataDir, push } = await makeData();
    const sentence = await refusedStart({ dataDir, launcher: withFileBytesMax(0) });
    expect(sentence).toMatch(/^The database cannot be used \(SQLITE_(?:IOERR|FULL)\w*\): /);
    await expectIntact(dataDir, push);
  });
});
