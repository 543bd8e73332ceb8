import { cpSync, rmSync } from "node:fs";
import SqliteDriver from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { databaseFile } from "../../../test/support/database-file.ts";
import { countEveryone, makeDataDir, openTestDomain, stranger } from "../../../test/support/domain.ts";
import { sqliteOf } from "../../../test/support/engine-database.ts";
import { filesIn, NeedleFinder } from "../../../test/support/raw-files.ts";

test("the write-ahead log left by a killed process is truncated after the next start", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  // Holds the log until it is copied, however long this takes.
  const holder = new SqliteDriver(databaseFile(fixture.dataDir));
  holder.exec("BEGIN; SELECT count(*) FROM pushes");
  const finder = new NeedleFinder<string>();
  const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 1 }, stranger);
  const key = sqliteOf(db).reader.prepare<[], { sealed: Buffer }>("SELECT sealed FROM row_secrets").get()?.sealed;
  finder.add("the key", key ?? Buffer.alloc(0));
  await pushes.claimView(urlToken, countEveryone, stranger);
  // A kill would leave the files as they are at this moment.
  const dataDir = makeDataDir();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  cpSync(fixture.dataDir, dataDir, { recursive: true });
  holder.close();
  const found = () => [...filesIn(dataDir).values()].some((bytes) => finder.search(bytes).size > 0);
  expect(found()).toBe(true);
  await using started = await openTestDomain({ dataDir });
  expect(await started.domain.pushes.find(urlToken, stranger)).toMatchObject({ expired: true });
  await vi.waitUntil(() => !found(), { timeout: 60_000 });
});
