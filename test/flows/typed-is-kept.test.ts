import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { countRows, readRows } from "../support/engine-database.ts";
import { everyField, untypedForms } from "../support/every-form.ts";
import { ask, type Form } from "../support/form-requests.ts";
import { refuseWrites } from "../support/refused-writes.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

let fixture: TestApp;
let ada: SignedInClient;
beforeAll(async () => {
  fixture = await startTestApp();
  ada = await signInClient(fixture, "ada@example.com", { join: true });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const secret = 'my "secret" <b>';
const escaped = "my &quot;secret&quot; &lt;b>";
const typed = {
  "push[kind]": "text",
  "push[payload]": secret,
  "push[passphrase]": "a phrase",
  "push[name]": "a name",
  "push[note]": "two\r\nlines",
  "push[expire_after_views]": "7",
};
const { sending, failure } = en;

const pushes = () => countRows(fixture.app.domain.db, "pushes");
const hiddenField = (page: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "";
/** The form as its page was rendered for Ada, with what was typed. */
async function adasForm(): Promise<Form> {
  const { body } = await ada.get("/");
  const own = ["account", "idempotency_key", "form_token"].map((name) => [name, hiddenField(body, name)]);
  return { ...Object.fromEntries(own), ...typed };
}

function expectTyped(body: string): void {
  expect(body).toContain(escaped);
  expect(body).toContain('value="a phrase"');
  expect(body).toContain('value="7"');
  expect(body).toContain("a name");
  expect(body).toMatch(/two\n?(?:&#10;)?lines/);
}

describe("a form of a session that has ended", () => {
  test("creates nothing and comes back filled, for the same account", async () => {
    const form = await adasForm();
    const before = await pushes();
    const answer = await ask(fixture, "/p", form, { cookie: "sealpush_session=ended" });
    expect(answer.statusCode).toBe(401);
    expect(answer.body).toContain(sending.signedOutHeading);
    expectTyped(answer.body);
    const again = { ...form, account: hiddenField(answer.body, "account") };
    expect(again.account).toBe(form.account);
    expect((await ask(fixture, "/p", again)).statusCode).toBe(401);
    expect(await pushes()).toBe(before);
    const signedInAgain = await ada.post("/p", again);
    expect(signedInAgain.status).toBe(303);
    expect((await ada.get(signedInAgain.location ?? "")).body).toContain("a name");
  });

  test("creates a push without an account only if its person decides so", async () => {
    const form = await adasForm();
    const answer = await ask(fixture, "/p", { ...form, without_account: "1" });
    expect(answer.statusCode).toBe(303);
    const latest = await readRows(fixture.app.domain.db, "SELECT owner_id FROM pushes ORDER BY id DESC LIMIT 1");
    expect(latest).toMatchObject([{ owner_id: null }]);
  });

  test("stays signed out when the kind is switched without scripts", async () => {
    const answer = await ask(fixture, "/p", { ...(await adasForm()), "push[show_kind]": "url" });
    expect(answer.statusCode).toBe(401);
    expect(hiddenField(answer.body, "account")).not.toBe("");
    expect(answer.body).toContain(escaped);
  });

  test("changes no push and comes back filled, without the current passphrase, and says nothing about the push", async () => {
    const created = await ada.post("/p", await adasForm());
    const path = (created.location ?? "").replace("/preview", "");
    const edit = {
      ...typed,
      "push[name]": "not a name",
      "push[current_passphrase]": "current phrase",
      "push[remove_files][]": "77",
      "push[notify_on_view]": "1",
    };
    const answers = [];
    for (const url of [`${path}/edit`, "/p/unknown/edit"]) {
      const answer = await ask(fixture, url, edit);
      expect(answer.statusCode).toBe(401);
      expect(answer.headers["cache-control"]).toBe("no-store");
      expect(answer.body).toContain(sending.signedOutHeading);
      expectTyped(answer.body);
      expect(answer.body).toContain('name="push[current_passphrase]"');
      expect(answer.body).not.toContain("current phrase");
      expect(answer.body).toContain('type="hidden" name="push[remove_files][]" value="77"');
      expect(answer.body).toContain('type="hidden" name="push[notify_on_view]" value="1"');
      answers.push(answer.body.replaceAll(url, ""));
    }
    expect(answers[0]).toBe(answers[1]);
    expect((await ada.get(`${path}/edit`)).body).not.toContain("not a name");
  });

  test("gets a short answer where its script keeps the page of an edit", async () => {
    const created = await ada.post("/p", await adasForm());
    const path = (created.location ?? "").replace("/preview", "");
    const answer = await ask(fixture, `${path}/edit`, typed, { headers: { prefer: "return=minimal" } });
    expect(answer.statusCode).toBe(401);
    expect(answer.body).toContain(failure.signedOutText);
    expect(answer.body).toContain(failure.goBack);
  });
});

test("a form of another account creates nothing before it is sent again", async () => {
  const form = await adasForm();
  const eve = await signInClient(fixture, "eve@example.com", { join: true });
  const before = await pushes();
  const answer = await eve.post("/p", form);
  expect(answer.status).toBe(409);
  expect(answer.body).toContain(sending.otherAccountHeading);
  expect(answer.body).toContain("<bdi>eve@example.com</bdi>");
  expectTyped(answer.body);
  expect(await pushes()).toBe(before);
  const account = hiddenField(answer.body, "account");
  expect((await eve.post("/p", { ...form, account, idempotency_key: "k".repeat(20) })).status).toBe(303);
});

describe("a form without the token of its session, from a browser that does not report its origin", () => {
  const boundary = "b";
  const multipart = (form: Form, file = "") =>
    `${file}${Object.entries(form)
      .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join("")}--b--\r\n`;
  const file = `--b\r\nContent-Disposition: form-data; name="push[files][]"; filename="f"\r\n\r\nx\r\n`;
  const post = (url: string, payload: string) =>
    fixture.server.inject({
      method: "POST",
      url,
      headers: { cookie: ada.cookie(), "content-type": `multipart/form-data; boundary=${boundary}` },
      payload,
    });

  test("comes back filled with the right token and takes effect when it is sent again", async () => {
    const form = { ...(await adasForm()), form_token: "another" };
    const before = await pushes();
    for (const before of ["", file]) {
      const answer = await post("/p", multipart(form, before));
      expect(answer.statusCode).toBe(403);
      expect(answer.body).toContain(sending.outdatedHeading);
      expectTyped(answer.body);
    }
    expect(await pushes()).toBe(before);
    expect(await countRows(fixture.app.domain.db, "uploads")).toBe(0);
    const { body } = await post("/p", multipart(form));
    const renewed = { ...form, form_token: hiddenField(body, "form_token") };
    expect((await post("/p", multipart(renewed))).statusCode).toBe(303);
  });

  test("changes no push", async () => {
    const created = await ada.post("/p", await adasForm());
    const path = (created.location ?? "").replace("/preview", "");
    const answer = await post(`${path}/edit`, multipart({ form_token: "another", "push[name]": "changed name" }));
    expect(answer.statusCode).toBe(403);
    expect(answer.body).toContain(sending.outdatedHeading);
    expect(answer.body).toContain("changed name");
    expect((await ada.get(`${path}/edit`)).body).not.toContain("changed name");
  });
});

test("a form that is sent back keeps its idempotency key, so that sending it again creates one push", async () => {
  const form = await adasForm();
  const refused = await ada.post("/p", { ...form, "push[expire_after_views]": "0" });
  expect(refused.status).toBe(422);
  expect(hiddenField(refused.body, "idempotency_key")).toBe(form.idempotency_key);
  const first = await ada.post("/p", form);
  expect(await ada.post("/p", form)).toMatchObject({ status: 303, location: first.location });
});

test("a script gets the address of the page that follows, without following it", async () => {
  const answer = await ask(fixture, "/p", typed, { headers: { prefer: "return=minimal" } });
  expect(answer.statusCode).toBe(204);
  expect(answer.headers.location).toMatch(/^\/p\/[\w-]+\/preview$/);
  expect(answer.headers["cache-control"]).toBe("no-store");
});

test("only the empty form may be shown again by the Back button", async () => {
  const cacheOf = async (url: string, form?: Form) => (await ask(fixture, url, form)).headers["cache-control"];
  for (const path of ["/", "/users/sign_in", "/users/sign_up"])
    expect([path, await cacheOf(path)]).toEqual([path, "private, no-cache"]);
  expect(await cacheOf("/users/sign_in", { email: "a@example.com", password: "wrong" })).toBe("no-store");
  expect(await cacheOf("/p", { ...typed, "push[expire_after_views]": "0" })).toBe("no-store");
});

test("too many requests say where what was typed still is: in a form that the browser may keep, else in its request", async () => {
  await using strict = await startTestApp({ environment: { PWP__THROTTLING__MINUTE: "1" } });
  await ask(strict, "/");
  const refused = await ask(strict, "/p", typed);
  expect(refused.statusCode).toBe(429);
  expect(refused.body).toContain(failure.goBack);
  for (const path of ["/users/sign_in", "/users/sign_up", "/users/password/new", "/requests/unknown"]) {
    const form = await ask(strict, path, { email: "a@example.com" });
    expect([path, form.statusCode, form.body.includes(failure.goBack)]).toEqual([path, 429, true]);
  }
  for (const [path, form] of [
    ["/users/token", { name: "a" }],
    ["/users/edit/email", { email: "a@example.com" }],
    ["/admin/users", { new_user: "a@example.com" }],
    ["/users/token", undefined],
  ] as const) {
    const { statusCode, body } = await ask(strict, path, form);
    expect([path, statusCode, body.includes(failure.goBack)]).toEqual([path, 429, false]);
    expect([path, body.includes(failure.reload)]).toEqual([path, form !== undefined]);
  }
});

describe("without its session", () => {
  test("every form of a session says how it is sent again; only buttons lead to the sign-in", async () => {
    const cookie = "sealpush_session=ended";
    const redirected: string[] = [];
    for (const { pattern, method, access, changesState } of fixture.app.routes) {
      if (method !== "POST" || !changesState || !["page_session", "page_admin"].includes(access)) continue;
      const answer = await ask(fixture, pattern.replace(/:[a-z_]+/g, "1"), everyField, { cookie });
      if (answer.statusCode === 303) redirected.push(pattern);
      else {
        expect([pattern, answer.statusCode]).toEqual([pattern, 401]);
        const text = [failure.reload, failure.goBack, sending.signedOutHeading].find((part) =>
          answer.body.includes(part),
        );
        expect([pattern, text]).toEqual([pattern, expect.any(String)]);
        expect(answer.body).toMatch(/href="\/users\/sign_in" target="_blank"/);
      }
    }
    expect(redirected.sort()).toEqual(untypedForms);
  });
});

describe("a form of a page that browsers do not keep", () => {
  const forms = [
    ["/users/token", { name: "a program", networks: "192.0.2.0/24", may_read: "1" }],
    ["/users/edit/email", { email: "new@example.com", password }],
    ["/users/edit/defaults", { first_kind: "url", "url[views]": "17" }],
    ["/admin/users", { email: "new-colleague@example.com" }],
    ["/admin/groups", { name: "a team", sharesActivity: "1" }],
    [
      "/admin/rules",
      { maxViews: "87", kind_text: "1", kind_file: "1", kind_url: "1", kind_qr: "1", requests: "1", revision: "0" },
    ],
  ] as const;
  const shown = {
    "/users/token": [
      'value="a program"',
      "192.0.2.0/24",
      /id="may_read"[^>]* checked/,
      /id="may_create"(?![^>]* checked)/,
    ],
    "/users/edit/email": ['value="new@example.com"'],
    "/users/edit/defaults": [/value="url" selected/, /id="url_views"[^>]* value="17"/],
    "/admin/users": [/<details[^>]* open>(?:(?!<\/details>).)* value="new-colleague@example.com"/s],
    "/admin/groups": [/<details[^>]* open>(?:(?!<\/details>).)* value="a team"/s, /id="sharesActivity"[^>]* checked/],
    "/admin/rules": [/id="maxViews"[^>]* value="87"/, /id="kind_text"[^>]* checked/],
  };
  const answersAfterwards: Readonly<Record<string, number>> = { "/users/token": 201, "/admin/users": 201 };
  const join = (path: string, why: string) => {
    const email = `${why}-${path.replaceAll("/", "-")}@example.com`;
    return signInClient(fixture, email, { join: true, admin: path.startsWith("/admin") });
  };

  test.each(forms)("%s comes back filled, without passwords, while the server cannot store it", async (path, form) => {
    const owner = await join(path, "unavailable");
    const takeWrites = await refuseWrites(fixture.app.domain.db);
    const answer = await owner.post(path, form).finally(takeWrites);
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject({
      "cache-control": "no-store",
      "retry-after": expect.stringMatching(/^\d+$/),
    });
    expect(answer.body).toContain(failure.unavailableText);
    for (const part of shown[path]) expect(answer.body).toMatch(part);
    expect(answer.body).not.toContain(password);
    expect((await owner.post(path, form)).status).toBe(answersAfterwards[path] ?? 303);
  });

  /** Names and addresses are taken by the tests before, and rules are stored. */
  const unused = async (owner: SignedInClient, path: string, form: Form, word: string): Promise<Form> => {
    const revision = hiddenField((await owner.get(path.replace(/\/(email|defaults)$/, ""))).body, "revision");
    return {
      ...form,
      ...(revision !== "" && { revision }),
      ...(form.email !== undefined && { email: `${word}-${form.email}` }),
      ...(path === "/admin/groups" && { name: `${form.name} ${word}` }),
    };
  };

  test.each(forms)("%s is sent again after its session has ended and begun again", async (path, fields) => {
    const owner = await join(path, "ended");
    const form = await unused(owner, path, fields, "ended");
    await owner.post("/users/sign_out");
    const refused = await owner.post(path, form);
    expect([refused.status, refused.headers["cache-control"]]).toEqual([401, "no-store"]);
    const way = path === "/admin/rules" ? failure.goBack : failure.reload;
    for (const text of [failure.signedOut, failure.signedOutText, way]) expect(refused.body).toContain(text);
    await owner.post("/users/sign_in", { email: owner.email, password });
    expect((await owner.post(path, form)).status).toBe(answersAfterwards[path] ?? 303);
  });

  test.each(forms)(
    "%s comes back filled without the token of its session, and takes no effect",
    async (path, fields) => {
      const owner = await join(path, "outdated");
      const form = await unused(owner, path, fields, "outdated");
      const post = (form_token: string) =>
        fixture.server.inject({
          method: "POST",
          url: path,
          headers: { cookie: owner.cookie(), "content-type": "application/x-www-form-urlencoded" },
          payload: new URLSearchParams({ ...form, form_token }).toString(),
        });
      const refused = await post("another");
      expect([refused.statusCode, refused.headers["cache-control"]]).toEqual([403, "no-store"]);
      expect(refused.body).toContain(sending.outdatedHeading);
      for (const value of Object.values(form).filter((each) => each.length > 3 && each !== password)) {
        expect(refused.body).toContain(value);
      }
      expect(refused.body).not.toContain(password);
      const again = await post(hiddenField(refused.body, "form_token"));
      expect(again.statusCode).toBe(answersAfterwards[path] ?? 303);
    },
  );

  test("comes back with the new address after too many wrong passwords", async () => {
    const eve = await signInClient(fixture, "eve-2@example.com", { join: true });
    const form = { email: "new@example.com", password: "wrong" };
    let answer = await eve.post("/users/edit/email", form);
    for (let attempt = 1; attempt < 20 && answer.status !== 429; attempt += 1) {
      answer = await eve.post("/users/edit/email", form);
    }
    expect(answer.status).toBe(429);
    expect(answer.body).toContain('value="new@example.com"');
    expect(answer.body).not.toContain('value="wrong"');
  });
});

describe("where anonymous use is off", () => {
  let closed: TestApp;
  beforeAll(async () => {
    closed = await startTestApp({ environment: { PWP__ALLOW_ANONYMOUS: "false" } });
  });
  afterAll(() => closed[Symbol.asyncDispose]());

  test("a form of a session that has ended comes back filled, and cannot be sent without an account", async () => {
    const owner = await signInClient(closed, "ada@example.com", { join: true });
    const account = hiddenField((await owner.get("/")).body, "account");
    const answer = await ask(closed, "/p", { ...typed, account });
    expect(answer.statusCode).toBe(401);
    expectTyped(answer.body);
    expect(answer.body).not.toContain("without_account");
    for (const form of [typed, { ...typed, account, without_account: "1" }]) {
      const refused = await ask(closed, "/p", form);
      expect(refused).toMatchObject({ statusCode: 303 });
      expect(refused.headers.location).toMatch(/^\/users\/sign_in/);
    }
    expect(await countRows(closed.app.domain.db, "pushes")).toBe(0);
  });
});
