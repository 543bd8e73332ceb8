import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/folders.ts";
import {
  accepted,
  accountNotificationEmail,
  linkEmail,
  openTestMail,
  refused,
  resetEmail,
  testKeyring,
  unavailable,
} from "../../test/support/test-mail.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../base/clock.ts";
import { systemRandom } from "../base/random.ts";
import { createKeyring } from "../crypto/keyring.ts";
import { sql } from "../database/statement.ts";
import { failedMax } from "./delivery.ts";
import type { Sending } from "./smtp.ts";

const attemptsAndDue = sql<[], { attempts: number; dueAt: number }>("SELECT attempts, due_at AS dueAt FROM outbox");

async function runAttempts(mail: ReturnType<typeof openTestMail>, count: number): Promise<void> {
  for (let attempt = 0; attempt < count; attempt += 1) {
    await mail.run();
    mail.clock.advance(hourMs);
  }
}

test("a sent email is removed from the outbox", async () => {
  await using mail = openTestMail({ answer: () => accepted });
  await mail.put("ada@example.com");
  await mail.put("bob@example.com", resetEmail);
  await mail.run();
  await mail.run();
  expect(mail.recipients()).toEqual(["ada@example.com", "bob@example.com"]);
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 0 });
});

test("a temporary refusal is retried after a minute, then at growing intervals of up to six hours", async () => {
  await using mail = openTestMail({ answer: () => refused(false) });
  await mail.put("ada@example.com");
  const waits: number[] = [];
  let since = 0;
  while ((await mail.store.sizes()).waiting > 0) {
    const before = mail.sent.length;
    await mail.run();
    if (mail.sent.length > before) {
      waits.push(since);
      since = 0;
    }
    mail.clock.advance(30 * secondMs);
    since += 30 * secondMs;
  }
  const [, first = 0, second = 0, ...later] = waits;
  expect(first).toBeGreaterThanOrEqual(minuteMs);
  expect(first).toBeLessThanOrEqual(1.25 * minuteMs + 30 * secondMs);
  expect(second).toBeGreaterThanOrEqual(2 * minuteMs);
  expect(Math.max(...later)).toBeGreaterThanOrEqual(6 * hourMs);
  expect(Math.max(...later)).toBeLessThanOrEqual(7.5 * hourMs + 30 * secondMs);
  const total = waits.reduce((sum, wait) => sum + wait, 0);
  expect(total).toBeLessThan(3 * dayMs);
  expect(total).toBeGreaterThan(2 * dayMs);
  expect(await mail.store.failed(10, 0)).toMatchObject([{ lastError: "The mail server refused the recipient." }]);
});

test("every attempt has the same Message-ID and date, so that duplicates can be recognised", async () => {
  const answers = [refused(false), accepted];
  await using mail = openTestMail({ answer: () => answers.shift() ?? accepted });
  await mail.put("ada@example.com");
  await mail.run();
  mail.clock.advance(2 * minuteMs);
  await mail.run();
  const [first, second] = mail.sent;
  expect(first).toEqual(second);
  expect(first?.messageId).toMatch(/^[0-9a-f]{32}@push\.example\.com$/);
});

test("a permanent refusal ends delivery after three attempts, and the row records the reason", async () => {
  await using mail = openTestMail({ answer: () => refused(true) });
  await mail.put("ada@example.com");
  for (let round = 0; round < 10; round += 1) {
    await mail.run();
    mail.clock.advance(10 * minuteMs);
  }
  expect(mail.sent.length).toBe(3);
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 1 });
  expect(mail.logLines.at(-1)).toContain('"event":"mail_given_up"');
});

test("an expired link is not sent, and delivery stops when the link expires", async () => {
  let answer: Sending = refused(false);
  await using mail = openTestMail({ answer: () => answer });
  await mail.put("ada@example.com", resetEmail);
  for (let round = 0; round < 12; round += 1) {
    await mail.run();
    mail.clock.advance(5 * minuteMs);
  }
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 1 });

  answer = accepted;
  await mail.put("bob@example.com", resetEmail);
  mail.clock.advance(hourMs);
  await mail.run();
  expect(mail.recipients()).not.toContain("bob@example.com");
  expect((await mail.store.failed(1, 0))[0]?.lastError).toContain("had expired");
});

test("an email whose key is lost fails with a reason and does not block others", async () => {
  const folder = makeFolder();
  const other = createKeyring([Buffer.alloc(32, 8)], systemRandom);
  {
    await using lost = openTestMail({ folder, answer: () => accepted, keyring: other });
    await lost.put("lost@example.com");
  }
  await using mail = openTestMail({ folder, answer: () => accepted });
  await mail.put("ada@example.com");
  await runAttempts(mail, 3);
  expect(mail.recipients()).toEqual(["ada@example.com"]);
  expect(await mail.store.failed(10, 0)).toMatchObject([{ lastError: expect.stringContaining("cannot be opened") }]);
});

test("an email that a resumed process without its key has met is sent by another one a minute later", async () => {
  const folder = makeFolder();
  const newKey = createKeyring([Buffer.alloc(32, 8)], systemRandom);
  await using mail = openTestMail({ folder, answer: () => accepted, keyring: newKey });
  await mail.put("ada@example.com");
  {
    await using resumed = openTestMail({ folder, answer: () => accepted });
    await resumed.run();
    expect(await resumed.store.sizes()).toEqual({ waiting: 1, failed: 0 });
  }
  mail.clock.advance(1.25 * minuteMs);
  await mail.run();
  expect(mail.recipients()).toEqual(["ada@example.com"]);
});

test("an email moved to another row cannot be opened", async () => {
  await using mail = openTestMail({ answer: () => accepted });
  await mail.put("ada@example.com");
  await mail.db.autocommit({ retry: "whenNotExecuted" }).run(sql("UPDATE outbox SET id = id + 100"));
  await runAttempts(mail, 3);
  expect(mail.sent).toEqual([]);
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 1 });
});

test("while the mail server is down, one email at a time tries it; afterwards all are sent", async () => {
  let answer: Sending = unavailable;
  await using mail = openTestMail({ answer: () => answer });
  for (let n = 0; n < 30; n += 1) await mail.put(`${n}@example.com`);
  await mail.run();
  await mail.run();
  expect(mail.sent.length).toBe(1);
  for (let second = 0; second < 60; second += 1) {
    mail.clock.advance(secondMs);
    await mail.run();
  }
  expect(mail.sent.length).toBeLessThan(8);

  answer = accepted;
  for (let minute = 0; minute < 40; minute += 1) {
    mail.clock.advance(minuteMs);
    await mail.run();
  }
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 0 });
  expect(new Set(mail.recipients()).size).toBe(30);
});

test("delivery resumes within minutes when the mail server is back after hours", async () => {
  let answer: Sending = unavailable;
  await using mail = openTestMail({ answer: () => answer });
  await mail.put("ada@example.com");
  const runFor = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      mail.clock.advance(minuteMs);
      await mail.run();
    }
  };
  await runFor(10 * 60);
  // Every 20 minutes, also at the end.
  expect(mail.sent.length).toBeGreaterThan(30);
  answer = accepted;
  await runFor(20);
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 0 });
});

test("two processes never send the same email at once", async () => {
  const folder = makeFolder();
  const inFlight = new Set<string>();
  const answer = async ({ to }: { to: string }) => {
    expect(inFlight.has(to)).toBe(false);
    inFlight.add(to);
    await new Promise(setImmediate);
    return accepted;
  };
  await using one = openTestMail({ folder, answer });
  await using two = openTestMail({ folder, answer, clock: one.clock });
  for (let n = 0; n < 40; n += 1) await one.put(`${n}@example.com`);
  await Promise.all([one.run(), two.run()]);
  expect([...one.recipients(), ...two.recipients()].sort()).toEqual([...inFlight].sort());
  expect(inFlight.size).toBe(40);
  expect(one.sent.length).toBeGreaterThan(0);
  expect(two.sent.length).toBeGreaterThan(0);
});

test.each([1, 20])(
  "an email claimed by a dead process is sent by another one when no attempt of %s minutes can still run",
  async (minutes) => {
    const folder = makeFolder();
    const sendMsMax = minutes * minuteMs;
    await using dead = openTestMail({ folder, sendMsMax, answer: () => new Promise<Sending>(() => undefined) });
    await dead.put("ada@example.com");
    void dead.run();
    await expect.poll(() => dead.sent.length).toBe(1);
    await using mail = openTestMail({ folder, sendMsMax, answer: () => accepted, clock: dead.clock });
    mail.clock.advance(sendMsMax);
    await mail.run();
    expect(mail.sent).toEqual([]);
    mail.clock.advance(minuteMs);
    await mail.run();
    expect(mail.recipients()).toEqual(["ada@example.com"]);
  },
);

test("a late result does not overwrite what another process has done since", async () => {
  const folder = makeFolder();
  const late = Promise.withResolvers<Sending>();
  await using slow = openTestMail({ folder, answer: () => late.promise });
  await slow.put("ada@example.com");
  const running = slow.run();
  await expect.poll(() => slow.sent.length).toBe(1);
  slow.clock.advance(3 * minuteMs);
  await using quick = openTestMail({ folder, answer: () => refused(false), clock: slow.clock });
  await quick.run();
  late.resolve(refused(true));
  await running;
  expect(await quick.store.sizes()).toEqual({ waiting: 1, failed: 0 });
  expect(await quick.db.read.all(attemptsAndDue)).toMatchObject([{ attempts: 2 }]);
});

test.each([
  ["sent", accepted, "/p/link"],
  ["given_up", refused(true), "/p/link"],
  ["given_up", accepted, undefined],
] as const)(
  "a process that dies while it reports that a link was %s repeats the report",
  async (fate, sending, path) => {
    const fates: string[] = [];
    let dies = true;
    const linkEmails = {
      openPath: async () => path,
      async settle(_content: unknown, settled: string) {
        if (dies) throw new Error("The process has died.");
        fates.push(settled);
      },
      putOff: async () => undefined,
    };
    await using mail = openTestMail({ answer: () => sending, linkEmails });
    await mail.put("ada@example.com", linkEmail);
    await expect(mail.run()).rejects.toThrow("The process has died.");
    dies = false;
    mail.clock.advance(3 * minuteMs);
    await mail.run();
    expect(fates).toEqual([fate]);
  },
);

test("stopping releases the email without counting the attempt", async () => {
  const stop = new AbortController();
  const answer = (_: unknown, stopping: AbortSignal): Sending => {
    stop.abort();
    return stopping.aborted ? { outcome: "stopped" } : accepted;
  };
  await using mail = openTestMail({ answer });
  await mail.put("ada@example.com");
  await mail.put("bob@example.com");
  await mail.run(stop.signal);
  expect(mail.recipients()).toEqual(["ada@example.com"]);
  expect(await mail.db.read.all(attemptsAndDue)).toEqual([
    { attempts: 0, dueAt: mail.clock.now() },
    { attempts: 0, dueAt: mail.clock.now() },
  ]);
});

test("moving the clock back does not delay an email for years", async () => {
  const answers = [unavailable, accepted];
  await using mail = openTestMail({ answer: () => answers.shift() ?? accepted });
  mail.clock.advance(4_000 * dayMs);
  await mail.put("ada@example.com");
  await mail.run();
  mail.clock.advance(-4_000 * dayMs);
  await mail.run();
  expect(mail.sent.length).toBe(2);
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 0 });
});

test("the newest thousand failed emails are kept", async () => {
  await using mail = openTestMail({ answer: () => accepted });
  const lost = testKeyring.sealMessage("backup manifest", [], Buffer.alloc(1));
  await mail.db.write(async (tx) => {
    for (let n = 0; n < failedMax + 3; n += 1) await mail.store.insert(tx, () => lost, mail.clock.now());
    await tx.run(sql("UPDATE outbox SET attempts = 2"));
  });
  while ((await mail.store.sizes()).waiting > 0) await mail.run();
  expect(await mail.store.sizes()).toEqual({ waiting: 0, failed: 1_000 });
  expect((await mail.store.failed(1, 0))[0]?.id).toBe(failedMax + 3);
});

test("log lines contain neither recipients nor contents", async () => {
  const answers = [refused(false), unavailable, refused(true), accepted];
  await using mail = openTestMail({ answer: () => answers.shift() ?? accepted });
  await mail.put("ada@example.com", resetEmail);
  await mail.put("bob@example.com", accountNotificationEmail);
  for (let round = 0; round < 30; round += 1) {
    await mail.run();
    mail.clock.advance(minuteMs);
  }
  const log = mail.logLines.join("");
  expect(log).toContain('"event":"mail_put_off"');
  expect(log).toContain('"event":"mail_sent"');
  for (const secret of ["ada", "bob", "example.com", "reset-token", "deploy", "192.0.2.1", "curl"]) {
    expect(log).not.toContain(secret);
  }
});
