import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { countEveryone } from "../support/domain.ts";
import { Editing, type Fields, type Files, type Person, problemsIn } from "../support/editing.ts";

let app: TestApp;
let editing: Editing;
let ada: Person;
let eve: Person;
let admin: Person;
let adaId: number;
beforeAll(async () => {
  app = await startTestApp();
  editing = await Editing.of(app);
  ada = await editing.person("ada@example.com");
  adaId = (await app.app.domain.accounts.findUserByEmail("ada@example.com"))?.id ?? 0;
  eve = await editing.person("eve@example.com");
  admin = await editing.person("root@example.com", true);
});
afterAll(() => app[Symbol.asyncDispose]());

const edit = (urlToken: string, fields: Fields, files: Files = {}) => editing.send(ada, urlToken, fields, files);

describe("the form", () => {
  test("shows the settings of the push and never its content", async () => {
    const urlToken = await editing.push(
      ada,
      { payload: "the secret itself", name: "VPN <b>", note: "for Jo", kind: "file", passphrase: "open sesame" },
      { "report <1>.txt": "the file's content" },
    );
    const answer = await editing.show(ada, urlToken);
    const html = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("private, no-cache");
    expect(html).toContain("VPN &lt;b>");
    expect(html).toContain("for Jo");
    expect(html).toContain("report &lt;1>.txt");
    expect(html).toContain('value="7"');
    for (const secret of ["the secret itself", "the file's content", "open sesame", "<b>", "report <1>"]) {
      expect(html).not.toContain(secret);
    }
    expect(await editing.kindsOf(ada, urlToken)).toEqual(["creation"]);
  });

  test("saves limits, labels and options, and redirects to the unchanged link", async () => {
    const urlToken = await editing.push(ada, { payload: "x", expire_after_views: "5", expire_after_days: "3" });
    const answer = await edit(urlToken, {
      expire_after_days: "20",
      expire_after_views: "9",
      name: "new name",
      note: "one\r\ntwo",
      retrieval_step: ["0"],
      deletable_by_viewer: "1",
      payload: "",
      passphrase: "",
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(`/p/${urlToken}/preview`);
    const found = [...(await app.app.domain.pushes.list(adaId, "active", 1))];
    expect(found.find((one) => one.urlToken === urlToken)).toMatchObject({
      expireAfterDays: 20,
      expireAfterViews: 9,
      name: "new name",
      note: "one\ntwo",
      deletableByViewer: true,
    });
    expect(await editing.open(urlToken)).toMatchObject({ payload: "x", views_remaining: 8 });
    expect(await editing.kindsOf(ada, urlToken)).toEqual(["creation", "edit", "view"]);
  });

  test("shows errors with the typed values, but never the current passphrase", async () => {
    const urlToken = await editing.push(ada, { payload: "x", passphrase: "old", name: "kept" });
    const typed = {
      expire_after_days: "0",
      expire_after_views: "abc",
      name: "n".repeat(2_049),
      note: "my note",
      payload: "my new <secret>",
      passphrase: "my new phrase",
      current_passphrase: "typed-current",
    };
    const answer = await edit(urlToken, typed);
    const html = await answer.text();
    expect(answer.status).toBe(422);
    expect(problemsIn(html)).toEqual({ expire_after_views: en.problems.range({ min: 1, max: 100 }) });
    for (const kept of ['value="0"', 'value="abc"', "my note", "my new &lt;secret>", "my new phrase"]) {
      expect(html).toContain(kept);
    }
    expect(html).not.toContain("typed-current");
    const { expire_after_views: _, ...better } = typed;
    const again = await (await edit(urlToken, better)).text();
    expect(problemsIn(again)).toEqual({
      expire_after_days: en.problems.range({ min: 1, max: 90 }),
      name: en.problems.tooLong({ max: 2_048 }),
    });
    expect(await editing.kindsOf(ada, urlToken)).toEqual(["creation"]);
  });

  test("accepts a URL-encoded form too", async () => {
    const urlToken = await editing.push(ada, { payload: "x" });
    const answer = await fetch(`${editing.origin}/p/${urlToken}/edit`, {
      method: "POST",
      body: new URLSearchParams({ "push[payload]": "y\r\nz" }),
      headers: { cookie: ada.cookie, "sec-fetch-site": "same-origin" },
      redirect: "manual",
    });
    expect(answer.status).toBe(303);
    expect(await editing.open(urlToken)).toMatchObject({ payload: "y\nz" });
  });

  test("cannot change kind, owner, used views, token or an ended push", async () => {
    const urlToken = await editing.push(ada, { payload: "x", expire_after_views: "5" });
    await editing.open(urlToken);
    const hostile = {
      kind: "url",
      owner_id: "2",
      user_id: "2",
      views: "0",
      url_token: "mine",
      admin: "true",
      expired: "1",
    };
    await edit(urlToken, { ...hostile, name: "n", expires_at: "9999999999999", seal_generation: "9" });
    expect([...(await app.app.domain.pushes.list(adaId, "active", 1))]).toContainEqual(
      expect.objectContaining({ urlToken, kind: "text", ownerId: adaId, views: 1, name: "n" }),
    );
  });
});

describe("refusals", () => {
  const wanted = { payload: "taken over", passphrase: "mine", name: "mine", expire_after_views: "100" };

  test("another user's, an anonymous, an ended and an unknown push all get 404", async () => {
    const owned = await editing.push(ada, { payload: "x", expire_after_views: "2" });
    const anonymous = await editing.push(null, { payload: "x" });
    const ended = await editing.push(eve, { payload: "x", expire_after_views: "1" });
    await editing.open(ended);
    const bodies = new Set<string>();
    const withoutOwnMarks = (html: string) => html.replaceAll(/name="form_token" value="[^"]*"|Reference: \w+/g, "");
    for (const [who, urlToken] of [
      [eve, owned],
      [admin, owned],
      [eve, anonymous],
      [admin, anonymous],
      [eve, ended],
      [eve, "doesnotexist1234567890"],
      [eve, "x".repeat(65)],
    ] as const) {
      const shown = await editing.show(who, urlToken);
      const sent = await editing.send(who, urlToken, wanted, { a: "a" });
      expect([urlToken, shown.status, sent.status]).toEqual([urlToken, 404, 404]);
      if (who !== eve) continue;
      bodies.add(withoutOwnMarks(await shown.text()));
      bodies.add(withoutOwnMarks(await sent.text()));
    }
    expect(bodies.size).toBe(2);
    expect(await editing.open(owned)).toMatchObject({ payload: "x", views_remaining: 1 });
    expect(await editing.open(anonymous)).toMatchObject({ payload: "x" });
  });

  test("without a session nothing is changed; an API token is not a session", async () => {
    const urlToken = await editing.push(ada, { payload: "x" });
    const shown = await editing.show(null, urlToken);
    expect(shown.headers.get("location")).toBe(`/users/sign_in?next=${encodeURIComponent(`/p/${urlToken}/edit`)}`);
    const bearer = { authorization: `Bearer ${ada.token}` };
    for (const headers of [{}, bearer]) {
      const sent = await editing.send(null, urlToken, wanted, {}, headers);
      expect(sent.status).toBe(401);
    }
    expect(await editing.open(urlToken)).toMatchObject({ payload: "x" });
  });

  test("a cross-site form, or one without this session's form token, cannot edit", async () => {
    const urlToken = await editing.push(ada, { payload: "x" });
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
      { origin: "null" },
      {},
    ]) {
      const answer = await editing.send(ada, urlToken, wanted, { a: "a" }, headers);
      expect([headers, answer.status]).toEqual([headers, 403]);
    }
    expect(await editing.open(urlToken)).toMatchObject({ payload: "x" });
  });

  test("new content is refused on a full disk, and the typed values are kept", async () => {
    await using full = await startTestApp();
    const user = await full.app.domain.accounts.createUser({ email: "jo@example.com", password, admin: false });
    const actor = {
      user: { id: user.id, admin: false },
      client: "192.0.2.1",
      address: "192.0.2.1",
      userAgent: "",
      referrer: "",
      ownOrigin: "",
    };
    const { urlToken } = await full.app.domain.pushes.create({ payload: "x" }, actor);
    const environment = { PWP__DISK__FREE_MIN_BYTES: "1000TiB" };
    await using later = await startTestApp({ dataDir: full.dataDir, environment });
    const payload = new URLSearchParams({ email: "jo@example.com", password }).toString();
    const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    const signedIn = await later.server.inject({ method: "POST", url: "/users/sign_in", headers: form, payload });
    const answer = await later.server.inject({
      method: "POST",
      url: `/p/${urlToken}/edit`,
      headers: { ...form, cookie: String(signedIn.headers["set-cookie"]).split(";")[0] ?? "" },
      payload: new URLSearchParams({ "push[payload]": "typed content" }).toString(),
    });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers["retry-after"]).toBe("60");
    expect(answer.body).toContain("typed content");
    expect(await later.app.domain.pushes.claimView(urlToken, countEveryone, actor)).toMatchObject({
      payload: "x",
    });
  });
});

test("a limit in the past, or below the used views, is reported beside its field", async () => {
  const urlToken = await editing.push(ada, { payload: "x", expire_after_views: "9", expire_after_days: "30" });
  await editing.open(urlToken);
  await editing.open(urlToken);
  app.clock.advance(dayMs);
  const tomorrow = { ...ada, cookie: await editing.signIn("ada@example.com") };
  const answer = await editing.send(tomorrow, urlToken, { expire_after_days: "1", expire_after_views: "2" });
  expect(answer.status).toBe(422);
  expect(problemsIn(await answer.text())).toEqual({
    expire_after_days: en.problems.range({ min: 2, max: 90 }),
    expire_after_views: en.problems.range({ min: 3, max: 100 }),
  });
  expect((await editing.send(tomorrow, urlToken, { expire_after_days: "2", expire_after_views: "3" })).status).toBe(
    303,
  );
  expect(await editing.open(urlToken)).toMatchObject({ payload: "x", views_remaining: 0 });
});
