import { describe, expect, test } from "vitest";
import { settingTable } from "../../src/config/config.ts";
import { isNodeOutdated, pinnedPrograms } from "../../src/config/pinned-programs.ts";
import { en, findMessages, languages } from "../../src/i18n/i18n.ts";
import {
  type AdministeredFixture,
  giveUpMail,
  openAdministered,
  resetToken,
  rootEmail,
} from "../support/administrators.ts";
import { startTestApp } from "../support/app.ts";
import { changesBetween, rowsOfOthers } from "../support/database-rows.ts";
import { engine } from "../support/engine.ts";
import { signInClient } from "../support/signed-in-client.ts";

const { admin } = en;
const pages = ["", "/users", "/sessions", "/pushes", "/mails", "/jobs", "/settings", "/look", "/trail"].map(
  (path) => `/admin${path}`,
);

/** As it is escaped in HTML. */
const written = (text: string) => text.replaceAll("'", "&#39;");

async function idOf({ fixture }: AdministeredFixture, email: string): Promise<number> {
  return (await fixture.app.domain.accounts.findUserByEmail(email))?.id ?? 0;
}

async function trailOf({ fixture }: AdministeredFixture): Promise<readonly (readonly [string, string])[]> {
  const entries = await fixture.app.domain.accounts.listAdminEntries(1);
  return entries.map(({ action, subject }) => [action, subject]);
}

describe("the last administrator", () => {
  test.each(["demote", "disable", "delete"])("cannot %s their own account", async (action) => {
    const opened = await openAdministered();
    const { fixture, root } = opened;
    const before = await rowsOfOthers(fixture, null);
    const answer = await root.post(`/admin/users/${await idOf(opened, rootEmail)}/${action}`);
    expect(answer.status).toBe(422);
    expect(answer.body).toContain(`${rootEmail}`);
    expect(answer.body).toContain("is the last administrator");
    expect(changesBetween(before, await rowsOfOthers(fixture, null))).toEqual([]);
  });

  test("is the only enabled one, even if a disabled administrator exists", async () => {
    const opened = await openAdministered();
    await signInClient(opened.fixture, "second@example.com", { join: true, admin: true });
    const second = await idOf(opened, "second@example.com");
    expect((await opened.root.post(`/admin/users/${second}/disable`)).status).toBe(303);
    expect((await opened.root.post(`/admin/users/${await idOf(opened, rootEmail)}/demote`)).status).toBe(422);
  });

  test.each([
    ["demote", "demote"],
    ["delete", "disable"],
  ])("remains when two administrators %s and %s each other at once", async (one, other) => {
    const opened = await openAdministered();
    const { fixture, root } = opened;
    const second = await signInClient(fixture, "second@example.com", { join: true, admin: true });
    const [rootId, secondId] = [await idOf(opened, rootEmail), await idOf(opened, second.email)];
    const answers = await Promise.all([
      root.post(`/admin/users/${secondId}/${one}`),
      second.post(`/admin/users/${rootId}/${other}`),
    ]);
    // The second request finds its sender without administrator rights, or signed out.
    const done = answers.filter(({ status, location }) => status === 303 && !location?.startsWith("/users/sign_in"));
    expect(done).toHaveLength(1);
    const users = await fixture.app.domain.accounts.searchUsers("", 1);
    expect(users.filter(({ user }) => user.admin && user.disabledAt === null)).toHaveLength(1);
  });
});

describe("an administrator", () => {
  test("who demotes their own account is redirected to the start page, and the administration pages are then unknown", async () => {
    const opened = await openAdministered();
    await signInClient(opened.fixture, "second@example.com", { join: true, admin: true });
    const answer = await opened.root.post(`/admin/users/${await idOf(opened, rootEmail)}/demote`);
    expect(answer).toMatchObject({ status: 303, location: "/" });
    expect((await opened.root.get("/admin")).status).toBe(404);
  });

  test("causes one trail entry per action", async () => {
    const opened = await openAdministered();
    const { fixture, root, ownedPushes, failedMailId } = opened;
    await signInClient(fixture, "eve@example.com", { join: true });
    const eve = await idOf(opened, "eve@example.com");
    const retried = await giveUpMail(fixture, "eve@example.com");
    const [push] = ownedPushes.ids.push;
    const acts = [
      [`/admin/users/${eve}/promote`, "made_admin", "eve@example.com"],
      [`/admin/users/${eve}/demote`, "removed_admin", "eve@example.com"],
      [`/admin/users/${eve}/disable`, "disabled", "eve@example.com"],
      [`/admin/users/${eve}/enable`, "enabled", "eve@example.com"],
      [`/admin/users/${eve}/sessions/end`, "ended_sessions", "eve@example.com"],
      [`/admin/users/${ownedPushes.userId}/reset_factors`, "reset_factors", ownedPushes.email],
      [`/admin/pushes/${push}/expire`, "ended_push", String(push)],
      [`/admin/mails/${retried}/retry`, "retried_mail", String(retried)],
      [`/admin/mails/${failedMailId}/discard`, "discarded_mail", String(failedMailId)],
      ["/admin/look/name", "changed_branding", "name"],
      ["/admin/look/name/reset", "changed_branding", "name"],
      [`/admin/users/${eve}/delete`, "deleted_user", "eve@example.com"],
    ] as const;
    for (const [path] of acts) {
      expect([path, (await root.post(path, { name: "Example" })).status]).toEqual([path, 303]);
    }
    expect(await trailOf(opened)).toEqual(acts.map(([, action, subject]) => [action, subject]).reverse());
    const entries = await fixture.app.domain.accounts.listAdminEntries(1);
    expect(new Set(entries.map(({ adminEmail, address }) => `${adminEmail} ${address}`))).toEqual(
      new Set([`${rootEmail} 192.0.2.7`]),
    );
    const trail = (await root.get("/admin/trail")).body;
    expect(trail).toContain("192.0.2.7");
    expect(trail).toContain(`Queued email ${retried} to be sent again`);
    expect(trail).toContain(admin.productName);
    expect(await fixture.app.domain.accounts.findUserByEmail("eve@example.com")).toBeUndefined();
  });

  test("gets 404 for unknown objects, and no trail entry is written", async () => {
    const { root, ownedPushes, ...opened } = await openAdministered();
    const answers = [
      ["/admin/users/9999/promote", 404],
      ["/admin/users/9999/reset_factors", 404],
      ["/admin/users/9999/delete", 404],
      ["/admin/users/1e3/promote", 404],
      ["/admin/users/-1/delete", 404],
      ["/admin/pushes/999999999999/expire", 404],
      ["/admin/pushes/x/expire", 404],
      ["/admin/mails/9999/retry", 404],
      ["/admin/mails/9999/discard", 404],
    ] as const;
    for (const [path, status] of answers) expect([path, (await root.post(path)).status]).toEqual([path, status]);
    expect(
      (await root.post(`/admin/users/${await idOf({ root, ownedPushes, ...opened }, rootEmail)}/reset_factors`)).status,
    ).toBe(422);
    expect(await trailOf({ root, ownedPushes, ...opened })).toEqual([]);
  });

  test("changes only what the path names, whatever other fields the form has", async () => {
    const opened = await openAdministered();
    const { fixture, root, ownedPushes } = opened;
    const more = { admin: "true", "user[admin]": "true", id: "1", email: "evil@example.com", disabled_at: "", q: "x" };
    await root.post(`/admin/users/${ownedPushes.userId}/disable`, { ...more, password: "another good password" });
    const found = await fixture.app.domain.accounts.findUser(ownedPushes.userId);
    expect(found).toMatchObject({ admin: false, email: ownedPushes.email, disabledAt: fixture.clock.now() });
    await root.post(`/admin/users/${ownedPushes.userId}/enable`, more);
    expect(await fixture.app.domain.accounts.findUser(ownedPushes.userId)).toMatchObject({
      admin: false,
      disabledAt: null,
    });
  });

  test("finds users by the typed text, which is not a pattern", async () => {
    const { root, ownedPushes } = await openAdministered();
    expect((await root.get(`/admin/users?q=${ownedPushes.email.slice(0, 8)}`)).body).toContain(ownedPushes.email);
    expect((await root.get("/admin/users?q=%25")).body).toContain(admin.noUsers);
    const markup = (await root.get("/admin/users?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")).body;
    expect(markup).not.toContain("<script>alert");
    for (const query of ["page=0", "page=-1", "page=1e9", "page=x", "q=a&q=b", `q=${"a".repeat(3_000)}`]) {
      expect([query, (await root.get(`/admin/users?${query}`)).status < 500]).toEqual([query, true]);
    }
  });
});

describe("a disabled user", () => {
  test("is refused at once with session and token, and the links of their pushes keep working", async () => {
    const { fixture, root, ownedPushes } = await openAdministered();
    await root.post(`/admin/users/${ownedPushes.userId}/disable`);
    expect((await ownedPushes.person.get("/p")).status).toBe(303);
    const headers = { authorization: `Bearer ${ownedPushes.apiToken}` };
    expect((await fixture.server.inject({ url: "/api/v2/pushes/active", headers })).statusCode).toBe(401);
    const link = await fixture.server.inject({ url: `/p/${ownedPushes.urlTokens[0]}/r` });
    expect(link.statusCode).toBe(200);
  });
});

describe("a push that an administrator ends", () => {
  test("is gone at once, and its audit trail names the administrator", async () => {
    const { fixture, root, ownedPushes } = await openAdministered();
    const [id] = ownedPushes.ids.push;
    const [urlToken = ""] = ownedPushes.urlTokens;
    const answer = await root.post(`/admin/pushes/${id}/expire`, {
      state: "active",
      kind: "text",
      owner: ownedPushes.email,
    });
    expect(answer.location).toBe(`/admin/pushes?owner=${encodeURIComponent(ownedPushes.email)}&state=active&kind=text`);
    const found = await fixture.app.domain.store.findById(id ?? 0);
    expect(found).toMatchObject({ endReason: "administrator" });
    expect((await ownedPushes.person.get(`/p/${urlToken}/audit`)).body).toContain(
      written(en.dashboard.administratorExpire),
    );
    // A second request changes nothing and adds no second entry.
    expect((await root.post(`/admin/pushes/${id}/expire`)).status).toBe(303);
    expect(await fixture.app.domain.accounts.listAdminEntries(1)).toHaveLength(1);
  });

  test("is found by owner, kind and state", async () => {
    const { fixture, root, ownedPushes } = await openAdministered();
    await fixture.server.inject({ method: "POST", url: "/api/v2/pushes", payload: { push: { payload: "anonymous" } } });
    const rows = async (query: string) =>
      (await root.get(`/admin/pushes?${query}`)).body.match(/<th scope="row"/g)?.length;
    expect(await rows("")).toBe(3);
    expect(await rows(`owner=${ownedPushes.email}`)).toBe(2);
    expect(await rows(`owner=${ownedPushes.email}&kind=file`)).toBe(1);
    expect(await rows("state=expired")).toBeUndefined();
    expect((await root.get("/admin/pushes?owner=nobody@example.com")).body).toContain(admin.unknownOwner);
    for (const query of ["before=-1", "before=x", "before=1e3", "kind=x", "state=x", "owner=%00"]) {
      expect([query, (await root.get(`/admin/pushes?${query}`)).status]).toEqual([query, 200]);
    }
  });
});

test("no administration page shows a secret, a label, a link, a token or the content of an email", async () => {
  const opened = await openAdministered({
    PWPUSH_MASTER_KEY: "5eed".repeat(16),
    PWP__MAIL__SMTP_USER_NAME: "mailer",
    PWP__MAIL__SMTP_PASSWORD: "a-canary-of-a-mail-password",
    PWP__OIDC__ISSUER: "http://localhost:9",
    PWP__OIDC__CLIENT_ID: "sealpush",
    PWP__OIDC__CLIENT_SECRET: "a-canary-of-a-client-secret",
  });
  const { root, ownedPushes, failedMailId } = opened;
  const { canaries } = ownedPushes;
  const give = (name: string, value: string) => canaries.add(name, value);
  give("reset link", resetToken);
  give("master key", "5eed".repeat(16));
  give("mail password", "a-canary-of-a-mail-password");
  give("client secret", "a-canary-of-a-client-secret");
  give("API token", ownedPushes.apiToken);
  give("session", ownedPushes.person.cookie().split("=")[1] ?? "");
  for (const [at, urlToken] of ownedPushes.urlTokens.entries()) give(`url_token ${at}`, urlToken);

  const walk = async () => {
    for (const path of [...pages, `/admin/pushes?owner=${ownedPushes.email}`, `/admin/users?q=${ownedPushes.email}`]) {
      const { status, body } = await root.get(path);
      expect([path, status]).toEqual([path, 200]);
      for (const code of ownedPushes.backupCodes) expect(body).not.toContain(code);
      const showsAddresses = path === "/admin/sessions" ? ["address"] : [];
      const allowed = /\/(users|sessions|pushes|mails|trail)/.test(path) ? ["email", ...showsAddresses] : [];
      expect([path, canaries.namesIn(Buffer.from(body)).filter((name) => !allowed.includes(name))]).toEqual([path, []]);
    }
  };
  await walk();
  await root.post(`/admin/pushes/${ownedPushes.ids.push[0]}/expire`);
  await root.post(`/admin/users/${ownedPushes.userId}/reset_factors`);
  await root.post(`/admin/mails/${failedMailId}/retry`);
  await walk();
  const settings = (await root.get("/admin/settings")).body;
  for (const name of ["PWP__MAIL__SMTP_PASSWORD", "PWPUSH_MASTER_KEY", "PWP__OIDC__CLIENT_SECRET"]) {
    const row = settings.split("<tr>").find((part) => part.includes(`>${name}<`));
    expect(row).toMatch(new RegExp(`\\(hidden\\)[\\s\\S]{0,120}${admin.fromEnvironment}`));
  }
});

describe("the overview says what to set up next", () => {
  const { steps } = admin;

  test("after the first start", async () => {
    await using fixture = await startTestApp();
    const root = await signInClient(fixture, rootEmail, { join: true, admin: true });
    const { body } = await root.get("/admin");
    const backup = engine === "postgres" ? steps.backupPostgres : steps.backupCheck;
    for (const text of [steps.baseUrlOpen, steps.proxyOpen, steps.emailOpen, backup, steps.peopleOpen]) {
      expect(body).toContain(written(text));
    }
    expect(body).toContain('href="/admin/settings?q=PWP__OVERRIDE_BASE_URL"');
  });

  test("and what is done", async () => {
    await using fixture = await startTestApp({
      environment: {
        PWP__OVERRIDE_BASE_URL: "https://push.example.com",
        PWP__TRUSTED_PROXIES: "192.0.2.0/24",
        PWP__MAIL__SMTP_ADDRESS: "127.0.0.1",
        PWP__ENABLE_USER_ACCOUNT_EMAILS: "true",
      },
    });
    const root = await signInClient(fixture, rootEmail, { join: true, admin: true });
    await signInClient(fixture, "eve@example.com", { join: true });
    const { body } = await root.get("/admin");
    for (const text of [">https://push.example.com<", ">192.0.2.0/24<", steps.emailDone, steps.peopleDone]) {
      expect(body).toContain(written(text));
    }
    for (const text of [steps.baseUrlOpen, steps.proxyOpen, steps.emailOpen, steps.emailLinks, steps.peopleOpen]) {
      expect(body).not.toContain(written(text));
    }
  });

  test("and which emails are not sent", async () => {
    const { root } = await openAdministered({ PWP__ENABLE_USER_ACCOUNT_EMAILS: "false" });
    expect((await root.get("/admin")).body).toContain(written(steps.emailLinks));
  });
});

describe("the overview says what needs attention", () => {
  const { attention } = admin;

  test("with a link to where it is looked up", async () => {
    const { fixture, root } = await openAdministered();
    const failedAt = fixture.clock.now();
    const never = { startedAt: failedAt, succeededAt: null, durationMs: null };
    await fixture.app.domain.jobs.record([
      { name: "sweep", everyMs: 30_000, ...never, failedAt, failure: "Error" },
      {
        name: "old requests",
        everyMs: 30_000,
        ...never,
        failedAt: failedAt - 1,
        succeededAt: failedAt,
        failure: "Error",
      },
    ]);
    const { body } = await root.get("/admin");
    for (const [path, text] of [
      ["/admin/jobs", attention.jobs({ count: 1 })],
      ["/admin/mails", attention.mails({ count: 1 })],
    ] as const) {
      expect(body).toContain(`<a href="${path}">${written(text)}</a>`);
    }
    expect(body).not.toContain(written(attention.nothing));
    const jobs = (await root.get("/admin/jobs")).body;
    const [failing = "", others = ""] = jobs.split('<details class="disclosure">');
    expect(failing).toContain(admin.jobNames.sweep);
    expect(others).toContain(admin.jobNames["old requests"]);
  });

  test("or that nothing does, and how many people use the server", async () => {
    await using fixture = await startTestApp();
    await signInClient(fixture, "eve@example.com", { join: true });
    fixture.clock.advance(31 * 24 * 3_600_000);
    const root = await signInClient(fixture, rootEmail, { join: true, admin: true });
    const { body } = await root.get("/admin");
    // The Node that npm installs may lack the last fixes, and then the page says that alone.
    const { node: version } = process.versions;
    const { securityRelease: release } = pinnedPrograms.node;
    const isOutdated = isNodeOutdated(version);
    expect(body).toContain(written(isOutdated ? attention.node({ version, release }) : attention.nothing));
    const [, troubles = ""] = /class="notice-heading">.*?<ul>(.*?)<\/ul>/s.exec(body) ?? [];
    expect(troubles.match(/<li>/g) ?? []).toHaveLength(isOutdated ? 1 : 0);
    const factOf = (label: string) =>
      new RegExp(`${label}</dt><dd><a[^>]*>(\\d+)<|${label}</dt><dd>(\\d+)<`).exec(body);
    expect(factOf(admin.users)?.[1]).toBe("2");
    expect(factOf(admin.activeUsers)?.[2]).toBe("1");
  });
});

test("the settings are grouped, with meaning, allowed values, default and origin, and can be searched", async () => {
  const { root } = await openAdministered({ PWP__THROTTLING__MINUTE: "600" });
  const namesFor = async (query: string) => {
    const { status, body } = await root.get(`/admin/settings${query}`);
    expect(status).toBe(200);
    return [...body.matchAll(/<th scope="row"><details[^>]*><summary><code[^>]*>(\w+)</g)].map(([, name]) => name);
  };
  const shown = await namesFor("");
  const every = Object.values(settingTable).flatMap(({ settings }) => Object.values(settings).map(({ env }) => env));
  const setHere = shown.slice(0, -every.length);
  expect(setHere).toContain("PWP__THROTTLING__MINUTE");
  expect(setHere).not.toContain("PWP__LOG_LEVEL");
  expect(shown).toEqual([...setHere, ...every]);
  const { body } = await root.get("/admin/settings?q=throttling__minute");
  const { doc, allowed, defaultShown } = settingTable.limits.settings.throttlingMinute;
  const [meaning = ""] = doc.split("`");
  for (const text of [settingTable.limits.title, meaning, "600", admin.fromEnvironment, allowed, defaultShown]) {
    expect(body).toContain(text);
  }
  expect(body).toMatch(/<details class="admin-setting disclosure" open/);
  expect(await namesFor("?q=THROTTLING__MINUTE")).toEqual(["PWP__THROTTLING__MINUTE"]);
  expect(await namesFor("?q=requests+per+minute")).toContain("PWP__THROTTLING__MINUTE");
  expect(await namesFor("?from=environment&q=throttling__minute")).toEqual(["PWP__THROTTLING__MINUTE"]);
  expect(await namesFor("?from=default&q=throttling__minute")).toEqual([]);
  expect(await namesFor("?from=nonsense")).toEqual(shown);
  expect(await namesFor("?q=there-is-no-such-setting")).toEqual([]);
});

test("the groups of settings have titles in the language of the page, in English those of the documentation", async () => {
  const { root } = await openAdministered();
  const titles = Object.values(settingTable).map(({ title }) => title);
  expect(Object.values(admin.settingGroups)).toEqual(titles);
  for (const { locale, admin } of languages) {
    const { body } = await root.get(`/admin/settings?locale=${locale.tag}`);
    const shown = [...body.matchAll(/<h3 id="group_\d+">([^<]+)</g)].map(([, title]) => title);
    expect(shown).toEqual(Object.values(admin.settingGroups));
  }
  for (const title of [settingTable.limits.title, findMessages("de")?.admin.settingGroups.limits]) {
    const { body } = await root.get(`/admin/settings?locale=de&q=${title}`);
    expect(body).toContain("PWP__THROTTLING__MINUTE");
  }
});

test("a size stays on one line with its unit, and so do a label and its colon in French", async () => {
  const { root } = await openAdministered();
  const overview = async (locale: string) => (await root.get(`/admin?locale=${locale}`)).body;
  // The space between them, as each language writes it.
  for (const locale of ["en", "fr", "ja"]) expect(await overview(locale)).toMatch(/\d[\u00a0\u202f][GT][Bo]/);
  for (const { locale } of languages) expect(await overview(locale.tag)).not.toMatch(/\d \p{L}*[GT][Bo]/u);
  expect((await root.get("/admin/pushes?locale=fr")).body).toContain("Propriétaire\u00a0: Adresse e-mail");
  const { location } = await root.post("/admin/groups", { name: "Ops" });
  const asked = await root.post(`${location}/delete?locale=fr`);
  expect(asked.body).toContain('Supprimer le groupe\u00a0: <bdi translate="no">Ops</bdi>');
});

test("an email whose link has expired is not sent again", async () => {
  const { fixture, root, failedMailId } = await openAdministered();
  fixture.clock.advance(90 * 60_000);
  const answer = await root.post(`/admin/mails/${failedMailId}/retry`);
  expect(answer).toMatchObject({ status: 422 });
  expect(answer.body).toContain(admin.linkOver);
  expect(answer.body).toContain(admin.mailKinds.reset_password);
  expect(answer.body).not.toContain(admin.retryEmails);
  await giveUpMail(fixture, "carol@example.com");
  expect((await root.get("/admin/mails")).body).toContain(admin.retryEmails);
});
