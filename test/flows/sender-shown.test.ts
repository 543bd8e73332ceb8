import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { changeUsers } from "../support/access-rows.ts";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { changeRows } from "../support/engine-database.ts";
import { visit } from "../support/form-requests.ts";
import { commonKeys } from "../support/push-answers.ts";
import { signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const eve = "eve@example.com";

let app: TestApp;
let tokens: { readonly ada: string; readonly eve: string };
beforeAll(async () => {
  app = await startTestApp();
  tokens = { ada: await app.makeToken(ada), eve: await app.makeToken(eve) };
});
afterAll(() => app[Symbol.asyncDispose]());

async function create(push: object = {}, token: string | null = tokens.ada) {
  const answer = await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: token === null ? {} : bearer(token),
    payload: { push: { payload: "x", ...push } },
  });
  return { status: answer.statusCode, body: answer.json() };
}

const shown = async (push: object = {}) => String((await create({ sender_shown: true, ...push })).body.url_token);
const get = async (url: string) => (await app.server.inject({ url })).json();
const previewed = (urlToken: string) => get(`/api/v2/pushes/${urlToken}/preview`);
const retrieved = (urlToken: string) => get(`/api/v2/pushes/${urlToken}`);
const step = async (urlToken: string) => (await visit(app, `/p/${urlToken}`)).body;
const userId = async (email: string) => (await app.app.domain.accounts.findUserByEmail(email))?.id ?? 0;

describe("the API", () => {
  test("lists it among the extensions of this server", async () => {
    expect((await get("/api/sealpush")).features).toContain("sender_shown");
  });

  test("answers it to owners; preview and retrieval have the sender", async () => {
    const made = await create({ sender_shown: true });
    expect([made.status, made.body.sender_shown]).toEqual([201, true]);
    const { url_token: urlToken } = made.body;
    const listed = await app.server.inject({ url: "/api/v2/pushes/active", headers: bearer(tokens.ada) });
    expect(listed.json().find((push: { url_token: string }) => push.url_token === urlToken).sender_shown).toBe(true);
    expect((await previewed(urlToken)).sender).toBe(ada);
    const opened = await retrieved(urlToken);
    expect(opened).toMatchObject({ payload: "x", sender: ada });
    expect(opened).not.toHaveProperty("sender_shown");
  });

  test.each([{}, { sender_shown: false }, { sender_shown: null }, { sender_shown: "" }])(
    "%o shows none",
    async (push) => {
      const made = await create(push);
      expect(made.body.sender_shown).toBe(false);
      expect(await previewed(made.body.url_token)).not.toHaveProperty("sender");
      expect(await retrieved(made.body.url_token)).not.toHaveProperty("sender");
    },
  );

  test("the last view has it, also if its answer is sent again; a push that has ended has not", async () => {
    const urlToken = await shown({ expire_after_views: 1 });
    const headers = { "idempotency-key": "0123456789abcdef" };
    for (let times = 0; times < 2; times += 1) {
      const answer = await app.server.inject({ url: `/api/v2/pushes/${urlToken}`, headers });
      expect(answer.json()).toMatchObject({ payload: "x", sender: ada });
    }
    expect(await retrieved(urlToken)).not.toHaveProperty("sender");
    expect(await previewed(urlToken)).not.toHaveProperty("sender");
    expect(await step(urlToken)).not.toContain(ada);
  });

  test("refuses it without a token, and of a user whose address is not confirmed", async () => {
    expect(await create({ sender_shown: true }, null)).toMatchObject({
      status: 422,
      body: { sender_shown: [expect.any(String)] },
    });
    expect((await create({ sender_shown: false }, null)).body).not.toHaveProperty("sender_shown");
    const token = await app.makeToken("new@example.com");
    await changeUsers(app.app.domain, { confirmedAt: null }, "new@example.com");
    expect(await create({ sender_shown: true }, token)).toMatchObject({
      status: 422,
      body: { sender_shown: [expect.any(String)] },
    });
  });

  test("v1 neither takes nor answers it", async () => {
    const answer = await app.server.inject({
      method: "POST",
      url: "/p.json",
      headers: bearer(tokens.ada),
      payload: { password: { payload: "x", sender_shown: true } },
    });
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([201, [...commonKeys, "name", "note"]]);
    expect(await previewed(answer.json().url_token)).not.toHaveProperty("sender");
    const opened = await get(`/p/${await shown()}.json`);
    expect(Object.keys(opened)).toEqual([...commonKeys, "payload", "files"]);
  });
});

describe("anybody who has the link sees", () => {
  test("the address before and after opening, and never in the title", async () => {
    const urlToken = await shown({ retrieval_step: true });
    const before = await step(urlToken);
    expect(before).toContain(`<bdi class="address">${ada}</bdi>`);
    const [head = ""] = before.split("</head>");
    expect(head).not.toContain(ada);
    const after = (await visit(app, `/p/${urlToken}`, {})).body;
    expect(after).toContain(`<bdi>${ada}</bdi>`);
    expect(after.split("</head>")[0]).not.toContain(ada);
    const robot = await app.server.inject({ url: `/p/${urlToken}`, headers: { "user-agent": "Slackbot 1.0" } });
    expect(robot.body).not.toContain(ada);
  });

  test("the current confirmed address, and none while the account is disabled", async () => {
    const token = await app.makeToken("old@example.com");
    const { url_token: urlToken } = (await create({ sender_shown: true }, token)).body;
    const by = { userId: null, email: "shell", address: "" };
    await changeUsers(app.app.domain, { email: "now@example.com" }, "old@example.com");
    expect((await previewed(urlToken)).sender).toBe("now@example.com");
    await app.app.domain.accounts.setDisabled(await userId("now@example.com"), true, by);
    expect(await previewed(urlToken)).not.toHaveProperty("sender");
    expect(await step(urlToken)).not.toContain("now@example.com");
    await app.app.domain.accounts.setDisabled(await userId("now@example.com"), false, by);
    expect((await previewed(urlToken)).sender).toBe("now@example.com");
    await changeUsers(app.app.domain, { confirmedAt: null }, "now@example.com");
    expect(await previewed(urlToken)).not.toHaveProperty("sender");
  });

  test("nobody's address if somebody has given the push another owner in the database", async () => {
    const urlToken = await shown();
    const { db } = app.app.domain;
    await changeRows(db, "UPDATE pushes SET owner_id = ? WHERE owner_id = ?", await userId(eve), await userId(ada));
    expect(await previewed(urlToken)).not.toHaveProperty("sender");
    await changeRows(db, "UPDATE pushes SET owner_id = ? WHERE owner_id = ?", await userId(ada), await userId(eve));
  });
});

describe("the form", () => {
  const box = /id="push_sender_shown"[^>]*?( checked)?(?: aria|>)/;

  test("remembers the choice, which is on at first; without the box it is off", async () => {
    const person = await signInClient(app, "form@example.com", { join: true });
    const isChosen = async () => box.exec((await person.get("/")).body)?.[1] === " checked";
    const sender = async (fields: Readonly<Record<string, string>>) => {
      const { location = "" } = await person.post("/p", { "push[payload]": "x", ...fields });
      return (await previewed(location.split("/")[2] ?? "")).sender;
    };
    expect([await isChosen(), await sender({ "push[sender_shown]": "1" })]).toEqual([true, "form@example.com"]);
    expect([await isChosen(), await sender({ "push[sender_shown]": "0" })]).toEqual([true, undefined]);
    expect([await isChosen(), await sender({})]).toEqual([false, undefined]);
    expect([await sender({ "push[sender_shown]": "1" }), await isChosen()]).toEqual(["form@example.com", true]);
    const sentBack = await person.post("/p", { "push[payload]": "" });
    expect([sentBack.status, box.exec(sentBack.body)?.[1]]).toEqual([422, undefined]);
    const defaults = await person.post("/users/edit/defaults", { first_kind: "text" });
    expect([defaults.status, await isChosen()]).toEqual([303, true]);
  });

  test("of an edit changes it, and needs a confirmed address only to switch it on", async () => {
    const person = await signInClient(app, "edits@example.com", { join: true });
    const { location = "" } = await person.post("/p", { "push[payload]": "x", "push[sender_shown]": "1" });
    const path = location.replace("/preview", "");
    const edit = (value: string) => person.post(`${path}/edit`, { "push[sender_shown]": value });
    const sender = async () => (await previewed(path.slice(3))).sender;
    expect([(await edit("0")).status, await sender()]).toEqual([303, undefined]);
    expect([(await edit("1")).status, await sender()]).toEqual([303, "edits@example.com"]);
    expect((await person.get(`${path}/edit`)).body).toMatch(/id="push_sender_shown"[^>]* checked/);
    await changeUsers(app.app.domain, { confirmedAt: null }, "edits@example.com");
    expect([(await edit("1")).status, (await edit("0")).status, (await edit("1")).status]).toEqual([303, 303, 422]);
  });

  test("is not offered to people without a confirmed address", async () => {
    expect((await visit(app, "/")).body).not.toContain("push_sender_shown");
    const person = await signInClient(app, "open@example.com", { join: true });
    await changeUsers(app.app.domain, { confirmedAt: null }, "open@example.com");
    expect((await person.get("/")).body).not.toContain("push_sender_shown");
  });

  test("keeps it when the session has ended, and drops it when the push is created without the account", async () => {
    const fields = { "push[payload]": "x", "push[sender_shown]": "1", account: String(await userId(ada)) };
    const ended = await visit(app, "/p", fields);
    expect([ended.status, ended.body.includes('type="hidden" name="push[sender_shown]" value="1"')]).toEqual([
      401,
      true,
    ]);
    const without = await visit(app, "/p", { ...fields, without_account: "1" });
    expect(without.status).toBe(303);
  });
});

test("the text of the step names the sender", async () => {
  const [before = ""] = en.step.headingFrom({ sender: "|" }).split("|");
  expect(await step(await shown())).toContain(`<h1>${before}<bdi class="address">`);
});
