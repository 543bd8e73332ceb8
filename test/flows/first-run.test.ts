import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { makeDataDir } from "../support/domain.ts";
import { readRows } from "../support/engine-database.ts";
import { bootCodeOf, isSignedIn, type Sender, visit } from "../support/form-requests.ts";

const email = "ada@example.com";
const bootCodeRows = ({ app }: TestApp) => readRows(app.domain.db, "SELECT value FROM meta WHERE name = 'boot_codes'");
const create = (fixture: TestApp, more: Readonly<Record<string, string>> = {}, sender: Sender = {}) =>
  visit(fixture, "/first_run", { boot_code: bootCodeOf(fixture), email, password, ...more }, sender);
const users = async ({ app }: TestApp) => (await app.domain.accounts.searchUsers("", 1)).map(({ user }) => user);

test("the boot code is in the log; the database has only its digest, the data folder nothing", async () => {
  await using fixture = await startTestApp();
  const code = bootCodeOf(fixture);
  expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{5}-){4}[0-9a-hjkmnp-tv-z]{5}$/);
  const [{ value }] = (await bootCodeRows(fixture)) as [{ value: Buffer }];
  expect(value).toEqual(fixture.app.domain.vault.access.digest("boot_code", code.replaceAll("-", "")));
  for (const name of readdirSync(fixture.dataDir, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const bytes = readFileSync(join(name.parentPath, name.name), "latin1");
    expect(bytes.includes(code) || bytes.includes(code.replaceAll("-", "")), name.name).toBe(false);
  }
});

test("the boot code makes its user the signed-in administrator; afterwards its digest is deleted", async () => {
  await using fixture = await startTestApp();
  const code = bootCodeOf(fixture);
  expect((await visit(fixture, "/first_run")).status).toBe(200);
  const made = await create(fixture);
  expect(made).toMatchObject({ status: 303, location: "/admin" });
  expect(await isSignedIn(fixture, made.cookie)).toBe(true);
  expect(await users(fixture)).toMatchObject([{ email, admin: true }]);
  expect(await bootCodeRows(fixture)).toEqual([{ value: Buffer.alloc(0) }]);

  const again = await visit(fixture, "/first_run", { boot_code: code, email: "eve@example.com", password });
  expect(again).toMatchObject({ status: 303, location: "/users/sign_in", cookie: "" });
  expect(await visit(fixture, "/first_run")).toMatchObject({ status: 303, location: "/users/sign_in" });
  expect(await users(fixture)).toHaveLength(1);
});

test("of many concurrent requests with the boot code, one creates the administrator", async () => {
  await using fixture = await startTestApp();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      create(fixture, { email: `racer${at}@example.com` }, { address: `192.0.2.${at + 1}` }),
    ),
  );
  expect(answers.filter(({ cookie }) => cookie !== "")).toHaveLength(1);
  expect(await users(fixture)).toHaveLength(1);
});

test("a wrong boot code is refused without checking other fields, and is soon throttled", async () => {
  await using fixture = await startTestApp();
  const attempt = (sender?: Sender) => create(fixture, { boot_code: "wrong", password: "short" }, sender);
  const refused = await attempt();
  expect(refused).toMatchObject({ status: 422, cookie: "" });
  expect(refused.body).toContain('id="boot_code_problem"');
  expect(refused.body).not.toContain('id="password_problem"');
  const many = await Promise.all(Array.from({ length: 40 }, () => attempt()));
  expect(many.filter(({ status }) => status === 422)).toHaveLength(19);
  expect(Number(many.at(-1)?.retryAfter)).toBeGreaterThan(0);
  // Only the guessing client has to wait.
  expect((await create(fixture, {}, { address: "198.51.100.1" })).status).toBe(303);
});

test("the code is accepted in any spelling", async () => {
  await using fixture = await startTestApp();
  const typed = ` ${bootCodeOf(fixture).toUpperCase().replaceAll("-", " ").replaceAll("0", "o").replaceAll("1", "l")} `;
  expect((await create(fixture, { boot_code: typed })).status).toBe(303);
});

test("errors are shown beside their fields; typed values are kept, except code and password", async () => {
  await using fixture = await startTestApp();
  const refused = await create(fixture, { email: "<b>no address", password: "password1234" });
  expect(refused.status).toBe(422);
  expect(refused.body).toContain('id="email_problem"');
  expect(refused.body).toContain('id="password_problem"');
  expect(refused.body).toContain('value="&lt;b>no address"');
  expect(refused.body).not.toContain("password1234");
  expect(refused.body).not.toContain(bootCodeOf(fixture));
});

test("pushes work before the first run, and the sign-in page redirects to it", async () => {
  await using fixture = await startTestApp();
  expect((await visit(fixture, "/")).status).toBe(200);
  const pushed = await fixture.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    payload: { push: { payload: "x" } },
  });
  expect(pushed.statusCode).toBe(201);
  expect((await visit(fixture, "/users/sign_in")).body).toContain('href="/first_run"');
});

test("signing up is not possible before there is an administrator", async () => {
  await using fixture = await startTestApp();
  expect(await visit(fixture, "/users/sign_up")).toMatchObject({ status: 303, location: "/first_run" });
  const posted = await visit(fixture, "/users/sign_up", { email, password });
  expect(posted).toMatchObject({ status: 303, location: "/first_run", cookie: "" });
  expect(await users(fixture)).toEqual([]);
});

test("an account created by the operator ends the first run", async () => {
  await using fixture = await startTestApp();
  const code = bootCodeOf(fixture);
  await fixture.app.domain.accounts.createUser({ email: "operator@example.com", password, admin: true });
  const late = await visit(fixture, "/first_run", { boot_code: code, email, password });
  expect(late).toMatchObject({ status: 303, location: "/users/sign_in", cookie: "" });
  expect(await users(fixture)).toHaveLength(1);
});

test("each start logs another code until there is an account, and earlier ones stay valid", async () => {
  const dataDir = makeDataDir();
  const first = await startTestApp({ dataDir });
  const code = bootCodeOf(first);
  await first.app.close();
  const second = await startTestApp({ dataDir });
  expect(bootCodeOf(second)).not.toBe(code);
  expect((await create(second, { boot_code: code })).status).toBe(303);
  second.clock.advance(hourMs);
  await second.app.close();
  await using third = await startTestApp({ dataDir });
  expect(() => bootCodeOf(third)).toThrow();
});

test("the newest 16 codes are valid", async () => {
  await using fixture = await startTestApp();
  const { accounts } = fixture.app.domain;
  const oldest = bootCodeOf(fixture);
  const codes: string[] = [];
  for (let start = 0; start < 16; start += 1) codes.push((await accounts.openFirstRun()) ?? "");
  expect((await create(fixture, { boot_code: oldest })).status).toBe(422);
  expect((await create(fixture, { boot_code: codes[0] ?? "" })).status).toBe(303);
});

test("no boot code comes back after the last user was deleted, nor after a restart", async () => {
  const dataDir = makeDataDir();
  const first = await startTestApp({ dataDir });
  const code = bootCodeOf(first);
  const { id } = await first.app.domain.accounts.createUser({ email, password, admin: false });
  expect(await first.app.domain.deleteAccount(id, null)).toMatchObject({ outcome: "done" });
  expect(await users(first)).toEqual([]);
  const asked = { boot_code: code, email: "eve@example.com", password };
  expect(await visit(first, "/first_run", asked)).toMatchObject({
    status: 303,
    location: "/users/sign_in",
    cookie: "",
  });
  await first.app.close();
  await using second = await startTestApp({ dataDir });
  expect(() => bootCodeOf(second)).toThrow();
  expect(await visit(second, "/first_run", asked)).toMatchObject({
    status: 303,
    location: "/users/sign_in",
    cookie: "",
  });
  // The next administrator can only be created from a shell.
  expect((await visit(second, "/users/sign_up", { email, password })).location).not.toBe("/first_run");
  await second.app.domain.accounts.createUser({ email: "root@example.com", password, admin: true });
  expect((await users(second)).filter(({ admin }) => admin)).toHaveLength(1);
});

test("with sign-in disabled there is no first run and no code", async () => {
  await using fixture = await startTestApp({ environment: { PWP__DISABLE_LOGINS: "true" } });
  expect(() => bootCodeOf(fixture)).toThrow();
  expect((await visit(fixture, "/first_run")).status).toBe(403);
  expect((await visit(fixture, "/first_run", { boot_code: "", email, password })).status).toBe(403);
});
