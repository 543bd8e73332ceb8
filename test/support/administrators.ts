import { afterAll, beforeAll, onTestFinished } from "vitest";
import { sql } from "../../src/database/statement.ts";
import { startTestApp, type TestApp } from "./app.ts";
import { makeGroup } from "./groups.ts";
import { createOwnedPushes, type OwnedPushes } from "./owned-pushes.ts";
import { type SignedInClient, signInClient } from "./signed-in-client.ts";

export interface AdministeredFixture {
  readonly fixture: TestApp;
  /** An administrator, signed in. */
  readonly root: SignedInClient;
  /** Another user with data of every kind. */
  readonly ownedPushes: OwnedPushes;
  /** A failed email to the owner of `ownedPushes`; its link contains `resetToken`. */
  readonly failedMailId: number;
  /** A group whose member the owner of `ownedPushes` is. */
  readonly groupId: number;
}

type Environment = Readonly<Record<string, string>>;

export const rootEmail = "root@example.com";
export const resetToken = "a-canary-of-a-link-that-works";

/** Account emails are enabled, but the mail server is unreachable. */
const unreachableMailServer: Environment = {
  PWP__MAIL__SMTP_ADDRESS: "127.0.0.1",
  PWP__MAIL__SMTP_PORT: "9",
  PWP__ENABLE_USER_ACCOUNT_EMAILS: "true",
  PWP__OVERRIDE_BASE_URL: "http://localhost",
};

/** A server with every kind of data that an administrator can act on. */
export async function openAdministered(environment: Environment = {}): Promise<AdministeredFixture> {
  const opened = await open(environment);
  onTestFinished(() => opened.fixture[Symbol.asyncDispose]());
  return opened;
}

/** Call at the top of a file whose tests do not change its data. */
export function shareAdministered(): () => AdministeredFixture {
  let opened: AdministeredFixture | undefined;
  beforeAll(async () => {
    opened = await open({});
  });
  afterAll(() => opened?.fixture[Symbol.asyncDispose]());
  return () => {
    if (opened === undefined) throw new Error("The server exists only while tests run.");
    return opened;
  };
}

async function open(environment: Environment): Promise<AdministeredFixture> {
  const fixture = await startTestApp({ environment: { ...unreachableMailServer, ...environment } });
  const ownedPushes = await createOwnedPushes(fixture);
  const root = await signInClient(fixture, rootEmail, { join: true, admin: true });
  const { id: groupId } = await makeGroup(fixture, "Helpdesk", [ownedPushes.userId]);
  return { fixture, root, ownedPushes, failedMailId: await giveUpMail(fixture, ownedPushes.email), groupId };
}

const giveUpNewest = sql(
  "UPDATE outbox SET due_at = NULL, attempts = 3, last_error = 'refused' WHERE id = (SELECT max(id) FROM outbox)",
);

/** @returns the id of an email that has failed for good. */
export async function giveUpMail({ app, clock }: TestApp, to: string): Promise<number> {
  const { db, mail } = app.domain;
  await db.write(async (tx) => {
    const content = { kind: "reset_password", token: resetToken } as const;
    await mail.outbox.put(tx, { to, language: null, content }, clock.now());
    await tx.run(giveUpNewest);
  });
  return (await mail.failedEmails(1))[0]?.id ?? 0;
}
