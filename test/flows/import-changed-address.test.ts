import { expect, test } from "vitest";
import { bearer, type TestApp } from "../support/app.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { importOf, makeImportTarget } from "../support/password-pusher/import-run.ts";
import { installProduction } from "../support/password-pusher/installations.ts";
import { addLeaver, changeSource, leaver, linkOf } from "../support/password-pusher/source-changes.ts";

const moved = "moved@example.com";
const [imported] = leaver.pushes;

/** The links on the list of a user. */
async function listedLinks({ app, server }: TestApp, email: string): Promise<readonly string[]> {
  const { id } = (await app.domain.accounts.findUserByEmail(email)) ?? { id: 0 };
  const { token } = await app.domain.accounts.createToken(id, "reader");
  const answer = await server.inject({ url: "/api/v2/pushes/active", headers: bearer(token) });
  return answer.json().map((push: { url_token: string }) => push.url_token);
}

test("an import that changes an address takes the account's stored links, both addresses hear of it, and links still open", async () => {
  const { environment, next } = await startMailSink();
  const target = makeImportTarget();
  const installation = installProduction();
  const run = async () => {
    const { exitCode, stderr } = await target.cli.run(importOf(installation), { environment });
    expect(exitCode, stderr).toBe(0);
  };
  await changeSource(installation, async (change) => {
    // It cannot be decrypted, which would hide the exit code.
    await change("DELETE FROM pushes WHERE id = 103");
    await addLeaver(change);
  });
  await run();
  const app = await target.serve(environment);
  expect(await listedLinks(app, leaver.email)).toContain(linkOf(imported));
  await changeSource(installation, async (change) => {
    await change("UPDATE users SET email = ? WHERE id = ?", moved, leaver.id);
  });
  await run();
  expect(new Set(await listedLinks(app, moved))).toEqual(new Set([""]));
  const subjects = [(await next(leaver.email)).subject, (await next(leaver.email)).subject];
  expect(subjects.join()).toContain("Your email address was changed");
  const newSubjects = [(await next(moved)).subject, (await next(moved)).subject];
  expect(newSubjects.join()).toContain("Your account has this email address now");
  expect((await app.app.domain.accounts.listAdminEntries(1))[0]).toMatchObject({
    action: "changed_email",
    subject: `${leaver.email} -> ${moved}`,
  });
  expect((await app.server.inject({ url: `/api/v2/pushes/${linkOf(imported)}` })).statusCode).toBe(200);
});
