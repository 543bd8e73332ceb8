import { expect, test } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { changeUsers } from "../support/access-rows.ts";
import { bearer, startTestApp } from "../support/app.ts";
import { makeTestCli } from "../support/cli.ts";
import { TestClock } from "../support/domain.ts";
import { linkIn, startMailSink } from "../support/mail-sink.ts";
import { signInClient } from "../support/signed-in-client.ts";

const address = "eve@example.com";
const moved = "moved@example.com";

/** An administrator, and a user with a push and a request. */
async function open() {
  const sink = await startMailSink();
  const clock = new TestClock();
  const cli = makeTestCli({ clock });
  const environment = { ...sink.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "true" };
  const fixture = await startTestApp({ dataDir: cli.dataDir, clock, environment });
  const root = await signInClient(fixture, "root@example.com", { join: true, admin: true });
  const eve = await signInClient(fixture, address, { join: true });
  const { accounts } = fixture.app.domain;
  const { id } = (await accounts.findUserByEmail(address)) ?? { id: 0 };
  const { token } = await accounts.createToken(id, "test");
  const headers = bearer(token);
  expect((await sink.next(address)).subject).toContain("An API token was created");
  const create = async (push: object): Promise<string> => {
    const made = await fixture.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload: { push } });
    return made.json().url_token;
  };
  const urlToken = await create({ payload: "hunter2", name: "VPN" });
  const listed = async () =>
    (await fixture.server.inject({ url: "/api/v2/pushes/active", headers })).json().map((push: object) => ({
      link: Reflect.get(push, "url_token"),
      name: Reflect.get(push, "name"),
    }));
  const change = (...more: readonly string[]) =>
    cli.run(["user", "change-email", "--email", address, "--to", moved, ...more], { environment });
  return { sink, fixture, root, eve, id, headers, create, urlToken, listed, change };
}

test("an administrator who takes an address gets no stored link, both addresses hear of it, and links still open", async () => {
  const { sink, fixture, root, eve, id, urlToken, listed } = await open();
  await using _ = fixture;
  expect(await listed()).toEqual([{ link: urlToken, name: "VPN" }]);
  expect((await root.post(`/admin/users/${id}/change_email`, { email: moved })).status).toBe(303);
  expect(await listed()).toEqual([{ link: "", name: "VPN" }]);
  const page = (await eve.get("/p")).body;
  expect(page).toContain("This server does not store its link.");
  expect(page).not.toContain(urlToken);
  expect((await sink.next(address)).subject).toContain("Your email address was changed");
  expect((await sink.next(moved)).subject).toContain("Your account has this email address now");
  expect((await fixture.app.domain.accounts.listAdminEntries(1))[0]).toMatchObject({ action: "changed_email" });
  const opened = await fixture.server.inject({ url: `/api/v2/pushes/${urlToken}` });
  expect(opened.json()).toMatchObject({ payload: "hunter2" });
});

test("links that are stored after the link secret was overwritten are listed beside those that are lost", async () => {
  const { sink, fixture, root, id, create, listed } = await open();
  await using _ = fixture;
  await root.post(`/admin/users/${id}/change_email`, { email: moved });
  await sink.next(moved);
  const later = await create({ payload: "hunter3", name: "Mail" });
  expect(await listed()).toEqual([
    { link: later, name: "Mail" },
    { link: "", name: "VPN" },
  ]);
  expect(fixture.logLines.filter((line) => line.includes("forged"))).toEqual([]);
});

test("after the old address has confirmed the change, the lists still have their links", async () => {
  const { sink, fixture, root, eve, id, urlToken, listed } = await open();
  await using _ = fixture;
  expect((await root.post(`/admin/users/${id}/ask_email`, { email: "root@example.com" })).status).toBe(422);
  expect((await root.post(`/admin/users/${id}/ask_email`, { email: moved })).status).toBe(303);
  expect((await fixture.app.domain.accounts.listAdminEntries(1))[0]).toMatchObject({ action: "asked_to_change_email" });
  const link = linkIn(await sink.next(address), "/users/confirmation/new_email");
  expect(await fixture.app.domain.accounts.findUserByEmail(moved)).toBeUndefined();
  const shown = await eve.get(`${link.pathname}${link.search}`);
  expect(shown.body).toContain(moved);
  await eve.post(link.pathname, { token: link.searchParams.get("token") ?? "" });
  expect(await fixture.app.domain.accounts.findUserByEmail(moved)).toMatchObject({ id });
  expect(await listed()).toEqual([{ link: urlToken, name: "VPN" }]);
});

test("the command changes an address at once, destroys the stored links and notifies both addresses", async () => {
  const { sink, fixture, id, listed, change } = await open();
  await using _ = fixture;
  expect(await change()).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await fixture.app.domain.accounts.findUserByEmail(moved)).toMatchObject({ id });
  expect(await listed()).toEqual([{ link: "", name: "VPN" }]);
  expect((await sink.next(address)).subject).toContain("Your email address was changed");
  expect((await sink.next(moved)).subject).toContain("Your account has this email address now");
});

test("the command with --ask changes nothing before the old address has confirmed, and the stored links stay", async () => {
  const { sink, fixture, eve, id, urlToken, listed, change } = await open();
  await using _ = fixture;
  const { accounts } = fixture.app.domain;
  expect(await change("--ask")).toEqual({ exitCode: 0, stdout: `User ${id} was asked by email.\n`, stderr: "" });
  expect((await accounts.listAdminEntries(1))[0]).toMatchObject({ action: "asked_to_change_email" });
  const link = linkIn(await sink.next(address), "/users/confirmation/new_email");
  expect(await accounts.findUserByEmail(moved)).toBeUndefined();
  expect(await accounts.findUserByEmail(address)).toMatchObject({ id });
  expect(await listed()).toEqual([{ link: urlToken, name: "VPN" }]);
  await eve.post(link.pathname, { token: link.searchParams.get("token") ?? "" });
  expect(await accounts.findUserByEmail(moved)).toMatchObject({ id });
  expect(await listed()).toEqual([{ link: urlToken, name: "VPN" }]);
});

test("an email with a link that still waits when the link secret is overwritten is dropped", async () => {
  const { sink, fixture, root, id, headers, create } = await open();
  await using _ = fixture;
  sink.refuseNext(1, { at: "recipient", code: 451, text: "later" });
  const urlToken = await create({ payload: "hunter2", notify_emails_to: "bob@example.com" });
  await expect.poll(() => fixture.logLines.filter((line) => line.includes("mail_put_off")).length).toBe(1);
  await root.post(`/admin/users/${id}/change_email`, { email: moved });
  await sink.next(moved);
  fixture.clock.advance(hourMs);
  const { mail } = fixture.app.domain;
  await expect.poll(() => mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  expect(sink.messages().filter(({ recipients }) => recipients.includes("bob@example.com"))).toEqual([]);
  const { logs } = (await fixture.server.inject({ url: `/api/v2/pushes/${urlToken}/audit`, headers })).json();
  expect(logs).toContainEqual(
    expect.objectContaining({ notify_by_email: expect.objectContaining({ status: "failed", successful_sends: "" }) }),
  );
});

test("a reset of the second factors keeps the links", async () => {
  const { fixture, root, id, urlToken, listed } = await open();
  await using _ = fixture;
  await changeUsers(fixture.app.domain, { secondFactors: 1 }, address);
  await root.post(`/admin/users/${id}/reset_factors`);
  expect(await listed()).toEqual([{ link: urlToken, name: "VPN" }]);
});
