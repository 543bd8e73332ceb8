import { expect, test } from "vitest";
import {
  accepted,
  accountNotificationEmail,
  linkEmail,
  openTestMail,
  resetEmail,
  testKeyring,
  unavailable,
} from "../../test/support/test-mail.ts";
import type { EmailContent } from "./email.ts";

test("an email of a transaction that is rolled back is never sent", async () => {
  await using mail = openTestMail({ answer: () => accepted });
  const rolledBack = mail.db.write(async (tx) => {
    await mail.outbox.put(
      tx,
      { to: "ada@example.com", language: null, content: accountNotificationEmail },
      mail.clock.now(),
    );
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  await mail.run();
  expect(mail.sent).toEqual([]);
});

test("nothing is queued while emails are off", async () => {
  await using mail = openTestMail({ answer: () => accepted, open: false });
  await mail.put("ada@example.com");
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 0 });
});

/** Emails that nobody causes without a limit of their own. */
const neverDropped: readonly EmailContent[] = [
  accountNotificationEmail,
  { kind: "break_glass", event: "made", account: "root@example.com", at: 0, address: "", userAgent: "" },
  { kind: "invitation", token: "invitation-token" },
  linkEmail,
  {
    ...{ kind: "push_view", name: "", pushKind: "text", createdAt: 0, at: 0, address: "", userAgent: "" },
    ...{ views: 1, expireAfterViews: 1 },
  },
  { kind: "request_answered", title: "", path: "/requests/x/answers", at: 0 },
];

test("strangers cannot fill the disk while the mail server is down, and what they cannot cause is never dropped", async () => {
  await using mail = openTestMail({ answer: () => unavailable });
  const sealed = testKeyring.sealMessage("backup manifest", [], Buffer.alloc(1));
  await mail.db.write(async (tx) => {
    for (let n = 0; n < 9_999; n += 1) await mail.store.insert(tx, () => sealed, 0);
  });
  await mail.put("ada@example.com", resetEmail);
  await mail.put("bob@example.com", resetEmail);
  expect((await mail.store.sizes()).waiting).toBe(10_000);
  for (const content of neverDropped) await mail.put("ada@example.com", content);
  expect((await mail.store.sizes()).waiting).toBe(10_000 + neverDropped.length);
});
