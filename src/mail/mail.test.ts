import { describe, expect, it } from "vitest";
import { openTestDomain, type TestDomain } from "../../test/support/domain.ts";
import { readRows } from "../../test/support/engine-database.ts";
import { startMailSink } from "../../test/support/mail-sink.ts";
import { accountNotificationEmail, neverAborted, resetEmail } from "../../test/support/test-mail.ts";
import { dayMs, hourMs, minuteMs } from "../base/clock.ts";
import { nothingElse } from "../database/database.ts";
import { sql } from "../database/statement.ts";
import type { EmailContent } from "./email.ts";
import { failedPageSize } from "./mail.ts";

async function openMailDomain() {
  const sink = await startMailSink();
  const fixture = await openTestDomain({ environment: sink.environment });
  return { sink, fixture };
}

const put = ({ domain, clock }: TestDomain, to: string, content: EmailContent = accountNotificationEmail) =>
  domain.db.write((tx) => domain.mail.outbox.put(tx, { to, language: null, content }, clock.now()));

/** Runs the delivery job until no email waits. */
async function deliverAll({ domain, clock }: TestDomain) {
  while ((await domain.mail.sizes()).waiting > 0) {
    await domain.mail.deliverDue(neverAborted);
    clock.advance(2 * minuteMs);
  }
}

describe("failed emails", () => {
  it("show administrators recipient, kind, time and reason, but never the content", async () => {
    const { sink, fixture } = await openMailDomain();
    await using _ = fixture;
    const at = fixture.clock.now();
    sink.refuseNext(6, { at: "recipient", code: 550, text: "5.1.1 <ada@example.com> reset-token-0123456789" });
    await put(fixture, "ada@example.com", resetEmail);
    await put(fixture, "bob@example.com");
    expect(await fixture.domain.mail.sizes()).toEqual({ waiting: 2, failed: 0 });
    await deliverAll(fixture);
    const failed = await fixture.domain.mail.failedEmails(1);
    const lastError = "The mail server refused the recipient (550 5.1.1 ... ...).";
    expect(failed).toEqual([
      { id: 2, to: "bob@example.com", kind: "token_made", createdAt: at, attempts: 3, lastError },
      { id: 1, to: "ada@example.com", kind: "reset_password", createdAt: at, attempts: 3, lastError },
    ]);
    expect(JSON.stringify(failed)).not.toContain("reset-token");
    expect(await fixture.domain.mail.failedEmails(2)).toEqual([]);
  });

  it("can be retried, unless their link has expired, or be discarded", async () => {
    const { sink, fixture } = await openMailDomain();
    await using _ = fixture;
    const { mail } = fixture.domain;
    sink.refuseNext(6, { at: "message", code: 554, text: "5.7.1 no" });
    await put(fixture, "ada@example.com", resetEmail);
    await put(fixture, "bob@example.com");
    await deliverAll(fixture);
    const failing = () => Promise.reject(new Error("cannot be written"));
    await expect(mail.retry(1, failing)).rejects.toThrow("cannot be written");
    await expect(mail.discard(1, failing)).rejects.toThrow("cannot be written");
    expect(await mail.retry(1, nothingElse)).toBe("queued");
    expect(await mail.retry(1, nothingElse)).toBe("unknown");
    // Its attempts begin anew.
    sink.refuseNext(2, { at: "message", code: 554, text: "5.7.1 no" });
    await deliverAll(fixture);
    expect(sink.messages()).toMatchObject([{ recipients: ["ada@example.com"] }]);
    expect(await mail.retry(1, nothingElse)).toBe("unknown");
    expect(await mail.discard(1, nothingElse)).toBe(false);

    sink.refuseNext(3, { at: "message", code: 554, text: "5.7.1 no" });
    await put(fixture, "eve@example.com", resetEmail);
    await deliverAll(fixture);
    fixture.clock.advance(hourMs);
    expect(await mail.retry(3, nothingElse)).toBe("link_over");
    expect(await mail.discard(3, nothingElse)).toBe(true);
    expect(await mail.discard(3, nothingElse)).toBe(false);
    expect((await mail.failedEmails(1)).map(({ id }) => id)).toEqual([2]);
  });

  it("never reuse the id of a removed email", async () => {
    const { fixture } = await openMailDomain();
    await using _ = fixture;
    await put(fixture, "ada@example.com");
    await deliverAll(fixture);
    await put(fixture, "bob@example.com");
    expect(await readRows(fixture.domain.db, "SELECT id FROM outbox")).toEqual([{ id: 2 }]);
  });

  it("do not include waiting emails: those can be neither discarded nor retried", async () => {
    const { fixture } = await openMailDomain();
    await using _ = fixture;
    await put(fixture, "ada@example.com");
    expect(await fixture.domain.mail.discard(1, nothingElse)).toBe(false);
    expect(await fixture.domain.mail.retry(1, nothingElse)).toBe("unknown");
  });

  it("are kept for 30 days and listed in pages", async () => {
    const { fixture } = await openMailDomain();
    await using _ = fixture;
    const { mail, db } = fixture.domain;
    const count = failedPageSize + 1;
    const unreadable = sql<[id: number, emailSealed: Buffer, createdAt: number, dueAt: number]>(
      "INSERT INTO outbox (id, email_sealed, created_at, due_at, attempts) VALUES (?, ?, ?, ?, 0)",
    );
    const at = fixture.clock.now();
    await db.write(async (tx) => {
      for (let id = 1; id <= count; id += 1) await tx.run(unreadable, id, Buffer.alloc(64), at, at);
    });
    await deliverAll(fixture);
    expect((await mail.failedEmails(1)).length).toBe(failedPageSize);
    expect(await mail.failedEmails(2)).toMatchObject([{ id: 1, to: null, kind: null }]);
    fixture.clock.advance(29 * dayMs);
    expect(await mail.removeOldFailures()).toBe(0);
    fixture.clock.advance(dayMs);
    expect(await mail.removeOldFailures()).toBe(count);
    expect(await mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  });
});

it("keeps waiting emails when mail is switched off", async () => {
  const { fixture } = await openMailDomain();
  await put(fixture, "ada@example.com");
  await fixture.domain.close();
  await using off = await openTestDomain({ dataDir: fixture.dataDir });
  await put(off, "bob@example.com");
  await off.domain.mail.deliverDue(neverAborted);
  expect(await off.domain.mail.sizes()).toEqual({ waiting: 1, failed: 0 });
});
