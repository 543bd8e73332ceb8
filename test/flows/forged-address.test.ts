import { expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { changeRows } from "../support/engine-database.ts";
import { comparable, visit } from "../support/form-requests.ts";
import { linkIn, startMailSink } from "../support/mail-sink.ts";
import { startSignOnApp } from "../support/sign-on.ts";
import { signInClient } from "../support/signed-in-client.ts";

// A writer of the database has put an address into another user's row. That row counts as absent, but keeps the address taken.

const bob = "bob@example.com";
const moved = "/users/confirmation/new_email";

async function forgeRow({ app: { domain } }: TestApp): Promise<void> {
  await domain.accounts.createUser({ email: "victim@example.com", password, admin: false });
  await changeRows(domain.db, "UPDATE users SET email = ? WHERE email = 'victim@example.com'", bob);
}

const reported = ({ logLines }: TestApp) =>
  logLines.some((line) => line.includes('"forged_row_refused"') && line.includes('"users"'));

const signUp = (fixture: TestApp, email: string) => visit(fixture, "/users/sign_up", { email, password });

test("signing up with it says that it is taken, and is reported", async () => {
  await using fixture = await startTestApp();
  await forgeRow(fixture);
  const refused = await signUp(fixture, bob);
  expect([refused.status, refused.body.includes('id="email_problem"')]).toEqual([422, true]);
  expect(reported(fixture)).toBe(true);
});

test("with account emails, signing up with it gets the answer of a free address, no link, and is reported", async () => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({ environment: sink.environment });
  await forgeRow(fixture);
  const free = comparable(await signUp(fixture, "free@example.com"), "free@example.com");
  expect(comparable(await signUp(fixture, bob), bob)).toEqual(free);
  expect((await sink.next(bob)).text).not.toContain("confirmation_token");
  expect(reported(fixture)).toBe(true);
});

test("changing one's address to it says that it is taken, and is reported", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, "ada@example.com", { join: true });
  await forgeRow(fixture);
  const answer = await person.post("/users/edit/email", { email: bob, password });
  expect([answer.status, answer.body.includes("Another account has this address.")]).toEqual([422, true]);
  expect(reported(fixture)).toBe(true);
});

test("with account emails, the link that changes one's address to it says that it is taken", async () => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({ environment: sink.environment });
  const person = await signInClient(fixture, "ada@example.com", { join: true });
  await forgeRow(fixture);
  expect((await person.post("/users/edit/email", { email: bob, password })).status).toBe(303);
  const token = linkIn(await sink.next(bob), moved).searchParams.get("token") ?? "";
  const answer = await person.post(moved, { token });
  expect(answer.status).toBeLessThan(500);
  expect(answer.body).toContain("Another account now has this address, so nothing was changed.");
  expect(reported(fixture)).toBe(true);
});

test("signing in with it at the provider says to contact the administrator, and is reported", async () => {
  const { app, provider, signOn, newVisitor } = await startSignOnApp();
  await forgeRow(app);
  provider.people.set("b-1", { email: bob, email_verified: true });
  const answer = await signOn(newVisitor(), "b-1");
  expect([answer.statusCode, answer.body.includes(en.singleSignOn.noAccount)]).toEqual([403, true]);
  expect(reported(app)).toBe(true);
});

test("an identity that a writer of the database has linked signs nobody in, cannot be linked, and is reported", async () => {
  const { app, provider, signOn, newVisitor } = await startSignOnApp();
  const { domain } = app.app;
  const victim = await domain.accounts.createUser({ email: "victim@example.com", password, admin: false });
  await changeRows(
    domain.db,
    "INSERT INTO identities (issuer, subject, user_id, created_at, mac) VALUES (?, 'b-1', ?, 0, NULL)",
    provider.issuer,
    victim.id,
  );
  provider.people.set("b-1", { email: bob, email_verified: true });
  const answer = await signOn(newVisitor(), "b-1");
  expect([answer.statusCode, answer.body.includes(en.singleSignOn.noAccount)]).toEqual([403, true]);
  expect(app.logLines.some((line) => line.includes('"forged_row_refused"') && line.includes('"identities"'))).toBe(
    true,
  );
});
