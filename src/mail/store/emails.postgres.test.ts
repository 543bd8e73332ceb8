import { expect, test } from "vitest";
import { accepted, openTestMail } from "../../../test/support/test-mail.ts";
import { hourMs, minuteMs } from "../../base/clock.ts";
import { sql } from "../../database/statement.ts";

const lockFirst = sql<[], { id: number }>("SELECT id FROM outbox ORDER BY due_at, id LIMIT 1 FOR UPDATE");

test("an email that another process is just claiming is left to it", async () => {
  await using mail = openTestMail({ answer: () => accepted });
  await mail.put("ada@example.com");
  await mail.put("bob@example.com");
  const now = mail.clock.now();
  const claim = () => mail.store.claimDue({ now, farthest: now + hourMs }, now + minuteMs);
  await mail.db.write(async (tx) => {
    const locked = await tx.one(lockFirst);
    const claimed = await claim();
    expect([locked?.id, claimed?.id]).toEqual([1, 2]);
    expect(await claim()).toBeUndefined();
  });
  expect((await claim())?.id).toBe(1);
});
