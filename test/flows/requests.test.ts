import { randomBytes } from "node:crypto";
import { fingerprintOf, ownerProofOf } from "@sealpush/age/key-check";
import { type LinkKey, makeLinkKey } from "@sealpush/age/link-key";
import { openFile } from "@sealpush/age/open";
import { sealText } from "@sealpush/age/seal";
import { writeAnswer } from "@sealpush/age/sealed-content";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { changeUsers } from "../support/access-rows.ts";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { openAnswer, sealFiles } from "../support/sealed-content.ts";
import { signInClient } from "../support/signed-in-client.ts";

const path = "/api/sealpush/requests";
const email = "owner@example.com";

let app: TestApp;
let origin: string;
let token: string;
let key: LinkKey;
beforeAll(async () => {
  app = await startTestApp({ environment: { PWP__FILES__MAX_PUSH_BYTES: "1000000", PWP__ALLOW_ANONYMOUS: "false" } });
  origin = await app.listen();
  token = await app.makeToken(email);
  key = await makeLinkKey();
});
afterAll(() => app[Symbol.asyncDispose]());

interface Asked {
  readonly url_token: string;
  readonly [key: string]: unknown;
}

async function send(url: string, body?: unknown, credentials: Record<string, string> = {}) {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${origin}${url}`, {
    headers: { ...credentials, ...(body !== undefined && !isForm && { "content-type": "application/json" }) },
    ...(body !== undefined && { method: "POST", body: isForm ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

async function ask(more: object = {}): Promise<Asked> {
  const request = {
    title: "Root password",
    recipient: key.recipient,
    encryption_check: key.check,
    wants_files: true,
    answers_max: 5,
    ...more,
  };
  const made = await send(path, { request }, bearer(token));
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body;
}

async function answersTo({ url_token: urlToken }: Asked) {
  const shown = await send(`${path}/${urlToken}/answers`, undefined, bearer(token));
  expect(shown.status).toBe(200);
  return shown.body;
}

async function retrieved(urlToken: string) {
  return (await send(`/api/v2/pushes/${urlToken}`, undefined, bearer(token))).body;
}

async function openedFile(url: string, identity: string | undefined): Promise<Buffer> {
  const { body } = await fetch(url);
  if (body === null) throw new Error("The download is empty.");
  return Buffer.from(await new Response(await openFile(body, identity ?? "")).arrayBuffer());
}

describe("a request", () => {
  test("is made, listed, shown and closed by its owner; everybody with its link reads what is asked for", async () => {
    const asked = await ask({
      note: "For the new server",
      identity_sealed: await sealText("x", key.recipient, "words"),
    });
    expect(asked).toMatchObject({
      state: "open",
      answers: 0,
      answers_max: 5,
      encryption_check: key.check,
      html_url: expect.stringMatching(
        new RegExp(`/requests/${asked.url_token}#${await fingerprintOf(key.recipient)}$`),
      ),
    });
    expect((await send(`${path}?page=1`, undefined, bearer(token))).body[0]).toEqual(asked);
    const shown = (await send(`${path}/${asked.url_token}`)).body;
    expect(shown).toEqual({
      asked_by: "owner@example.com",
      url_token: asked.url_token,
      title: "Root password",
      note: "For the new server",
      wants_text: true,
      wants_files: true,
      state: "open",
      expires_at: asked.expires_at,
      recipient: key.recipient,
    });
    const closed = await send(`${path}/${asked.url_token}/close`, {}, bearer(token));
    expect(closed.body).toMatchObject({ state: "closed" });
    const late = await send(`${path}/${asked.url_token}`, { payload: "x" });
    expect([late.status, late.body]).toEqual([422, { request: ["takes no more answers."] }]);
  });

  test("is deleted by its owner with its answers, whose audit trails stay", async () => {
    const asked = await ask();
    const url = `${path}/${asked.url_token}`;
    for (const payload of ["hunter2", "hunter3"]) await send(url, { payload });
    const { pushes } = await answersTo(asked);
    await retrieved(pushes[0].url_token);
    const remove = async () => {
      const answer = await fetch(`${origin}${url}`, { method: "DELETE", headers: bearer(token) });
      return [answer.status, await answer.json()];
    };
    expect(await remove()).toEqual([200, { message: "The request and its answers were deleted." }]);
    expect(await remove()).toEqual([404, { error: "not-found" }]);
    expect((await send(url)).status).toBe(404);
    expect(await retrieved(pushes[1].url_token)).toMatchObject({ expired: true, deleted: true, payload: null });
    const { body } = await send(`/api/v2/pushes/${pushes[1].url_token}/audit`, undefined, bearer(token));
    expect(body.logs.map(({ kind }: { kind: string }) => kind)).toEqual(["creation", "expire", "failed_view"]);
  });

  test("of somebody else is unknown, and an unknown one is", async () => {
    const asked = await ask();
    const other = bearer(await app.makeToken("other@example.com"));
    for (const url of [`${path}/${asked.url_token}/answers`, `${path}/${"a".repeat(32)}/answers`]) {
      expect((await send(url, undefined, other)).status).toBe(404);
    }
    expect((await send(`${path}/${asked.url_token}/close`, {}, other)).status).toBe(404);
    const removal = await fetch(`${origin}${path}/${asked.url_token}`, { method: "DELETE", headers: other });
    expect(removal.status).toBe(404);
    expect((await send(`${path}/${"a".repeat(32)}`)).status).toBe(404);
    expect((await send(`${path}/${"a".repeat(32)}`, { payload: "x" })).status).toBe(404);
    expect((await send(path, { request: {} })).status).toBe(401);
  });

  test("is open no longer than pushes live, unless something else is asked for", async () => {
    const environment = { PWP__PW__EXPIRE_AFTER_DAYS_MAX: "3", PWP__FILES__EXPIRE_AFTER_DAYS_MAX: "2" };
    const defaults = { PWP__PW__EXPIRE_AFTER_DAYS_DEFAULT: "1", PWP__FILES__EXPIRE_AFTER_DAYS_DEFAULT: "1" };
    await using bounded = await startTestApp({ environment: { ...environment, ...defaults } });
    const person = await signInClient(bounded, "ada@example.com", { join: true });
    expect((await person.get("/requests/new")).body).toMatch(/id="expire_after_days"[^>]* value="3"/);
    const headers = bearer(await bounded.makeToken(email));
    const request = { title: "x", recipient: key.recipient, encryption_check: key.check };
    const made = await bounded.server.inject({ method: "POST", url: path, headers, payload: { request } });
    expect(made.statusCode, made.body).toBe(201);
    expect(Date.parse(made.json().expires_at) - bounded.clock.now()).toBe(3 * dayMs);
  });

  test("names each wrong field", async () => {
    const answer = await send(path, { request: { answers_max: "many", title: "x" } }, bearer(token));
    expect([answer.status, answer.body]).toEqual([422, { answers_max: ["must be an integer."] }]);
    const missing = await send(path, { request: {} }, bearer(token));
    expect(missing.body).toEqual({
      title: ["can't be blank."],
      recipient: ["must be an age recipient (age1...)."],
      encryption_check: ["must be 32 hexadecimal digits in lower case."],
    });
    const unseen = await send(path, { request: { title: " \u200b\u202e " } }, bearer(token));
    expect(unseen.body).toMatchObject({ title: ["can't be blank."] });
    for (const body of [{ title: "x" }, { request: 1 }]) {
      expect((await send(path, body, bearer(token))).body).toEqual({
        error: 'The body must have an object named "request".',
      });
    }
  });
});

describe("an answer", () => {
  test("that comes as it is gets sealed by the server, and its sender gets nothing that leads to it", async () => {
    const asked = await ask();
    const sent = await send(`${path}/${asked.url_token}`, { payload: "hunter2" });
    expect([sent.status, sent.body]).toEqual([201, { message: "The answer was handed over." }]);
    const { answers, pushes } = await answersTo(asked);
    expect(answers).toBe(1);
    expect(pushes).toMatchObject([
      { kind: "text", encryption: "age", name: "Root password", expire_after_views: 1, views_remaining: 1 },
    ]);
    const { payload } = await retrieved(pushes[0].url_token);
    expect(await openAnswer(payload, key.identity, asked.url_token)).toEqual({ text: "hunter2", files: [] });
    expect((await retrieved(pushes[0].url_token)).payload).toBeNull();
    expect(app.logLines.join("")).not.toContain("hunter2");
    expect(app.logLines.join("")).not.toContain(asked.url_token);
  });

  test("is taken where pushes have more views than the one of an answer", async () => {
    const views = { PWP__PW__EXPIRE_AFTER_VIEWS_MIN: "2", PWP__FILES__EXPIRE_AFTER_VIEWS_MIN: "2" };
    await using other = await startTestApp({ environment: views });
    const request = {
      title: "T",
      recipient: key.recipient,
      encryption_check: key.check,
      wants_files: true,
      answers_max: 2,
    };
    const headers = bearer(await other.makeToken(email));
    const post = (url: string, payload: object) => other.server.inject({ method: "POST", url, headers, payload });
    const { url_token: urlToken } = (await post(path, { request })).json();
    expect((await post(`${path}/${urlToken}`, { payload: "hunter2" })).statusCode).toBe(201);
    const form = new FormData();
    form.append("files[]", new Blob(["x"]), "a.txt");
    expect((await fetch(`${await other.listen()}${path}/${urlToken}`, { method: "POST", body: form })).status).toBe(
      201,
    );
    const { pushes } = (await other.server.inject({ url: `${path}/${urlToken}/answers`, headers })).json();
    expect(pushes).toMatchObject([
      { kind: "text", expire_after_views: 1 },
      { kind: "file", expire_after_views: 1 },
    ]);
    expect((await post("/api/v2/pushes", { push: { payload: "x", expire_after_views: 1 } })).statusCode).toBe(422);
  });

  test("with files that come as they are is sealed on the way to the store", async () => {
    const asked = await ask();
    const plan = Uint8Array.from(randomBytes(300_000));
    const form = new FormData();
    form.append("payload", "see the file");
    form.append("files[]", new Blob([plan], { type: "image/png" }), "plan.png");
    form.append("files[]", new Blob(["x"]), "b.txt");
    expect((await send(`${path}/${asked.url_token}`, form)).status).toBe(201);
    const { pushes } = await answersTo(asked);
    const { payload, files } = await retrieved(pushes[0].url_token);
    expect(files.map((file: { filename: string }) => file.filename)).toEqual(["1.age", "2.age"]);
    const content = await openAnswer(payload, key.identity, asked.url_token);
    expect(content).toMatchObject({
      text: "see the file",
      files: [{ name: "plan.png", type: "image/png", size: 300_000 }, { name: "b.txt" }],
    });
    expect((await openedFile(files[0].url, content.files?.[0]?.identity)).equals(plan)).toBe(true);
  });

  test("that was sealed before it was sent is stored as it is", async () => {
    const asked = await ask();
    const [file] = await sealFiles([{ name: "a.txt", content: Uint8Array.from(Buffer.from("the file")) }]);
    if (file === undefined) throw new Error("There is no file.");
    const list = writeAnswer(asked.url_token, { text: "", files: [file.details] });
    const form = new FormData();
    form.append("encryption", "age");
    form.append("payload", await sealText(list, key.recipient, ""));
    form.append("files[]", new Blob([file.sealed]), "1.age");
    expect((await send(`${path}/${asked.url_token}`, form)).status).toBe(201);
    const { files } = await retrieved((await answersTo(asked)).pushes[0].url_token);
    expect((await openedFile(files[0].url, file.details.identity)).toString()).toBe("the file");
  });

  test("with files before the field encryption, too large, or of what is not wanted, is refused and leaves nothing", async () => {
    const asked = await ask();
    const late = new FormData();
    late.append("files[]", new Blob(["x"]), "a");
    late.append("encryption", "age");
    expect((await send(`${path}/${asked.url_token}`, late)).body).toEqual({
      error: "Send the field encryption before the files.",
    });
    const large = new FormData();
    large.append("files[]", new Blob([Uint8Array.from(randomBytes(1_000_000))]), "a");
    expect((await send(`${path}/${asked.url_token}`, large)).status).toBe(413);
    const unwanted = await ask({ wants_files: false });
    const form = new FormData();
    form.append("files[]", new Blob(["x"]), "a");
    expect((await send(`${path}/${unwanted.url_token}`, form)).body).toEqual({
      files: ["are not wanted by this request."],
    });
    const plain = { payload: "hunter2", encryption: "age" };
    expect((await send(`${path}/${asked.url_token}`, plain)).status).toBe(422);
    expect(await answersTo(asked)).toMatchObject({ answers: 0, pushes: [] });
    expect(await answersTo(unwanted)).toMatchObject({ answers: 0, pushes: [] });
  });
});

describe("the page that answers, without a script", () => {
  const page = { accept: "text/html", "sec-fetch-site": "same-origin" };

  /** Sends its form. @returns the status and the texts of the page. */
  async function sendForm(asked: Asked, fields: Readonly<Record<string, string>>, files: readonly Blob[] = []) {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const file of files) form.append("files[]", file, "a.txt");
    const url = `${origin}/requests/${asked.url_token}`;
    const answer = await fetch(url, { method: "POST", body: form, headers: page, redirect: "manual" });
    return { status: answer.status, body: await answer.text() };
  }

  test("says at the field what is wrong, and keeps the text", async () => {
    const asked = await ask();
    const many = await sendForm(
      asked,
      { payload: "hunter2" },
      Array.from({ length: 11 }, () => new Blob(["x"])),
    );
    expect(many.status).toBe(422);
    expect(many.body).toContain('id="files_problem"');
    expect(many.body).toContain("Choose at least one file and at most 10.");
    expect(many.body).toContain("hunter2</textarea>");
    const large = await sendForm(asked, { payload: "hunter2" }, [new Blob([Uint8Array.from(randomBytes(1_000_000))])]);
    expect(large.status).toBe(413);
    expect(large.body).toContain("The files must not exceed 976.6\u00a0kB in total.");
    expect(large.body).toContain("hunter2</textarea>");
    const empty = await sendForm(asked, { payload: "" });
    expect([empty.status, empty.body.includes("Enter a text or choose a file.")]).toEqual([422, true]);
    const long = await sendForm(asked, { payload: "x".repeat(1_048_577) }, [new Blob(["x"])]);
    expect([long.status, long.body.includes('id="payload_problem"')]).toEqual([422, true]);
    expect(long.body).toContain("Browsers do not keep selected files.");
    expect(await answersTo(asked)).toMatchObject({ answers: 0 });
  });

  test("shows the text of an answer that came too late, which the browser has no more", async () => {
    const asked = await ask();
    await send(`${path}/${asked.url_token}/close`, {}, bearer(token));
    const late = await sendForm(asked, { payload: "hunter2" }, [new Blob(["x"])]);
    expect(late.status).toBe(422);
    expect(late.body).toContain("This request takes no more answers");
    expect(late.body).toMatch(/<textarea[^>]* readonly[^>]*>hunter2<\/textarea>/);
    const visited = await (await fetch(`${origin}/requests/${asked.url_token}`, { headers: page })).text();
    expect(visited).not.toContain("<textarea");
  });

  test("says how much a sender may send a day", async () => {
    await using bounded = await startTestApp({ environment: { PWP__CLIENT_BYTES_PER_DAY: "1000" } });
    const headers = bearer(await bounded.makeToken(email));
    const request = { title: "x", recipient: key.recipient, encryption_check: key.check, answers_max: 5 };
    const made = await bounded.server.inject({ method: "POST", url: path, headers, payload: { request } });
    const answer = await bounded.server.inject({
      method: "POST",
      url: `/requests/${made.json().url_token}`,
      headers: { ...page, "content-type": "application/x-www-form-urlencoded" },
      payload: `payload=${"x".repeat(2_000)}`,
    });
    expect(answer.statusCode).toBe(429);
    expect(answer.body).toContain("You have sent as many bytes as this server takes from one sender a day");
    expect(answer.headers["retry-after"]).toMatch(/^\d+$/);
  });
});

describe("a request without an account", () => {
  const proofHeader = (proof: string) => ({ "x-request-proof": proof });
  const html = { accept: "text/html", "sec-fetch-site": "same-origin" };
  const formHeaders = { ...html, "content-type": "application/x-www-form-urlencoded" };
  const cookieOf = (answer: { headers: Record<string, unknown> }) =>
    String(answer.headers["set-cookie"] ?? "").split(";")[0] ?? "";

  let open: TestApp;
  let proof: string;
  beforeAll(async () => {
    open = await startTestApp({ environment: { PWP__REQUESTS__ALLOW_ANONYMOUS: "true" } });
    proof = await ownerProofOf(key.identity);
  });
  afterAll(() => open[Symbol.asyncDispose]());

  const fields = () => ({ title: "Wi-Fi", recipient: key.recipient, encryption_check: key.check, owner_proof: proof });
  async function askOpen(more: object = {}): Promise<Asked> {
    const payload = { request: { ...fields(), ...more } };
    const made = await open.server.inject({ method: "POST", url: path, payload });
    expect([made.statusCode, made.body]).toEqual([201, expect.not.stringContaining(proof)]);
    return made.json();
  }

  test("is refused by default, on the pages and by the API, and a proof changes nothing", async () => {
    const { url_token: urlToken } = await askOpen();
    await using closed = await startTestApp();
    const ask = (method: "GET" | "POST" | "DELETE", url: string, headers: Record<string, string>) =>
      closed.server.inject({ method, url, headers, ...(method === "POST" && { payload: { request: fields() } }) });
    for (const [method, end] of [
      ["POST", ""],
      ["GET", `/${urlToken}/answers`],
      ["POST", `/${urlToken}/close`],
      ["DELETE", `/${urlToken}`],
    ] as const) {
      const answer = await ask(method, `${path}${end}`, proofHeader(proof));
      expect([method, end, answer.statusCode]).toEqual([method, end, 401]);
    }
    for (const url of ["/requests/new", `/requests/${urlToken}/answers`]) {
      const answer = await ask("GET", url, { ...html, cookie: `sealpush_request_proof=${proof}` });
      expect([url, answer.statusCode, answer.headers.location]).toEqual([
        url,
        303,
        `/users/sign_in?${new URLSearchParams({ next: url })}`,
      ]);
    }
    const form = new URLSearchParams(fields()).toString();
    const sent = await closed.server.inject({ method: "POST", url: "/requests", headers: formHeaders, payload: form });
    expect(sent.statusCode).toBe(401);
    expect((await closed.server.inject({ url: "/", headers: html })).body).not.toContain("/requests/new");
  });

  test("is refused where pushes need an account", async () => {
    await using signedInOnly = await startTestApp({
      environment: { PWP__REQUESTS__ALLOW_ANONYMOUS: "true", PWP__ALLOW_ANONYMOUS: "false" },
    });
    const made = await signedInOnly.server.inject({ method: "POST", url: path, payload: { request: fields() } });
    expect(made.statusCode).toBe(401);
    expect((await signedInOnly.server.inject({ url: "/requests/new", headers: html })).statusCode).toBe(303);
  });

  test("is shown, answered, opened, closed and deleted with the proof alone", async () => {
    const asked = await askOpen({ answers_max: 2 });
    const url = `${path}/${asked.url_token}`;
    const sent = await open.server.inject({ method: "POST", url, payload: { payload: "hunter2" } });
    expect(sent.statusCode).toBe(201);
    const stranger = await open.makeToken("stranger@example.com");
    const wrong = [
      [{}, 401],
      [proofHeader(""), 401],
      [proofHeader("0".repeat(64)), 404],
      [proofHeader(key.check), 404],
      [bearer(stranger), 404],
    ] as const;
    const call = (method: "GET" | "POST" | "DELETE", end: string, headers: Record<string, string>) =>
      open.server.inject({ method, url: `${url}${end}`, headers, ...(method === "POST" && { payload: {} }) });
    for (const [method, end] of [
      ["GET", "/answers"],
      ["POST", "/close"],
      ["DELETE", ""],
    ] as const) {
      for (const [headers, status] of wrong) {
        const answer = await call(method, end, headers);
        expect([method, end, headers, answer.statusCode]).toEqual([method, end, headers, status]);
      }
    }
    const shown = (await call("GET", "/answers", proofHeader(proof))).json();
    expect(shown).toMatchObject({ state: "open", answers: 1, pushes: [{ encryption: "age", name: "" }] });
    const push = (await open.server.inject({ url: `/api/v2/pushes/${shown.pushes[0].url_token}` })).json();
    expect(await openAnswer(push.payload, key.identity, asked.url_token)).toEqual({ text: "hunter2", files: [] });
    expect((await call("POST", "/close", proofHeader(proof))).json()).toMatchObject({ state: "closed" });
    expect((await call("DELETE", "", { ...bearer(stranger), ...proofHeader(proof) })).statusCode).toBe(200);
    expect((await call("GET", "/answers", proofHeader(proof))).statusCode).toBe(404);
    expect(open.logLines.join("")).not.toContain(proof);
  });

  test("ends by its time, and names what only an account may have", async () => {
    const asked = await askOpen({ expire_after_days: 1 });
    open.clock.advance(86_400_000);
    const url = `${path}/${asked.url_token}`;
    const late = await open.server.inject({ method: "POST", url, payload: { payload: "hunter2" } });
    expect(late.json()).toEqual({ request: ["takes no more answers."] });
    const shown = await open.server.inject({ url: `${url}/answers`, headers: proofHeader(proof) });
    expect(shown.json()).toMatchObject({ state: "expired", pushes: [] });
    const request = { ...fields(), owner_proof: "x", identity_sealed: "x", wants_files: true };
    const refused = await open.server.inject({ method: "POST", url: path, payload: { request } });
    expect(Object.keys(refused.json()).sort()).toEqual(["identity_sealed", "owner_proof", "wants_files"]);
  });

  test("has pages that open with the proof, which a cookie keeps until the browser closes", async () => {
    const payload = new URLSearchParams({ ...fields(), wants_text: "1", answers_max: "1", expire_after_days: "1" });
    const post = (url: string, body: string, cookie = "") =>
      open.server.inject({ method: "POST", url, headers: { ...formHeaders, cookie }, payload: body });
    const made = await post("/requests", payload.toString());
    expect([made.statusCode, made.headers["set-cookie"]]).toEqual([
      303,
      `sealpush_request_proof=${proof}; Path=/; HttpOnly; SameSite=Strict`,
    ]);
    const url = String(made.headers.location);
    const get = (cookie = "") => open.server.inject({ url, headers: { ...html, cookie } });
    expect((await get(cookieOf(made))).body).toContain("Wi-Fi");
    for (const cookie of ["", `sealpush_request_proof=${"0".repeat(64)}`]) {
      expect((await get(cookie)).body).not.toContain("Wi-Fi");
    }
    const wrong = await post(url, `owner_proof=${"0".repeat(64)}`);
    expect([wrong.statusCode, cookieOf(wrong), wrong.body.includes("Wi-Fi")]).toEqual([404, "", false]);
    const proven = await post(url, `owner_proof=${proof}`);
    expect([proven.statusCode, proven.headers.location]).toEqual([303, url]);
    const foreign = url.replace("/answers", "/close");
    expect((await post(foreign, "")).statusCode).toBe(401);
    const closed = await post(foreign, "", cookieOf(proven));
    expect([closed.statusCode, closed.headers.location]).toEqual([303, url]);
    const deleted = await post(url.replace("/answers", "/delete"), "", cookieOf(proven));
    expect([deleted.statusCode, deleted.headers["set-cookie"]]).toEqual([
      200,
      "sealpush_request_proof=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict",
    ]);
    expect((await get(cookieOf(proven))).statusCode).toBe(404);
    const owned = await open.server.inject({
      method: "POST",
      url: path,
      headers: bearer(await open.makeToken(email)),
      payload: { request: fields() },
    });
    const ownedUrl = `/requests/${owned.json().url_token}/answers`;
    const redirected = await open.server.inject({ url: ownedUrl, headers: { ...html, cookie: cookieOf(proven) } });
    expect([redirected.statusCode, redirected.headers.location]).toEqual([
      303,
      `/users/sign_in?${new URLSearchParams({ next: ownedUrl })}`,
    ]);
  });

  test("is not made from a form that was shown to somebody with an account", async () => {
    const { owner_proof: _, ...owned } = fields();
    const payload = new URLSearchParams(owned).toString();
    const answer = await open.server.inject({ method: "POST", url: "/requests", headers: formHeaders, payload });
    expect([answer.statusCode, answer.body.includes("signed out")]).toEqual([401, true]);
  });

  test("is limited for each client, and the form says so", async () => {
    await using limited = await startTestApp({ environment: { PWP__REQUESTS__ALLOW_ANONYMOUS: "true" } });
    const payload = new URLSearchParams({ ...fields(), wants_text: "1", answers_max: "1", expire_after_days: "1" });
    const post = () =>
      limited.server.inject({ method: "POST", url: "/requests", headers: formHeaders, payload: payload.toString() });
    for (let made = 0; made < 20; made += 1) expect((await post()).statusCode).toBe(303);
    const refused = await post();
    expect([refused.statusCode, Number(refused.headers["retry-after"]) > 0]).toEqual([429, true]);
    expect(refused.body).toContain("Too many requests were made without an account.");
  });
});

test("the owner gets an email, without anything that opens the answer", async () => {
  const sink = await startMailSink();
  await using mailing = await startTestApp({ environment: sink.environment });
  const headers = bearer(await mailing.makeToken(email));
  const request = { title: "Root\r\npassword", recipient: key.recipient, encryption_check: key.check };
  const made = await mailing.server.inject({ method: "POST", url: path, headers, payload: { request } });
  const { url_token: urlToken } = made.json();
  await mailing.server.inject({ method: "POST", url: `${path}/${urlToken}`, payload: { payload: "hunter2" } });
  expect((await sink.next(email)).subject).toContain("An API token was created");
  const mail = await sink.next(email);
  expect(mail.subject).toContain("Your request was answered");
  expect(mail.text).toContain("Root password");
  expect(mail.text).toContain(`/requests/${urlToken}/answers`);
  expect(mail.raw).not.toContain("hunter2");
});

test("an address that its owner has not confirmed is shown to nobody who answers, and gets no email", async () => {
  const sink = await startMailSink();
  await using mailing = await startTestApp({ environment: sink.environment });
  const { domain } = mailing.app;
  const headers = bearer(await mailing.makeToken(email));
  await sink.next(email);
  await changeUsers(domain, { confirmedAt: null });
  const request = { title: "From the bank", recipient: key.recipient, encryption_check: key.check };
  const made = await mailing.server.inject({ method: "POST", url: path, headers, payload: { request } });
  const { url_token: urlToken } = made.json();
  const url = `${path}/${urlToken}`;
  expect((await mailing.server.inject({ url })).json()).toMatchObject({ asked_by: null });
  expect((await mailing.server.inject({ url: `/requests/${urlToken}` })).body).not.toContain(email);
  const answered = await mailing.server.inject({ method: "POST", url, payload: { payload: "hunter2" } });
  expect(answered.statusCode).toBeLessThan(300);
  expect(await domain.mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  expect(sink.messages()).toHaveLength(1);
});

describe("the page of a request", () => {
  test("names the confirmed address of who asks, or says that it is not known", async () => {
    const asked = await ask();
    const page = async (server: TestApp["server"], urlToken: string) =>
      (await server.inject({ url: `/requests/${urlToken}`, headers: { "accept-language": "en" } })).body;
    expect(await page(app.server, asked.url_token)).toContain(`>${email}</bdi> asks you for a secret.`);
    await using open = await startTestApp({ environment: { PWP__REQUESTS__ALLOW_ANONYMOUS: "true" } });
    const request = { title: "x", recipient: key.recipient, encryption_check: key.check, owner_proof: "0".repeat(64) };
    const made = await open.server.inject({ method: "POST", url: path, payload: { request } });
    expect(await page(open.server, made.json().url_token)).toContain(
      "This server does not know who asks you for a secret.",
    );
    const shown = await open.server.inject({ url: `${path}/${made.json().url_token}` });
    expect(shown.json()).toMatchObject({ asked_by: null });
  });
});

test("where requests are switched off, they exist nowhere", async () => {
  await using off = await startTestApp({
    environment: { PWP__REQUESTS__ENABLED: "false", PWP__REQUESTS__ALLOW_ANONYMOUS: "true" },
  });
  const headers = bearer(await off.makeToken(email));
  for (const url of [path, `${path}/x`, `${path}/x/answers`, "/requests", "/requests/new", "/requests/x"]) {
    expect([url, (await off.server.inject({ url, headers })).statusCode]).toEqual([url, 404]);
  }
  const request = { title: "x", recipient: key.recipient, encryption_check: key.check };
  for (const url of [path, `${path}/x`, "/requests", "/requests/x"]) {
    const answer = await off.server.inject({ method: "POST", url, headers, payload: { request } });
    expect([url, answer.statusCode]).toEqual([url, 404]);
  }
  expect((await off.server.inject({ url: "/", headers: { accept: "text/html" } })).body).not.toContain("/requests");
  expect((await off.server.inject({ url: "/api/v2/openapi.json" })).body).not.toContain(path);
});
