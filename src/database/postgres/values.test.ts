import { describe, expect, test } from "vitest";
import { put } from "../../../test/support/postgres/behind-proxy.ts";
import { openTestDatabase } from "../../../test/support/postgres/open-database.ts";
import { sql } from "../statement.ts";

describe("values", () => {
  const putImage = sql<[name: string, content: Buffer, type: string, at: number]>(
    "INSERT INTO theme_parts (name, content, content_type, updated_at) VALUES (?, ?, ?, ?)",
  );
  const findImage = sql<[name: string], { content: Buffer; type: string; at: number }>(
    "SELECT content, content_type AS type, updated_at AS at FROM theme_parts WHERE name = ?",
  );

  test.each([
    ["nothing", Buffer.alloc(0), "", 0],
    ["four mebibytes", Buffer.alloc(4 * 2 ** 20, 0x5c), "\\'\"%_?$1\u2028\u{1f511}", 2 ** 53 - 1],
    ["every byte", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), "\u0001\t\n", -(2 ** 53) + 1],
    ["after 2038", Buffer.from("x"), "x".repeat(10_000), Date.UTC(2200, 0, 1)],
  ])("are read back unchanged: %s", async (name, content, type, at) => {
    const { db } = await openTestDatabase();
    await db.write((tx) => tx.run(putImage, name, content, type, at));
    const found = await db.read.one(findImage, name);
    expect(found?.content.equals(content)).toBe(true);
    expect([found?.type, found?.at]).toEqual([type, at]);
  });

  test.each(["\0", "a\0b\0", "\ud800", "b\udfff"])(
    "text that PostgreSQL cannot store is not an error: %j",
    async (text) => {
      const { db } = await openTestDatabase();
      await db.autocommit({ retry: "whenNotExecuted" }).run(putImage, "name", Buffer.alloc(0), text, 1);
      const stored = (await db.read.one(findImage, "name"))?.type;
      expect(stored).toBe(text.replace(/\0/g, "\ufffd").toWellFormed());
      expect(await db.read.one(findImage, text)).toBeUndefined();
    },
  );

  test("sums and counts are numbers", async () => {
    const { db } = await openTestDatabase();
    await db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 2 ** 52);
    await db.autocommit({ retry: "whenNotExecuted" }).run(put, 2, 2 ** 40);
    expect(await db.read.one(sql("SELECT sum(deleted_at) AS sum, count(*) AS count FROM deleted_users"))).toEqual({
      sum: 2 ** 52 + 2 ** 40,
      count: 2,
    });
  });
});
