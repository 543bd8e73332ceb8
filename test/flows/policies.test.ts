import { makeLinkKey } from "@sealpush/age/link-key";
import { sealText } from "@sealpush/age/seal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { noRules } from "../../src/policies/policies.ts";
import { bearer, password, startTestApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/domain.ts";
import { countRows, readRows } from "../support/engine-database.ts";
import { makeFolder } from "../support/folders.ts";
import { makeGroup } from "../support/groups.ts";
import { requestFor } from "../support/policy-doors.ts";
import { signInClient } from "../support/signed-in-client.ts";

const email = "owner@example.com";

/** Runs `use` with a server under these settings; servers of one test have the same data. */
async function under(
  { dataDir, clock }: { readonly dataDir: string; readonly clock: TestClock },
  environment: Readonly<Record<string, string>>,
  use: (fixture: TestApp) => Promise<void>,
) {
  await using fixture = await startTestApp({ environment, dataDir, clock });
  await use(fixture);
}

const newData = () => ({ dataDir: makeFolder(), clock: new TestClock() });

async function create(fixture: TestApp, push: object, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fixture.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload: { push } });
  return { status: answer.statusCode, body: answer.json() };
}

describe("what a request leaves to the server", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ environment: { PWP__POLICY__MAX_MINUTES: "90", PWP__POLICY__MAX_VIEWS: "2" } });
  });
  afterAll(() => app[Symbol.asyncDispose]());

  test("shrinks to the rules", async () => {
    const { status, body } = await create(app, { payload: "x" });
    expect([status, body.expire_after_days, body.expire_after_views]).toEqual([201, 1, 2]);
    expect(body.expires_at).toBe("2026-01-15T13:30:00.000Z");
  });

  test("a longer life or more views are refused at the field that was sent, and never changed", async () => {
    expect((await create(app, { payload: "x", expire_after_days: 1, expire_after_views: 3 })).body).toEqual({
      expire_after_days: ["must be at most 90 minutes from the creation by the rules of this server."],
      expire_after_views: ["must be at most 2 by the rules of this server."],
    });
    expect((await create(app, { payload: "x", expire_after_duration: 4 })).body).toEqual({
      expire_after_duration: ["must be at most 90 minutes from the creation by the rules of this server."],
    });
  });
});

describe("rules of a page that allow less than the least of the settings", () => {
  const least = { PWP__PW__EXPIRE_AFTER_DAYS_MIN: "3", PWP__PW__EXPIRE_AFTER_VIEWS_MIN: "4" };
  const asked = { expire_after_days: 1, expire_after_views: 2 };
  const saveRules = (app: TestApp) =>
    app.app.domain.policies.save(
      "instance",
      { policy: { ...noRules, maxMinutes: 1_440, maxViews: 2 }, revision: 0 },
      async () => undefined,
    );

  test("can be kept, by the API, a preset and the form", async () => {
    await using app = await startTestApp({ environment: least });
    await saveRules(app);
    expect((await create(app, { payload: "x", ...asked })).body).toMatchObject(asked);
    const more = await create(app, { payload: "x", expire_after_days: 3, expire_after_views: 4 });
    expect(Object.keys(more.body)).toEqual(["expire_after_days", "expire_after_views"]);
    const settings = { expireAfterMinutes: 3 * 1_440, expireAfterViews: 5 };
    await app.app.domain.presets.save("instance", { name: "Usual", settings, isDefault: false, was: undefined });
    expect((await create(app, { payload: "x", preset: "Usual" })).body).toMatchObject(asked);
    const { body } = await app.server.inject({ url: "/" });
    expect(body).toMatch(/min="2" max="2"[^>]* name="push\[expire_after_views\]"/);
    expect(body).toMatch(/min="1" max="1"[^>]* name="push\[expire_after_days\]"/);
  });

  test("an edit can bring a push of before to them", async () => {
    await using app = await startTestApp({ environment: least });
    const push = { payload: "x", expire_after_days: 7, expire_after_views: 5 };
    const { body } = await create(app, push, bearer(await app.makeToken(email)));
    await saveRules(app);
    const person = await signInClient(app, email);
    const edited = { "push[expire_after_days]": "1", "push[expire_after_views]": "2" };
    expect((await person.post(`/p/${body.url_token}/edit`, edited)).status).toBe(303);
  });
});

test("an end-to-end push needs a passphrase that locks it, whose length only its sender knows", async () => {
  await using app = await startTestApp({
    environment: {
      PWP__POLICY__PASSPHRASE_REQUIRED: "true",
      PWP__POLICY__PASSPHRASE_MIN_LENGTH: "40",
      PWP__POLICY__ENCRYPTION_REQUIRED: "true",
    },
  });
  const { recipient } = await makeLinkKey();
  const unlocked = { payload: await sealText("x", recipient, ""), encryption: "age" };
  const locked = { payload: await sealText("x", recipient, "short"), encryption: "age" };
  expect(Object.keys((await create(app, unlocked)).body)).toEqual(["passphrase"]);
  expect((await create(app, locked)).status).toBe(201);
});

test("a passphrase of megabytes is refused before it is judged", async () => {
  await using app = await startTestApp({ environment: { PWP__POLICY__PASSPHRASE_COMMON_ALLOWED: "false" } });
  const passphrase = "1".repeat(3 * 1024 * 1024);
  expect((await create(app, { payload: "x", passphrase })).body).toEqual({
    passphrase: ["must be between 0 and 4096 characters."],
  });
});

test("a repeat gets its push, whatever the rules have become", async () => {
  const data = newData();
  let headers: Record<string, string> = {};
  let first: unknown;
  const push = { payload: "x" };
  await under(data, { PWP__POLICY__MAX_MINUTES: "600", PWP__POLICY__MAX_VIEWS: "4" }, async (fixture) => {
    headers = { ...bearer(await fixture.makeToken(email)), "idempotency-key": "a-key-of-this-request" };
    first = (await create(fixture, push, headers)).body;
    expect(first).toMatchObject({ expire_after_views: 4 });
  });
  for (const rules of [
    {},
    { PWP__POLICY__MAX_MINUTES: "15", PWP__POLICY__MAX_VIEWS: "1", PWP__POLICY__PASSPHRASE_REQUIRED: "true" },
    { PWP__POLICY__KINDS: "url", PWP__POLICY__ENCRYPTION_REQUIRED: "true" },
  ]) {
    await under(data, rules, async (fixture) => {
      expect(await create(fixture, push, headers)).toEqual({ status: 201, body: first });
      expect((await create(fixture, { ...push, expire_after_views: 5 }, headers)).status).toBe(422);
      expect(await countRows(fixture.app.domain.db, "pushes")).toBe(1);
    });
  }
});

test("an answer lives as long as the rules allowed when its request was made", async () => {
  const data = newData();
  let urlToken = "";
  const answers = async (fixture: TestApp) =>
    (
      await fixture.server.inject({
        method: "POST",
        url: `/api/sealpush/requests/${urlToken}`,
        payload: { payload: "the answer" },
      })
    ).statusCode;
  let token = "";
  await under(data, { PWP__POLICY__MAX_MINUTES: "30" }, async (fixture) => {
    token = await fixture.makeToken(email);
    const request = { ...requestFor(await makeLinkKey()), answers_max: 3 };
    const made = await fixture.server.inject({
      method: "POST",
      url: "/api/sealpush/requests",
      headers: bearer(token),
      payload: { request },
    });
    urlToken = made.json().url_token;
    expect(await answers(fixture)).toBe(201);
  });
  const stricter = {
    PWP__POLICY__KINDS: "url",
    PWP__POLICY__PASSPHRASE_REQUIRED: "true",
    PWP__POLICY__MAX_MINUTES: "5",
  };
  await under(data, stricter, async (fixture) => {
    expect(await answers(fixture)).toBe(201);
    const list = await fixture.server.inject({ url: "/api/v2/pushes/active", headers: bearer(token) });
    expect(list.json().map((push: { expires_at: string }) => push.expires_at)).toEqual([
      "2026-01-15T12:30:00.000Z",
      "2026-01-15T12:30:00.000Z",
    ]);
  });
});

describe("an edit is judged on what it changes", () => {
  const rules = {
    PWP__POLICY__PASSPHRASE_REQUIRED: "true",
    PWP__POLICY__PASSPHRASE_MIN_LENGTH: "8",
    PWP__POLICY__MAX_VIEWS: "3",
    PWP__POLICY__MAX_MINUTES: "2880",
  };
  const unchanged = { "push[expire_after_days]": "7", "push[expire_after_views]": "5" };
  test.each<[string, Record<string, string>, number]>([
    ["its name", { "push[name]": "new name" }, 303],
    ["its views, to more than the rules allow", { "push[expire_after_views]": "4" }, 422],
    ["its views", { "push[expire_after_views]": "3" }, 303],
    ["its days, to more than the rules allow", { "push[expire_after_days]": "3" }, 422],
    ["its days", { "push[expire_after_days]": "2" }, 303],
    ["its content", { "push[payload]": "new", "push[expire_after_views]": "3" }, 422],
    ["its content and passphrase", { "push[payload]": "new", "push[passphrase]": "long enough" }, 422],
    [
      "its content, passphrase and views",
      { "push[payload]": "new", "push[passphrase]": "long enough", "push[expire_after_views]": "3" },
      303,
    ],
    ["its passphrase, to a short one", { "push[passphrase]": "short", "push[expire_after_views]": "3" }, 422],
  ])("%s", async (_what, fields, status) => {
    const data = newData();
    let urlToken = "";
    await under(data, {}, async (fixture) => {
      const token = await fixture.makeToken(email);
      const push = { payload: "x", expire_after_days: 7, expire_after_views: 5 };
      urlToken = (await create(fixture, push, bearer(token))).body.url_token;
    });
    await under(data, rules, async (fixture) => {
      const person = await signInClient(fixture, email);
      const answer = await person.post(`/p/${urlToken}/edit`, { ...unchanged, ...fields });
      expect(answer.status).toBe(status);
      // What was created before is retrieved as ever.
      expect((await fixture.server.inject({ url: `/p/${urlToken}` })).statusCode).toBe(200);
    });
  });

  test("the passphrase that is kept with new content is judged too", async () => {
    const data = newData();
    let urlToken = "";
    await under(data, {}, async (fixture) => {
      const token = await fixture.makeToken(email);
      urlToken = (await create(fixture, { payload: "x", passphrase: "short" }, bearer(token))).body.url_token;
    });
    await under(data, { PWP__POLICY__PASSPHRASE_MIN_LENGTH: "8" }, async (fixture) => {
      const person = await signInClient(fixture, email);
      const edit = (form: Record<string, string>) => person.post(`/p/${urlToken}/edit`, form);
      const kept = { "push[payload]": "new", "push[current_passphrase]": "short" };
      expect((await edit(kept)).status).toBe(422);
      expect((await edit({ ...kept, "push[passphrase]": "long enough" })).status).toBe(303);
    });
  });
});

test("nobody creates a push where views must be notified and no email can be sent", async () => {
  await using app = await startTestApp({ environment: { PWP__POLICY__NOTIFY_ON_VIEW_REQUIRED: "true" } });
  const token = await app.makeToken(email);
  for (const headers of [{}, bearer(token)]) {
    expect(Object.keys((await create(app, { payload: "x" }, headers)).body)).toEqual(["notify_on_view"]);
  }
});

describe("GET /api/sealpush/policy", () => {
  const path = "/api/sealpush/policy";
  const noRules = {
    passphrase: { required: false, min_length: 0, common_allowed: true },
    max_minutes: null,
    max_views: null,
    kinds: ["text", "file", "url", "qr"],
    encryption_required: false,
    notify_on_view_required: false,
    requests: true,
    mail_domains: null,
    sources: [],
  };

  test("has all keys for everybody who may create pushes, and a token of any scope is enough", async () => {
    await using app = await startTestApp();
    expect((await app.server.inject({ url: path })).json()).toEqual(noRules);
    const user = await app.app.domain.accounts.createUser({ email, password, admin: false });
    const { token } = await app.app.domain.accounts.createToken(user.id, "expires only", { scopes: ["expire"] });
    expect((await app.server.inject({ url: `${path}.json`, headers: bearer(token) })).json()).toEqual(noRules);
    await makeGroup(app, "Helpdesk", [user.id], { rules: { maxViews: 3 } });
    app.app.domain.policies.forget();
    const inGroup = { max_views: 3, sources: [{ from: "group", name: "Helpdesk" }] };
    expect((await app.server.inject({ url: path, headers: bearer(token) })).json()).toMatchObject(inGroup);
    expect((await app.server.inject({ url: path, headers: bearer("no-token") })).statusCode).toBe(401);
    expect((await app.server.inject({ url: "/api/sealpush" })).json().features).toContain("policy");
  });

  test("is 401 without a token where anonymous people create nothing", async () => {
    await using app = await startTestApp({ environment: { PWP__ALLOW_ANONYMOUS: "false" } });
    expect((await app.server.inject({ url: path })).statusCode).toBe(401);
  });

  test("tells the rules, and the version tells what they leave", async () => {
    await using app = await startTestApp({
      environment: {
        PWP__POLICY__PASSPHRASE_REQUIRED: "true",
        PWP__POLICY__PASSPHRASE_MIN_LENGTH: "12",
        PWP__POLICY__PASSPHRASE_COMMON_ALLOWED: "false",
        PWP__POLICY__MAX_MINUTES: "1440",
        PWP__POLICY__MAX_VIEWS: "3",
        PWP__POLICY__KINDS: "url,text",
        PWP__POLICY__ENCRYPTION_REQUIRED: "true",
        PWP__POLICY__NOTIFY_ON_VIEW_REQUIRED: "true",
        PWP__POLICY__MAIL_DOMAINS: "example.com, example.org",
        PWP__REQUESTS__ENABLED: "false",
      },
    });
    expect((await app.server.inject({ url: path })).json()).toEqual({
      passphrase: { required: true, min_length: 12, common_allowed: false },
      max_minutes: 1440,
      max_views: 3,
      kinds: ["text", "url"],
      encryption_required: true,
      notify_on_view_required: true,
      requests: false,
      mail_domains: ["example.com", "example.org"],
      sources: [{ from: "settings" }],
    });
    const { features } = (await app.server.inject({ url: "/api/v2/version" })).json();
    expect(features).toMatchObject({
      anonymous_access: false,
      pushes: {
        file_attachments: { enabled: false, requires_authentication: true },
        // The server would see it.
        url_pushes: { enabled: false },
        qr_code_pushes: { enabled: false },
      },
    });
  });
});

describe("forms", () => {
  const html = async (fixture: TestApp, url: string) => (await fixture.server.inject({ url })).body;

  test("show what is allowed, and why", async () => {
    await using app = await startTestApp({
      environment: {
        PWP__POLICY__PASSPHRASE_REQUIRED: "true",
        PWP__POLICY__PASSPHRASE_MIN_LENGTH: "12",
        PWP__POLICY__MAX_MINUTES: "60",
        PWP__POLICY__MAX_VIEWS: "2",
        PWP__POLICY__KINDS: "text,qr",
      },
    });
    const page = await html(app, "/");
    for (const sentence of [
      "Your organization asks for a passphrase.",
      "at least 12 characters by the rules of your organization",
      "Your organization allows at most 1 hour.",
      "Your organization allows at most 2 views.",
      "Your organization does not allow every kind of push.",
    ]) {
      expect(page).toContain(sentence);
    }
    expect([...page.matchAll(/name="push\[show_kind\]" value="(\w+)"/g)].map(([, kind]) => kind)).toEqual([
      "text",
      "qr",
    ]);
    const times = page.match(/<select id="push_expire_after_duration".*?<\/select>/)?.[0] ?? "";
    expect([...times.matchAll(/value="(\d+)"/g)].map(([, code]) => code)).toEqual(["0", "1", "2", "3"]);
    expect(times).toContain('value="3" selected');
    expect(page).not.toContain('name="push[expire_after_days]"');
    expect(page).toMatch(/id="push_expire_after_views"[^>]* max="2"[^>]* value="2"/);
    expect(page).toMatch(/id="push_passphrase"[^>]* required/);
  });

  test.each([
    ["60", 'value="3" selected>1 hour<'],
    ["5", "<option value selected>5 minutes<"],
    ["1", "<option value selected>1 minute<"],
  ])("as they come create what is allowed, with a life of %s minutes too", async (minutes, shown) => {
    await using app = await startTestApp({
      environment: { PWP__POLICY__MAX_MINUTES: minutes, PWP__POLICY__MAX_VIEWS: "2" },
    });
    const page = await html(app, "/");
    expect(page).toContain(shown);
    const views = page.match(/name="push\[expire_after_views\]" value="(\d+)"/)?.[1] ?? "";
    const answer = await app.server.inject({
      method: "POST",
      url: "/p",
      headers: { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
      payload: new URLSearchParams({
        "push[payload]": "x",
        "push[expire_after_duration]": /value="(\d*)" selected/.exec(shown)?.[1] ?? "",
        "push[expire_after_views]": views,
      }).toString(),
    });
    expect(answer.statusCode).toBe(303);
    const lives = "SELECT expires_at - created_at AS life FROM pushes";
    const [push] = await readRows<{ life: number }>(app.app.domain.db, lives);
    expect(push?.life).toBe(Number(minutes) * minuteMs);
  });

  test("without any kind say that nothing can be created", async () => {
    await using app = await startTestApp({
      environment: { PWP__POLICY__KINDS: "url", PWP__POLICY__ENCRYPTION_REQUIRED: "true" },
    });
    expect(await html(app, "/")).toContain("The rules of your organization do not allow any push.");
  });

  test("that seal ask for nothing else, and a browser that cannot seal shows why", async () => {
    await using app = await startTestApp({ environment: { PWP__POLICY__ENCRYPTION_REQUIRED: "true" } });
    const page = await html(app, "/");
    expect(page).toMatch(/id="push_seal" checked/);
    expect(page).not.toContain("push[unsealed]");
    const answer = await app.server.inject({
      method: "POST",
      url: "/p",
      headers: { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
      payload: new URLSearchParams({ "push[payload]": "x" }).toString(),
    });
    expect(answer.statusCode).toBe(422);
    expect(answer.body).toContain("Your organization allows only secrets that are sealed in the browser");
  });

  test("of requests do not offer kinds that rules refuse", async () => {
    await using app = await startTestApp({
      environment: { PWP__POLICY__KINDS: "file,url", PWP__REQUESTS__ALLOW_ANONYMOUS: "true" },
    });
    const person = await signInClient(app, email, { join: true });
    const { body } = await person.get("/requests/new");
    expect(body).toContain('<input type="hidden" name="wants_text" value="0"/>');
    expect(body).toContain('<input type="hidden" name="wants_files" value="1"/>');
    expect(await html(app, "/requests/new")).toContain("Your organization does not allow requests.");
  });
});
