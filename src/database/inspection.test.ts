import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { hourMs } from "../base/clock.ts";
import { createForwarderNote } from "./forwarder-note.ts";
import { createInspection } from "./inspection.ts";
import { openSqlite } from "./sqlite/sqlite.ts";

function makeDatabase() {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-inspection-"));
  const db = openSqlite({
    path: join(folder, "test.sqlite3"),
    monotonicMs: () => performance.now(),
    onTruncationFailed: () => undefined,
    onStorageFailure: (code) => {
      throw new Error(`Storage failed: ${code}`);
    },
  });
  onTestFinished(async () => {
    await db.close();
    rmSync(folder, { recursive: true });
  });
  return db;
}

it("finds a new database sound and empty", async () => {
  const inspection = createInspection(makeDatabase());
  expect(await inspection.problems()).toEqual([]);
  expect(await inspection.newestTime()).toBeUndefined();
});

it("returns the newest time of all tables", async () => {
  const db = makeDatabase();
  const inspection = createInspection(db);
  db.writer.exec(
    `INSERT INTO users (id, email, admin, created_at, updated_at, has_password, second_factors)
     VALUES (1, 'ada@example.com', 0, 1000, 1000, 1, 0)`,
  );
  expect(await inspection.newestTime()).toBe(1_000);
  db.writer.exec(
    `INSERT INTO sessions (digest, id, user_id, way, created_at, seen_at, waits_for_factor, persistent, address, user_agent)
     VALUES (x'00', 1, 1, 0, 1000, 3000, 0, 0, '192.0.2.1', 'test')`,
  );
  expect(await inspection.newestTime()).toBe(3_000);
  db.writer.exec("INSERT INTO processes VALUES ('a', 'k', 'k', 2000)");
  expect(await inspection.newestTime()).toBe(3_000);
});

it("keeps the last untrusted forwarder, written at most once an hour", async () => {
  const note = createForwarderNote(makeDatabase());
  expect(await note.find()).toBeUndefined();
  await note.write("10.0.0.1", 1_000);
  await note.write("2001:db8::1", 1_000 + hourMs - 1);
  expect(await note.find()).toEqual({ address: "10.0.0.1", seenAt: 1_000 });
  await note.write("2001:db8::1", 1_000 + hourMs);
  expect(await note.find()).toEqual({ address: "2001:db8::1", seenAt: 1_000 + hourMs });
});
