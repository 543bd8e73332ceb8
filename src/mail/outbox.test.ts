import { expect, test } from "vitest";
import {
  accepted,
  noticeEmail,
  openTestMail,
  resetEmail,
  testKeyring,
  unavailable,
} from "../../test/support/test-mail.ts";
import { waitingMax } from "./outbox.ts";

test("a letter of a tx that is undone never leaves", async () => {
  await using mail = openTestMail({ answer: () => accepted });
  const undone = mail.db.write(async (tx) => {
    await mail.outbox.put(tx, { to: "ada@example.com", language: null, content: noticeEmail }, mail.clock.now());
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  await mail.run();
  expect(mail.sent).toEqual([]);
});

test("nothing is kept while mails are off", async () => {
  await using mail = openTestMail({ answer: () => accepted, open: false });
  await mail.put("ada@example.com");
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 0 });
});

test("strangers cannot fill the disk while no mail leaves, and a notice is never dropped", async () => {
  await using mail = openTestMail({ answer: () => unavailable });
  const sealed = testKeyring.seal("filler", Buffer.alloc(1));
  await mail.db.write(async (tx) => {
    for (let n = 0; n < waitingMax - 1; n += 1) await mail.store.insert(tx, () => sealed, 0);
  });
  await mail.put("ada@example.com", resetEmail);
  await mail.put("bob@example.com", resetEmail);
  expect((await mail.store.sizes()).waiting).toBe(waitingMax);
  await mail.put("ada@example.com", noticeEmail);
  expect((await mail.store.sizes()).waiting).toBe(waitingMax + 1);
});
