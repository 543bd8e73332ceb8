import { beforeAll, expect, test } from "vitest";
import { bearer } from "../support/app.ts";
import { openDeployment } from "../support/deployment.ts";
import { openMailSink } from "../support/mail-sink.ts";
import type { Owner } from "../support/owner.ts";

const sink = await openMailSink();
const deployment = openDeployment({ environment: sink.environment });
const email = "ada@example.com";
let owner: Owner;
beforeAll(async () => {
  owner = await deployment.makeUser(email);
});

async function create(push: object): Promise<string> {
  const made = await deployment.api("/api/v2/pushes", { body: { push }, headers: bearer(owner.apiToken) });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.url_token;
}

/** Waits until nothing is queued: both processes have looked for emails. */
async function untilSent(): Promise<void> {
  const waiting = async () => {
    const [row] = await deployment.query<{ waiting: number }>(
      "SELECT ((SELECT count(*) FROM outbox) + (SELECT count(*) FROM view_notifications))::int AS waiting",
    );
    return row?.waiting;
  };
  await expect.poll(waiting).toBe(0);
}

const recipientsAfter = (earlier: number) =>
  sink
    .messages()
    .slice(earlier)
    .flatMap(({ recipients }) => recipients)
    .sort();

test("twenty views at both processes are twenty emails to the owner", async () => {
  await untilSent();
  const earlier = sink.messages().length;
  const urlToken = await create({ payload: "secret", notify_on_view: true, expire_after_views: 20 });
  const opened = await Promise.all(Array.from({ length: 20 }, () => deployment.api(`/api/v2/pushes/${urlToken}`)));
  expect(opened.map(({ body }) => body.payload)).toEqual(Array(20).fill("secret"));
  await untilSent();
  expect(recipientsAfter(earlier)).toEqual(Array(20).fill(email));
});

test("links are emailed once to each recipient", async () => {
  const earlier = sink.messages().length;
  const recipients = Array.from({ length: 5 }, (_, at) => `recipient-${at}@example.com`);
  for (const _ of ["one", "other"]) await create({ payload: "secret", notify_emails_to: recipients.join(", ") });
  await untilSent();
  expect(recipientsAfter(earlier)).toEqual([...recipients, ...recipients].sort());
});

test("emails that a suspended process was about to send are sent by the other one", async () => {
  const earlier = sink.messages().length;
  await deployment.whileSuspended(0, async () => {
    await create({ payload: "secret", notify_emails_to: "bob@example.com" });
    await expect.poll(() => recipientsAfter(earlier)).toEqual(["bob@example.com"]);
  });
  await untilSent();
  expect(recipientsAfter(earlier)).toEqual(["bob@example.com"]);
});

test("an email that a killed process was sending is sent again by another one, with the same Message-ID", async () => {
  const [carol, earlier] = ["carol@example.com", sink.attempts()];
  const over = Promise.withResolvers<void>();
  sink.holdMessages(over.promise);
  // Nobody but the first one can send it.
  await deployment.whileSuspended(1, async () => {
    await create({ payload: "secret", notify_emails_to: carol });
    await expect.poll(() => sink.attempts()).toBeGreaterThan(earlier);
  });
  await deployment.killAndReplace(0);
  over.resolve();
  // For all that the others know, it is still being sent.
  await deployment.query("UPDATE outbox SET due_at = 0");
  await untilSent();
  const sent = sink.messages().filter(({ recipients }) => recipients.includes(carol));
  expect(sent.length).toBeGreaterThan(0);
  expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(1);
});
