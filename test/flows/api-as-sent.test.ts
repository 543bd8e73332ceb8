import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";

/** What programs written for Password Pusher send, in the forms in which they send it. */

let app: TestApp;
let token: string;
let otherToken: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("owner@example.com");
  otherToken = await app.makeToken("other@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;
const json = { "content-type": "application/json" };
const urlencoded = { "content-type": "application/x-www-form-urlencoded" };

const post = (payload: string | Buffer, headers: Headers = json, url = "/api/v2/pushes") =>
  app.server.inject({ method: "POST", url, headers, payload });
const get = (url: string, headers: Headers = {}) => app.server.inject({ url, headers });
const remove = (url: string, headers: Headers = {}) => app.server.inject({ method: "DELETE", url, headers });

async function made(fields: object, headers: Headers = {}) {
  const answer = await post(JSON.stringify({ push: fields }), { ...json, ...headers });
  expect([answer.statusCode, answer.body]).toEqual([201, expect.any(String)]);
  return answer.json();
}

async function payloadOf(answer: Awaited<ReturnType<typeof post>>): Promise<unknown> {
  expect([answer.statusCode, answer.body]).toEqual([201, expect.any(String)]);
  return (await get(`/api/v2/pushes/${answer.json().url_token}`)).json().payload;
}

describe("fields", () => {
  test.each(["1234", "1.50", "1e3", "-0", "12345678901234567890"])("the number %s is the text %s", async (number) => {
    const body = `{"push":{"payload":${number},"passphrase":${number},"name":${number},"note":${number}}}`;
    const push = (await post(body, { ...json, ...bearer(token) })).json();
    expect(push).toMatchObject({ name: number, note: number, passphrase: number });
    const opened = await get(`/api/v2/pushes/${push.url_token}?passphrase=${number}`);
    expect(opened.json().payload).toBe(number);
  });

  test.each(["true", "[1]", '{"a":1}'])("%s is not a text", async (value) => {
    const answer = await post(`{"push":{"payload":${value},"passphrase":${value},"name":${value},"note":${value}}}`);
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([422, ["payload", "passphrase", "name", "note"]]);
  });

  test("null and an empty text are false in booleans, so that the push stays protected", async () => {
    for (const value of [null, ""]) {
      expect(await made({ payload: "x", deletable_by_viewer: value, retrieval_step: value })).toMatchObject({
        deletable_by_viewer: false,
        retrieval_step: false,
      });
    }
  });

  test("empty integers and an empty kind count as not given, 3.0 is 3", async () => {
    const empty = { expire_after_days: "", expire_after_views: " ", expire_after_duration: "", kind: "" };
    expect(await made({ payload: "x", ...empty })).toMatchObject({
      expire_after_days: 7,
      expire_after_views: 5,
      kind: "text",
    });
    const answer = await post('{"push":{"payload":"x","expire_after_days":3.0,"expire_after_views":" 4 "}}');
    expect(answer.json()).toMatchObject({ expire_after_days: 3, expire_after_views: 4 });
    const form = await post("push[payload]=x&push[expire_after_days]=%2B3&push[kind]=", urlencoded);
    expect(form.json()).toMatchObject({ expire_after_days: 3, kind: "text" });
  });

  const days = (value: string) => post(`{"push":{"payload":"x","expire_after_days":${value}}}`);

  test.each(['"1e1"', '"0x5"', '"3.0"', '"3 4"', "1.00000000000000000001", "1.5", "15e-1", "true", "[3]"])(
    "an integer field that holds %s is no integer",
    async (value) => {
      const answer = await days(value);
      expect([answer.statusCode, answer.json()]).toEqual([422, { expire_after_days: ["must be an integer."] }]);
    },
  );

  test.each(["1e15", '"1000000000000000"', `"${"9".repeat(500)}"`, "-1e400", "91", '"-1"', "9007199254740993"])(
    "an integer outside the range names the range: %s",
    async (value) => {
      const answer = await days(value);
      expect([answer.statusCode, answer.json()]).toEqual([422, { expire_after_days: ["must be between 1 and 90."] }]);
    },
  );

  test("1e1 as a number of JSON is 10, and a duration that is none names its range", async () => {
    expect((await days("1e1")).json()).toMatchObject({ expire_after_days: 10 });
    const answer = await post('{"push":{"payload":"x","expire_after_duration":"1e1"}}');
    expect(answer.json()).toEqual({ expire_after_duration: ["must be an integer from 0 to 17."] });
  });

  test("empty files are none, and only an empty text needs no token", async () => {
    expect(await made({ payload: "x", files: "" })).toMatchObject({ kind: "text" });
    expect((await post("push[payload]=x&push[files]=", urlencoded)).statusCode).toBe(201);
    expect((await post('{"push":{"payload":"x","files":[""]}}')).statusCode).toBe(401);
    expect((await post("push[payload]=x&push[files][]=", urlencoded)).statusCode).toBe(401);
    expect(await made({ payload: "x", files: [""] }, bearer(token))).toMatchObject({ kind: "text" });
  });

  test("a name has up to 2,048 characters, and a note up to 65,536", async () => {
    const longest = { name: "n".repeat(2_048), note: "o".repeat(65_536) };
    expect(await made({ payload: "x", ...longest }, bearer(token))).toMatchObject(longest);
    const answer = await post(
      JSON.stringify({ push: { payload: "x", name: "n".repeat(2_049), note: "o".repeat(65_537) } }),
    );
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([422, ["name", "note"]]);
  });

  test("the labels of an anonymous push are repeated in the answer, and kept nowhere", async () => {
    expect(await made({ payload: "x", name: "n", note: "o" })).toMatchObject({ name: "n", note: "o" });
    const v1 = await post('{"password":{"payload":"x","name":"n","note":"o"}}', json, "/p.json");
    expect(v1.json()).toMatchObject({ name: "n", note: "o" });
  });
});

describe("bodies", () => {
  test("JSON without the wrapper counts as the inside of it, in API v2 only", async () => {
    expect(await payloadOf(await post('{"payload":"bare","unknown":1}'))).toBe("bare");
    expect((await post('{"payload":"x","push":null}')).statusCode).toBe(400);
    expect((await post('{"payload":"x","push":1}')).statusCode).toBe(400);
    expect((await post('{"data":"x"}')).statusCode).toBe(400);
    expect((await post("payload=x", urlencoded)).statusCode).toBe(400);
    expect((await post('{"payload":"x"}', json, "/p.json")).statusCode).toBe(400);
  });

  test("fields may be in the query string, and those in the body count first", async () => {
    const inQuery = await post("", json, "/api/v2/pushes?push[payload]=a+b%26&push[expire_after_views]=2");
    expect(inQuery.json().expire_after_views).toBe(2);
    expect(await payloadOf(inQuery)).toBe("a b&");
    const both = await post('{"push":{"payload":"body"}}', json, "/api/v2/pushes?push[payload]=q&push[kind]=qr");
    expect(both.json().kind).toBe("qr");
    expect(await payloadOf(both)).toBe("body");
    expect(await payloadOf(await post("", {}, "/p.json?password[payload]=older"))).toBe("older");
    const bare = await post('{"payload":"bare"}', json, "/api/v2/pushes?push%5Bexpire_after_days%5D=3");
    expect(bare.json().expire_after_days).toBe(3);
    expect((await post("", json, "/api/v2/pushes?push=x")).statusCode).toBe(400);
    expect((await post("", json, "/api/v2/pushes?push[kind]=file&push[payload]=x")).statusCode).toBe(401);
  });

  test.each([
    ["iso-8859-1", Buffer.from('{"push":{"payload":"na\u00efve"}}', "latin1"), "na\u00efve"],
    ["Windows-1252", Buffer.from('{"push":{"payload":"\x80"}}', "latin1"), "\u20ac"],
    ["utf-16", Buffer.from('\ufeff{"push":{"payload":"\ud83d\ude00"}}', "utf16le"), "\u{1F600}"],
    ['"shift_jis"', Buffer.from([...Buffer.from('{"push":{"payload":"'), 0x93, 0xfa, ...Buffer.from('"}}')]), "日"],
    ["utf8", Buffer.from('{"push":{"payload":"é"}}'), "é"],
  ])("JSON in %s is decoded", async (charset, body, payload) => {
    expect(await payloadOf(await post(body, { "content-type": `application/json; charset=${charset}` }))).toBe(payload);
  });

  test.each([
    ["iso-8859-1", "na%EFve", "na\u00efve"],
    ["windows-1252", "na\u00efve+%80", "na\u00efve \u20ac"],
    ["shift_jis", "%93%fa", "日"],
    ["UTF8", "na%C3%AFve", "na\u00efve"],
  ])("a form in %s is decoded", async (charset, payload, decoded) => {
    const type = `application/x-www-form-urlencoded; charset=${charset}`;
    const body = Buffer.from(`push[payload]=${payload}&push[expire_after_days]=3`, "latin1");
    expect(await payloadOf(await post(body, { "content-type": type }))).toBe(decoded);
    const older = Buffer.from(`password[payload]=${payload}`, "latin1");
    expect(await payloadOf(await post(older, { "content-type": type }, "/p.json"))).toBe(decoded);
  });

  const fieldIn = (charset: string, payload: Buffer) =>
    Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="push[payload]"\r\n'),
      Buffer.from(`Content-Type: text/plain; charset=${charset}\r\n\r\n`),
      payload,
      Buffer.from("\r\n--b--"),
    ]);
  const multipart = { "content-type": "multipart/form-data; boundary=b" };

  test.each([
    ["iso-8859-1", Buffer.from("na\u00efve", "latin1")],
    ["utf-16le", Buffer.from("na\u00efve", "utf16le")],
  ])("a field of a multipart form in %s is decoded", async (charset, payload) => {
    expect(await payloadOf(await post(fieldIn(charset, payload), multipart))).toBe("na\u00efve");
  });

  test.each(["utf-7", "nonsense", "iso-2022-kr"])("a body in the unknown charset %s is 415", async (charset) => {
    const asJson = await post("{}", { "content-type": `application/json; charset=${charset}` });
    const asForm = await post("a=b", { "content-type": `application/x-www-form-urlencoded; charset=${charset}` });
    const asField = await post(fieldIn(charset, Buffer.from("x")), multipart);
    for (const answer of [asJson, asForm, asField]) {
      expect([answer.statusCode, answer.json()]).toEqual([415, { error: expect.any(String) }]);
    }
  });

  test("bytes that are not of a form's charset are refused", async () => {
    const type = "application/x-www-form-urlencoded; charset=shift_jis";
    expect((await post("push[payload]=%93", { "content-type": type })).statusCode).toBe(400);
    expect((await post(fieldIn("utf-16le", Buffer.from("x")), multipart)).statusCode).toBe(400);
  });

  test("a file without a type of its own has the type that its name implies", async () => {
    const part = (name: string, type: string) =>
      `--b\r\nContent-Disposition: form-data; name="push[files][]"; filename="${name}"\r\n${type}\r\nx\r\n`;
    const unknown = "Content-Type: application/octet-stream\r\n";
    const body = [
      part("a.PDF", ""),
      part("b.csv", unknown),
      part("c.txt", "Content-Type: image/png\r\n"),
      part("txt", ""),
      part("d.nonsense", unknown),
      "--b--",
    ].join("");
    const answer = await post(body, { "content-type": "multipart/form-data; boundary=b", ...bearer(token) });
    const { files } = (await get(`/api/v2/pushes/${answer.json().url_token}`)).json();
    expect(files.map((file: { content_type: string }) => file.content_type)).toEqual([
      "application/pdf",
      "text/csv",
      "image/png",
      "application/octet-stream",
      "application/octet-stream",
    ]);
    const inJson = await made({ files: [{ filename: "a.png", data: "AAAA" }] }, bearer(token));
    const opened = (await get(`/api/v2/pushes/${inJson.url_token}`)).json();
    expect(opened).toMatchObject({ payload: null, files: [{ content_type: "image/png" }] });
  });

  test.each(["", "null"])("GET and DELETE may carry JSON with the body %j", async (payload) => {
    const { url_token } = await made({ payload: "x", deletable_by_viewer: true });
    for (const [method, path] of [
      ["GET", "/preview"],
      ["GET", ""],
      ["DELETE", ""],
    ] as const) {
      const url = `/api/v2/pushes/${url_token}${path}.json`;
      expect((await app.server.inject({ method, url, headers: json, payload })).statusCode).toBe(200);
    }
  });
});

describe("the passphrase of a retrieval", () => {
  test.each<[string, Headers, string]>([
    ["a JSON body", json, '{"passphrase":"0123 é"}'],
    ["a form", urlencoded, "passphrase=0123+%C3%A9"],
    [
      "a form in parts",
      { "content-type": "multipart/form-data; boundary=b" },
      '--b\r\nContent-Disposition: form-data; name="passphrase"\r\n\r\n0123 é\r\n--b--',
    ],
  ])("may be in %s of the GET, in both versions", async (_, headers, payload) => {
    const { url_token } = await made({ payload: "x", passphrase: "0123 é" });
    for (const url of [`/api/v2/pushes/${url_token}`, `/p/${url_token}.json?passphrase=ignored`]) {
      const opened = await app.server.inject({ method: "GET", url, headers, payload });
      expect([opened.statusCode, opened.json().payload]).toEqual([200, "x"]);
    }
  });

  test("may be a number in the body; a body without it, or of another type, changes nothing", async () => {
    const { url_token } = await made({ payload: "x", passphrase: "1234" });
    const ask = async (payload: string, headers: Headers, query = "") =>
      (await app.server.inject({ method: "GET", url: `/api/v2/pushes/${url_token}${query}`, headers, payload }))
        .statusCode;
    expect(await ask('{"passphrase":1234}', json)).toBe(200);
    expect(await ask('{"passphrase":4321}', json)).toBe(401);
    expect(await ask('{"passphrase":""}', json, "?passphrase=1234")).toBe(200);
    expect(await ask("{}", { ...json, "x-push-passphrase": "1234" })).toBe(200);
    expect(await ask("passphrase", { "content-type": "text/plain" }, "?passphrase=1234")).toBe(200);
    expect(await ask('{"passphrase":[]}', json)).toBe(422);
    expect(await ask("{", json)).toBe(400);
  });
});

describe("answers", () => {
  test("push_locale is the language of the links, from the query or the body", async () => {
    const fields = '"push":{"payload":"x","retrieval_step":true}';
    const push = (await post(`{${fields},"push_locale":"pt_br"}`)).json();
    expect(push.html_url).toBe(`http://localhost/p/${push.url_token}/r?locale=pt-BR`);
    expect(push.json_url).toBe(`http://localhost/p/${push.url_token}.json`);
    expect((await post(`{${fields}}`, json, "/api/v2/pushes?push_locale=de")).json().html_url).toMatch(
      /\/r\?locale=de$/,
    );
    expect((await post("password[payload]=x&push_locale=ja", urlencoded, "/p.json")).json().html_url).toMatch(
      /\?locale=ja$/,
    );
    expect((await post(`{${fields},"push_locale":"tlh"}`)).json().html_url).toMatch(/\/r$/);
    for (const url of [`/api/v2/pushes/${push.url_token}/preview`, `/p/${push.url_token}/preview.json`]) {
      expect((await get(`${url}?push_locale=de`)).json().url).toMatch(/\/r\?locale=de$/);
    }
    expect((await get(`/p/${push.url_token}.json?push_locale=fr`)).json().html_url).toMatch(/\?locale=fr$/);
  });

  test("a passphrase is an empty text while an active push has none, otherwise null", async () => {
    const open = await made({ payload: "x", expire_after_views: 1 }, bearer(token));
    const locked = await made({ payload: "x", passphrase: "p" }, bearer(token));
    expect([open.passphrase, locked.passphrase]).toEqual(["", "p"]);
    expect((await get(`/p/${locked.url_token}.json?passphrase=p`)).json().passphrase).toBeNull();
    expect((await get(`/api/v2/pushes/${open.url_token}`)).json()).toMatchObject({ payload: "x", passphrase: "" });
    expect((await get(`/api/v2/pushes/${open.url_token}`)).json()).toMatchObject({ payload: null, passphrase: null });
  });

  test("days_remaining is 0 once the time is over, and unchanged when the views are used up", async () => {
    const short = await made({ payload: "x", expire_after_duration: 0 }, bearer(token));
    expect(short.days_remaining).toBe(1);
    const viewed = await made({ payload: "x", expire_after_views: 1 }, bearer(token));
    app.clock.advance(15 * 60_000);
    for (const [urlToken, days] of [
      [short.url_token, 0],
      [viewed.url_token, 7],
    ]) {
      await get(`/api/v2/pushes/${urlToken}`);
      expect((await get(`/api/v2/pushes/${urlToken}`)).json()).toMatchObject({ expired: true, days_remaining: days });
    }
  });

  test("a stranger's deletion is refused in the same way before and after the end of a push", async () => {
    const push = await made({ payload: "x", deletable_by_viewer: false, expire_after_views: 1 }, bearer(token));
    for (const state of ["active", "expired"]) {
      if (state === "expired") await get(`/api/v2/pushes/${push.url_token}`);
      for (const url of [`/api/v2/pushes/${push.url_token}`, `/p/${push.url_token}.json`]) {
        expect((await remove(url)).statusCode).toBe(401);
        expect((await remove(url, bearer(otherToken))).statusCode).toBe(403);
      }
    }
    expect((await remove(`/p/${push.url_token}.json`, bearer(token))).statusCode).toBe(200);
    const open = await made({ payload: "x", deletable_by_viewer: true, expire_after_views: 1 });
    await get(`/api/v2/pushes/${open.url_token}`);
    expect((await remove(`/api/v2/pushes/${open.url_token}`)).json()).toMatchObject({ expired: true, deleted: false });
  });

  test("the audit keeps referrers as sent, but never a link to a secret", async () => {
    const push = await made({ payload: "x", expire_after_views: 9 }, bearer(token));
    const secret = `https://push.example.com/p/${push.url_token}`;
    for (const referer of [
      "https://mail.example.com/inbox?x=1",
      "android-app://com.slack",
      `https://safelinks.example.com/?url=${encodeURIComponent(secret)}`,
      "http://localhost/p/abc",
    ]) {
      await get(`/p/${push.url_token}.json`, { referer });
    }
    const { views } = (await get(`/p/${push.url_token}/audit.json`, bearer(token))).json();
    expect(views.map((view: { referrer: string }) => view.referrer)).toEqual([
      "",
      "https://mail.example.com/inbox?x=1",
      "android-app://com.slack",
      "https://safelinks.example.com",
      "http://localhost",
    ]);
  });

  test("in API v1, an administrator's retrieval of their own push is an admin_view", async () => {
    const admin = bearer(await app.makeToken("admin@example.com", true));
    const { url_token } = await made({ payload: "x" }, admin);
    expect((await get(`/p/${url_token}.json`, admin)).json().views_remaining).toBe(5);
    const { views } = (await get(`/p/${url_token}/audit.json`, admin)).json();
    expect(views.map((view: { kind: string }) => view.kind)).toEqual(["creation", "admin_view"]);
  });
});

test("in API v1, the paths of a kind that is switched off do not exist", async () => {
  const environment = { PWP__ENABLE_FILE_PUSHES: "false", PWP__ENABLE_URL_PUSHES: "false" };
  await using closed = await startTestApp({ environment });
  const text = await closed.server.inject({ method: "POST", url: "/p.json", payload: { password: { payload: "x" } } });
  for (const letter of ["f", "r"]) {
    for (const [method, path] of [
      ["POST", `/${letter}.json`],
      ["GET", `/${letter}/${text.json().url_token}.json`],
      ["GET", `/${letter}/${text.json().url_token}/preview.json`],
      ["GET", `/${letter}/active.json`],
      ["DELETE", `/${letter}/${text.json().url_token}.json`],
    ] as const) {
      const answer = await closed.server.inject({ method, url: path, headers: bearer("nonsense") });
      expect([method, path, answer.statusCode, answer.json()]).toEqual([method, path, 404, { error: "not-found" }]);
    }
  }
  expect((await closed.server.inject(`/p/${text.json().url_token}.json`)).json().payload).toBe("x");
});
