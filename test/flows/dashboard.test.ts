import { afterAll, beforeAll, expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

interface Person {
  readonly cookie: string;
  readonly token: string;
}

/** A user with a session and an API token. */
async function person(email: string, admin = false): Promise<Person> {
  const token = await app.makeToken(email, admin);
  return { token, cookie: await signIn(email) };
}

/** @returns the cookie of a session, which ends after two idle hours. */
async function signIn(email: string): Promise<string> {
  const payload = new URLSearchParams({ email, password }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
  const answer = await app.server.inject({ method: "POST", url: "/users/sign_in", headers, payload });
  return String(answer.headers["set-cookie"]).split(";")[0] ?? "";
}

async function push(owner: Person | null, fields: Readonly<Record<string, unknown>>): Promise<string> {
  app.clock.advance(1_000);
  const answer = await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: owner === null ? {} : { authorization: `Bearer ${owner.token}` },
    payload: { push: { payload: "the secret itself", ...fields } },
  });
  return answer.json().url_token;
}

const get = (url: string, who: Person | null, headers: Readonly<Record<string, string>> = {}) =>
  app.server.inject({ method: "GET", url, headers: { ...headers, ...(who === null ? {} : { cookie: who.cookie }) } });

function post(url: string, who: Person | null, form: Readonly<Record<string, string>> = {}) {
  return postPairs(url, who, Object.entries(form));
}

function postPairs(url: string, who: Person | null, pairs: readonly (readonly string[])[]) {
  return app.server.inject({
    method: "POST",
    url,
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
      ...(who === null ? {} : { cookie: who.cookie }),
    },
    payload: new URLSearchParams(pairs.map(([name = "", value = ""]) => [name, value])).toString(),
  });
}

const names = (html: string) => [...html.matchAll(/class="push-name"[^>]*>([^<]*)</g)].map(([, name]) => name);

test("the dashboard lists, searches and filters only the owner's pushes", async () => {
  const ada = await person("ada@example.com");
  const bob = await person("bob@example.com");
  await push(bob, { name: "of Bob" });
  await push(null, { name: "of nobody" });
  expect((await get("/p", ada)).body).toContain("No pushes yet");
  await push(ada, { name: "short", expire_after_days: 1 });
  await push(ada, { name: "VPN", note: "for <Jo> & Co", passphrase: "words", retrieval_step: true });
  await push(ada, { name: "address", kind: "url", payload: "https://example.com" });
  const all = await get("/p", ada);
  expect(all.statusCode).toBe(200);
  expect(all.headers["cache-control"]).toBe("no-store");
  expect(names(all.body)).toEqual(["address", "VPN", "short"]);
  expect(all.body).toContain("for &lt;Jo> &amp; Co");
  expect(all.body).toContain("0 of 5");
  expect(all.body).not.toContain("the secret itself");
  expect(names((await get("/p?q=jo%3E", ada)).body)).toEqual(["VPN"]);
  expect(names((await get("/p?kind=url", ada)).body)).toEqual(["address"]);
  app.clock.advance(dayMs);
  const later = { ...ada, cookie: await signIn("ada@example.com") };
  expect(names((await get("/p?state=active", later)).body)).toEqual(["address", "VPN"]);
  const ended = await get("/p?state=expired", later);
  expect(names(ended.body)).toEqual(["short"]);
  expect(ended.body).toContain("Time ran out");
  expect((await get("/p?q=bob", later)).body).toContain("No push matches your search.");
});

test("an invalid query uses the default or is refused, without a server error", async () => {
  const ada = await person("eve@example.com");
  await push(ada, { name: "only" });
  for (const query of [
    "state=x",
    "kind=x",
    "q=",
    "q=%20",
    "q=a&q=b",
    "kind=text&kind=url",
    "state[]=active",
    "%00=1",
  ]) {
    expect([query, names((await get(`/p?${query}`, ada)).body)]).toEqual([query, ["only"]]);
  }
  for (const query of [
    "page=0",
    "page=201",
    "page=-1",
    "page=1e1",
    "page=x",
    "page=1&page=2",
    `q=${"x".repeat(256)}`,
  ]) {
    expect([query, (await get(`/p?${query}`, ada)).statusCode]).toEqual([query, 400]);
  }
  expect((await get("/p?page=200", ada)).statusCode).toBe(200);
  expect((await get(`/p?q=${encodeURIComponent('"><script>')}`, ada)).body).toContain('value="&quot;>&lt;script>"');
});

test("links to further pages keep the search and the language", async () => {
  const ada = await person("pia@example.com");
  for (let made = 0; made < 51; made += 1) await push(ada, { name: `push ${made}` });
  const first = await get("/p?q=push&state=active&locale=de", ada);
  expect(names(first.body)).toHaveLength(50);
  expect(first.body).toContain('href="/p?q=push&amp;state=active&amp;page=2&amp;locale=de"');
  const second = await get("/p?q=push&state=active&page=2", ada);
  expect(names(second.body)).toEqual(["push 0"]);
  expect(second.body).toContain('href="/p?q=push&amp;state=active"');
});

test("the list is sorted by the query, and its links keep the order", async () => {
  const ada = await person("ola@example.com");
  for (const days of [3, 1, 2]) await push(ada, { name: `${days}`, expire_after_days: days });
  const sorted = { newest: "213", oldest: "312", soonest: "123", latest: "321", "": "213", x: "213" };
  for (const [order, expected] of Object.entries(sorted)) {
    expect([order, names((await get(`/p?sort=${order}`, ada)).body).join("")]).toEqual([order, expected]);
  }
  const { body } = await get("/p?sort=latest&kind=text", ada);
  expect(body).toContain('href="/p?state=active&amp;kind=text&amp;sort=latest"');
  expect(body).toContain('<input type="hidden" name="sort" value="latest"/>');
});

test("selected pushes are deleted after a confirmation: only active ones of the owner", async () => {
  const ada = await person("lea@example.com");
  const bob = await person("leo@example.com");
  const [one = "", two = "", kept = ""] = [
    await push(ada, { name: "one" }),
    await push(ada, { name: "<two>" }),
    await push(ada, { name: "kept" }),
  ];
  const ofBob = await push(bob, { name: "of Bob", deletable_by_viewer: true });
  const anonymous = await push(null, { deletable_by_viewer: true });
  const idOf = async (urlToken: string) => String((await app.app.domain.pushes.findIdByLink(urlToken)) ?? urlToken);
  const form = async (urlTokens: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const ids = await Promise.all(urlTokens.map(idOf));
    return await postPairs("/pushes/delete", ada, [...ids.map((id) => ["push[]", id]), ...Object.entries(more)]);
  };
  const asked = await form([one, two, ofBob, anonymous, "unknown"], { next: "/p?state=active" });
  expect(asked.statusCode).toBe(200);
  expect(asked.body).toContain("Delete these 2 pushes?");
  expect(asked.body).toContain("&lt;two>");
  expect(asked.body).not.toContain("of Bob");
  expect(names((await get("/p?state=active", ada)).body)).toEqual(["kept", "&lt;two>", "one"]);

  const done = await form([one, two, ofBob, anonymous], { confirmed: "yes", next: "/p?state=active" });
  expect([done.statusCode, done.headers.location]).toEqual([303, "/p?state=active&done=deleted"]);
  expect((await get("/p?state=active&done=deleted", ada)).body).toContain("The links no longer work.");
  expect(names((await get("/p?state=active", ada)).body)).toEqual(["kept"]);
  expect(names((await get("/p?state=active", bob)).body)).toEqual(["of Bob"]);
  expect((await get(`/p/${anonymous}/preview`, null)).statusCode).toBe(200);

  const again = await form([one], { confirmed: "yes", next: "//evil.example" });
  expect([again.statusCode, again.body.includes("Nothing to delete")]).toEqual([422, true]);
  expect((await form([], {})).statusCode).toBe(422);
  expect((await form(Array.from({ length: 51 }, (_, at) => String(at)))).statusCode).toBe(400);
  const only = await form([one], { only: await idOf(kept), confirmed: "yes" });
  expect([only.statusCode, only.headers.location]).toEqual([303, "/p?done=deleted"]);
  expect((await post("/pushes/delete", null, { only: kept })).headers.location).toMatch(/^\/users\/sign_in/);
});

test("deleting a push from its trail redirects back to the own page it came from, and nowhere else", async () => {
  const ada = await person("ina@example.com");
  const bob = await person("ben@example.com");
  const one = await push(ada, { name: "one" });
  const ended = await post(`/p/${one}/expire`, ada, { next: "/p?state=active" });
  expect([ended.statusCode, ended.headers.location]).toEqual([303, "/p?state=active"]);
  expect((await get("/p", ada)).body).toContain("Deleted by you");
  const again = await post(`/p/${one}/expire`, ada, { next: "/p" });
  expect([again.statusCode, again.headers.location]).toEqual([303, "/p"]);
  for (const next of [
    "//evil.example",
    "/\\evil.example",
    "https://evil.example/",
    "/..//evil.example",
    "javascript:1",
  ]) {
    const two = await push(ada, {});
    const answer = await post(`/p/${two}/expire`, ada, { next });
    expect([next, answer.statusCode, answer.headers.location]).toEqual([next, 200, undefined]);
  }
  const kept = await push(ada, { deletable_by_viewer: false });
  expect((await post(`/p/${kept}/expire`, bob, { next: "/p" })).statusCode).toBe(403);
  expect((await post(`/p/${one}/expire`, bob, { next: "/p" })).statusCode).toBe(404);
});

test("the trail shows who viewed a push from where, and why it ended", async () => {
  const ada = await person("zoe@example.com");
  const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0";
  const urlToken = await push(ada, {
    name: "VPN",
    expire_after_views: 1,
    passphrase: "words",
    retrieval_step: false,
  });
  app.clock.advance(3 * 3_600_000);
  const open = (query: string, headers: Readonly<Record<string, string>>) =>
    get(`/api/v2/pushes/${urlToken}${query}`, null, headers);
  await open("?passphrase=wrong", { "user-agent": "curl/8.5.0" });
  await open("?passphrase=words", { "user-agent": firefox, referer: "https://mail.example.com/inbox?id=1" });
  await open("", { "user-agent": "" });
  app.clock.advance(2 * 3_600_000);
  const later = { ...ada, cookie: await signIn("zoe@example.com") };
  const { body } = await get(`/p/${urlToken}/audit`, later);
  const told = [...body.matchAll(/<h3>([^<]*)<\/h3>/g)].map(([, sentence]) => sentence);
  expect(told).toEqual([
    "Someone who has the link tried to open it when it was no longer available",
    "Its views were used up, and the secret was destroyed",
    "Someone who has the link opened it",
    "Someone who has the link gave no passphrase or a wrong one",
    "You created this push",
  ]);
  for (const text of [
    "Firefox on Windows",
    "curl/8.5.0",
    "https://mail.example.com<",
    "https://mail.example.com/inbox?id=1<",
    firefox,
    "127.0.0.1",
    "2 hours ago",
    "Views used up",
  ]) {
    expect(body).toContain(text);
  }
  expect((await get(`/p/${urlToken}/audit?page=2`, later)).body).toContain("There are no entries on this page.");
  expect((await get(`/p/${urlToken}/audit?page=0`, later)).statusCode).toBe(400);
});

test("the trail's page shows note, settings, files, and who was signed in", async () => {
  const ada = await person("rae@example.com");
  const bob = await person("rob@example.com");
  const note = `for Jo\n${"x".repeat(300)}`;
  const files = [{ filename: "<plan>.pdf", content_type: "application/pdf", data: "YQ==" }];
  const urlToken = await push(ada, { files, note, passphrase: "words", deletable_by_viewer: false });
  await post(`/p/${urlToken}`, bob, { passphrase: "words" });
  await post(`/p/${urlToken}`, null, { passphrase: "words" });
  await post(`/p/${urlToken}`, ada, { passphrase: "words" });
  const read = async () => (await get(`/p/${urlToken}/audit`, ada)).body;
  const body = await read();
  for (const text of [note, "&lt;plan>.pdf", "1\u00a0byte"]) expect(body).toContain(text);
  const settings = [...body.matchAll(/<dt>([^<]*)<\/dt><dd><span class="badge[^"]*">(Yes|No)</g)];
  expect(settings.map(([, label, value]) => `${label}: ${value}`)).toEqual([
    "Passphrase: Yes",
    "Ask for a click before opening: Yes",
    "Let the recipient delete it early: No",
    "Show my address to the recipient: No",
    "Notify me when it is opened: No",
  ]);
  expect(body.match(/rob@example\.com/g)).toHaveLength(1);
  expect(body.match(/Someone who has the link opened it/g)).toHaveLength(2);
  expect(body.match(/<dt>Signed in as/g)).toHaveLength(1);
  for (const format of ["csv", "json"]) {
    const download = await get(`/p/${urlToken}/audit/download?format=${format}`, ada);
    expect(download.body.match(/rob@example\.com/g)).toHaveLength(1);
  }
  await post(`/p/${urlToken}/expire`, ada, { next: "/p" });
  expect(await read()).toContain("&lt;plan>.pdf");
});

test("the trail is downloaded as CSV and JSON", async () => {
  const ada = await person("dot@example.com");
  const urlToken = await push(ada, { name: "VPN" });
  await get(`/api/v2/pushes/${urlToken}`, null, { "user-agent": '=HYPERLINK("https://evil.example")' });
  const csv = await get(`/p/${urlToken}/audit/download?format=csv`, ada);
  expect(csv.headers["content-type"]).toBe("text/csv; charset=utf-8");
  expect(csv.headers["content-disposition"]).toMatch(/^attachment; filename="audit-\d{4}-\d\d-\d\d\.csv"$/);
  expect(csv.headers["cache-control"]).toBe("no-store");
  expect(csv.headers["x-content-type-options"]).toBe("nosniff");
  expect(csv.rawPayload.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  expect(csv.body).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
  const json = await get(`/p/${urlToken}/audit/download?format=json`, ada);
  expect(json.headers["content-disposition"]).toMatch(/^attachment; filename="audit-.*\.json"$/);
  expect(json.json().logs.map((entry: { kind: string }) => entry.kind)).toEqual(["creation", "view"]);
  for (const query of ["", "?format=xml", "?format=csv&format=json"]) {
    expect((await get(`/p/${urlToken}/audit/download${query}`, ada)).statusCode).toBe(400);
  }
});

test("a push's trail is 404 for everyone but its owner", async () => {
  const ada = await person("own@example.com");
  const others = [await person("other@example.com"), await person("chief@example.com", true)];
  const urlToken = await push(ada, { name: "VPN" });
  const anonymous = await push(null, {});
  for (const other of others) {
    const missing = await get("/p/never-was/audit", other);
    expect(missing.statusCode).toBe(404);
    for (const token of [urlToken, anonymous]) {
      const answer = await get(`/p/${token}/audit`, other);
      expect([answer.statusCode, answer.body]).toEqual([404, missing.body]);
      for (const format of ["csv", "json"]) {
        const download = await get(`/p/${token}/audit/download?format=${format}`, other);
        expect([download.statusCode, download.body]).toEqual([404, missing.body]);
      }
    }
  }
  for (const url of ["/p", `/p/${urlToken}/audit`, `/p/${urlToken}/audit/download?format=csv`]) {
    expect((await get(url, null)).headers.location).toMatch(/^\/users\/sign_in\?next=/);
    const byToken = await get(url, null, { authorization: `Bearer ${ada.token}` });
    expect([url, byToken.statusCode]).toEqual([url, 303]);
  }
});

test("markup in names, notes, user agents and referrers is shown as text (past hole 10)", async () => {
  const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>`;
  const ada = await person("mal@example.com");
  const urlToken = await push(ada, { name: hostile, note: hostile });
  const headers = { "user-agent": hostile, referer: `https://evil.example/${hostile}` };
  await get(`/api/v2/pushes/${urlToken}`, null, headers);
  for (const url of ["/p", `/p?q=${encodeURIComponent(hostile)}`, `/p/${urlToken}/audit`]) {
    const { body } = await get(url, ada);
    expect(body).toContain("&lt;script>alert(1)&lt;/script>");
    expect(body.replaceAll(/="[^"]*"/g, "")).not.toMatch(/<script>|<img/);
  }
});

test("the QR code of a link is saved by everyone who has the link, without a view", async () => {
  const urlToken = await push(null, { retrieval_step: true });
  const path = `/p/${urlToken}/preview/qr`;
  const svg = await get(`${path}?format=svg&recipient=ar`, null);
  expect([svg.statusCode, svg.headers["content-type"]]).toEqual([200, "image/svg+xml"]);
  expect(svg.headers["content-disposition"]).toBe('attachment; filename="qr-code.svg"');
  expect(svg.headers["content-security-policy"]).toContain("sandbox");
  expect(svg.headers["cache-control"]).toBe("no-store");
  expect((await get(`${path}?format=svg`, null)).body).not.toBe(svg.body);
  const png = await get(`${path}?format=png`, null);
  expect([png.statusCode, png.headers["content-type"]]).toEqual([200, "image/png"]);
  expect(png.rawPayload.subarray(1, 4).toString()).toBe("PNG");
  for (const query of ["", "?format=gif", "?format=svg&format=png"]) {
    expect([query, (await get(`${path}${query}`, null)).statusCode]).toEqual([query, 400]);
  }
  expect((await get(`/api/v2/pushes/${urlToken}`, null)).json().views_remaining).toBe(4);
  await post(`/p/${urlToken}/expire`, null);
  expect((await get(`${path}?format=svg`, null)).statusCode).toBe(404);
});

test("only the owner can read whether a push was opened, and reading counts nothing", async () => {
  const ada = await person("una@example.com");
  const bob = await person("udo@example.com");
  const urlToken = await push(ada, { expire_after_views: 2 });
  const path = `/p/${urlToken}/preview/opened`;
  const asked = async () => (await get(path, ada)).json();
  expect(await asked()).toEqual({ text: "Not opened yet.", final: false });
  await get(`/api/v2/pushes/${urlToken}`, null);
  expect(await asked()).toEqual({ text: "Opened once. It can be opened once more.", final: false });
  await get(`/api/v2/pushes/${urlToken}`, null);
  expect(await asked()).toEqual({ text: "Opened 2 times. It cannot be opened again.", final: true });
  const unopened = await push(ada, {});
  await post(`/p/${unopened}/expire`, ada, { next: "/p" });
  await get(`/api/v2/pushes/${unopened}`, null);
  expect((await get(`/p/${unopened}/preview/opened?locale=de`, ada)).json()).toEqual({
    text: "Abgelaufen, ohne geöffnet worden zu sein.",
    final: true,
  });
  const anonymous = await push(null, {});
  for (const [url, who] of [
    [path, bob],
    [`/p/${anonymous}/preview/opened`, ada],
    ["/p/never-was/preview/opened", ada],
  ] as const) {
    expect([url, (await get(url, who)).statusCode]).toEqual([url, 404]);
  }
  expect((await get(path, null)).headers.location).toMatch(/^\/users\/sign_in/);
  expect((await get(`/p/${urlToken}/preview`, ada)).headers.location).toBe(`/p/${urlToken}/audit`);
  expect((await get(`/p/${urlToken}/preview`, bob)).statusCode).toBe(404);
});
