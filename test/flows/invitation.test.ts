import { expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { makeTestCli } from "../support/cli.ts";
import { isSignedIn, visit } from "../support/form-requests.ts";
import { linkIn, type MailSink, startMailSink } from "../support/mail-sink.ts";
import { signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const chosen = "marble-otter-lantern";
const path = "/users/password/edit";
const create = ["user", "create", "--email", ada];

const signIn = (fixture: TestApp, password: string) => visit(fixture, "/users/sign_in", { email: ada, password });
const tokenOf = (link: URL) => link.searchParams.get("reset_password_token") ?? "";
const choose = (fixture: TestApp, link: URL) =>
  visit(fixture, path, { reset_password_token: tokenOf(link), password: chosen });
/** Invitations need a mail server, and no account emails. */
const settingsOf = (sink: MailSink) => ({ ...sink.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "false" });

test("`user create --mail-link` mails an invitation, whose link chooses the password once", async () => {
  const sink = await startMailSink();
  const environment = settingsOf(sink);
  const cli = makeTestCli();
  const made = await cli.run([...create, "--admin", "--mail-link"], { environment });
  expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Created user ada@example.com, an adm/) });
  await using fixture = await startTestApp({ environment, dataDir: cli.dataDir });
  const mail = await sink.next(ada);
  expect(mail.subject).toContain("An account was created for you");
  expect(mail.text).toContain("72 hours");
  const link = linkIn(mail, path);
  expect(made.stdout).not.toContain(tokenOf(link));
  expect((await visit(fixture, `${link.pathname}${link.search}`)).status).toBe(200);
  expect(await choose(fixture, link)).toMatchObject({ status: 303, location: "/users/sign_in?done=password_changed" });
  expect(await isSignedIn(fixture, (await signIn(fixture, chosen)).cookie)).toBe(true);
  expect((await choose(fixture, link)).status).toBe(404);
  expect(await fixture.app.domain.accounts.findUserByEmail(ada)).toMatchObject({ admin: true });
});

test("an invitation of an administrator works for three days, and a request for another link leaves it valid", async () => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({ environment: sink.environment });
  const root = await signInClient(fixture, "root@example.com", { join: true, admin: true });
  const invited = async (email: string) => {
    expect((await root.post("/admin/users", { email })).status).toBe(201);
    return linkIn(await sink.next(email), path);
  };
  const link = await invited(ada);
  const late = await invited("eve@example.com");
  await visit(fixture, "/users/password/new", { email: ada });
  const reset = linkIn(await sink.next(ada), path);
  fixture.clock.advance(3 * dayMs - 1);
  expect((await visit(fixture, `${link.pathname}${link.search}`)).status).toBe(200);
  expect((await choose(fixture, reset)).status).toBe(404);
  expect((await choose(fixture, link)).status).toBe(303);
  fixture.clock.advance(1);
  expect((await choose(fixture, late)).status).toBe(404);
});

test("`user create --show-password` prints a password that works, once", async () => {
  const cli = makeTestCli();
  const made = await cli.run([...create, "--show-password"]);
  const [, shown = ""] = /^Password, not shown again: ([\w-]{24})$/m.exec(made.stdout) ?? [];
  await using fixture = await startTestApp({ dataDir: cli.dataDir });
  expect(await isSignedIn(fixture, (await signIn(fixture, shown)).cookie)).toBe(true);
});

test("`user create` needs one source of the password, and a mail server for an invitation", async () => {
  const cli = makeTestCli();
  const sources = ["--password-stdin", "--mail-link", "--show-password"];
  for (const given of [[], sources.slice(0, 2), sources.slice(1), [sources[0] ?? "", sources[2] ?? ""], sources]) {
    const run = await cli.run([...create, ...given], { stdin: chosen });
    expect([given, run.exitCode, run.stdout]).toEqual([given, 2, ""]);
  }
  const run = await cli.run([...create, "--mail-link"]);
  expect(run).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("Mail is off") });
});
