import { join } from "node:path";
import SqliteDriver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { createUserStore } from "../accounts/store/users.ts";
import { migrations } from "./migrations.ts";
import { openSqlite } from "./sqlite.ts";
import { makeFolder } from "./test-support.ts";

/** What a server of the first schema has left: one user with a token, and somebody signed in. */
const firstRows = `
  INSERT INTO users VALUES (1, 'ada@example.com', 'hash', 1, 1000, 1000);
  INSERT INTO sessions VALUES (x'01', 1, 1000, 1000);
  INSERT INTO api_tokens (id, user_id, name, digest, created_at) VALUES (1, 1, 'script', x'02', 1000);
  INSERT INTO pushes VALUES (1, x'03', 1, 1, 1000, 1000, 9000, NULL, NULL, 7, 5, 0, 0, 1, 1, 1, 1, 1, 4, x'04', NULL, x'05', NULL, NULL);
  INSERT INTO files VALUES (1, 1, 'aa', 4, x'06');
`;

test("a database of the first schema keeps its users, tokens and pushes; everybody signs in anew", async () => {
  const path = join(makeFolder(), "first.sqlite3");
  const first = new SqliteDriver(path);
  first.exec(migrations[0] ?? "");
  first.exec(firstRows);
  first.pragma("user_version = 1");
  first.close();

  const db = openSqlite({
    path,
    monotonicMs: () => 0,
    onStorageFailure: () => undefined,
    onTruncationFailed: () => undefined,
  });
  onTestFinished(() => db.close());
  expect(db.reader.pragma("user_version", { simple: true })).toBe(migrations.length);
  expect((await createUserStore(db).findUserByEmail("ada@example.com"))?.user).toMatchObject({
    ...{ id: 1, admin: true, confirmedAt: 1_000, disabledAt: null, hasPassword: true, hasSecondFactor: false },
  });
  expect(db.reader.prepare("SELECT * FROM sessions").all()).toEqual([]);
  expect(db.reader.prepare("SELECT name, scopes, networks, expires_at FROM api_tokens").all()).toEqual([
    { name: "script", scopes: null, networks: null, expires_at: null },
  ]);
  expect(db.reader.prepare("SELECT count(*) AS count FROM pushes").get()).toEqual({ count: 1 });
  expect(db.reader.prepare("SELECT key_sealed FROM files").get()).toEqual({ key_sealed: null });
});
