import { makeLinkKey } from "@sealpush/age/link-key";
import { openFile, openText } from "@sealpush/age/open";
import { sealFile, sealText } from "@sealpush/age/seal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { signedIn, stranger } from "../support/domain.ts";
import { startMailing } from "../support/mailing.ts";
import { commonKeys } from "../support/push-answers.ts";
import { signInClient } from "../support/signed-in-client.ts";

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("owner@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

const json = { "content-type": "application/json" };
const owner = () => bearer(token);

async function create(push: object, headers: Record<string, string> = {}, url = "/api/v2/pushes") {
  const payload = JSON.stringify({ push });
  return await app.server.inject({ method: "POST", url, headers: { ...json, ...headers }, payload });
}

const get = (url: string, headers = {}) => app.server.inject({ url, headers });

async function problemsOf(push: object, headers = {}): Promise<unknown> {
  const answer = await create(push, headers);
  expect(answer.statusCode, answer.body).toBe(422);
  return answer.json();
}

describe("a sealed text", () => {
  test("is stored as it is, has the key `encryption` in every answer of v2, and opens with the key of its link", async () => {
    const key = await makeLinkKey();
    const sealed = await sealText("the secret", key.recipient, "");
    const created = await create({ payload: sealed, encryption: "age", encryption_check: key.check }, owner());
    expect(created.statusCode, created.body).toBe(201);
    const { url_token: urlToken, ...answer } = created.json();
    expect(answer).toMatchObject({ encryption: "age", kind: "text", passphrase: "" });

    const preview = await get(`/api/v2/pushes/${urlToken}/preview`);
    expect(preview.json()).toEqual({
      url: answer.html_url,
      encryption: "age",
      encryption_check: key.check,
      encryption_passphrase: false,
    });
    expect((await get("/api/v2/pushes/active", owner())).json()[0]).toMatchObject({ encryption: "age" });
    const retrieved = (await get(`/api/v2/pushes/${urlToken}`)).json();
    expect(retrieved).toMatchObject({ encryption: "age", views_remaining: 4 });
    expect(await openText(retrieved.payload, key.identity, "")).toBe("the secret");
  });

  test("costs no view to preview, and the preview says whether a passphrase is needed", async () => {
    const key = await makeLinkKey();
    const payload = await sealText("the secret", key.recipient, "correct horse");
    const { url_token: urlToken } = (await create({ payload, encryption: "age" })).json();
    const preview = (await get(`/api/v2/pushes/${urlToken}/preview`)).json();
    expect(preview).toMatchObject({ encryption: "age", encryption_passphrase: true });
    expect(preview).not.toHaveProperty("encryption_check");
    const retrieved = (await get(`/api/v2/pushes/${urlToken}`)).json();
    expect(retrieved.views_remaining).toBe(4);
    expect(await openText(retrieved.payload, key.identity, "correct horse")).toBe("the secret");
  });

  test("is shown to its owner as protected by a passphrase, and its link as one that asks for a click", async () => {
    const { recipient } = await makeLinkKey();
    const payload = await sealText("the secret", recipient, "correct horse");
    const person = await signInClient(app, "owner@example.com");
    const sealed = { payload, encryption: "age", retrieval_step: false };
    const { url_token: urlToken } = (await create(sealed, owner())).json();
    const setting = (label: string, value: string) => new RegExp(`<dt>${label}</dt><dd[^>]*>(?:<span[^>]*>)?${value}<`);
    const { created, dashboard, edit, step } = en;
    expect((await person.get(`/p/${urlToken}/audit`)).body).toMatch(setting(dashboard.passphrase, dashboard.yes));
    expect((await person.get(`/p/${urlToken}/edit`)).body).toMatch(setting(edit.passphrase, edit.passphraseSet));
    expect((await person.get(`/p/${urlToken}`)).body).toContain(step.leadOwner);
    expect((await get(`/p/${urlToken}`)).body).toContain(step.leadPassphrase);
    const link = (await get(`/p/${urlToken}/preview`)).body;
    expect([link.includes(created.step), link.includes(created.noStep)]).toEqual([true, false]);
  });

  test("may have 1,048,576 characters of four bytes each before it is sealed", async () => {
    const key = await makeLinkKey();
    const longest = "😀".repeat(1_048_576);
    const payload = await sealText(longest, key.recipient, "");
    const { url_token: urlToken } = (await create({ payload, encryption: "age" })).json();
    const retrieved = (await get(`/api/v2/pushes/${urlToken}`)).json();
    expect((await openText(retrieved.payload, key.identity, "")) === longest).toBe(true);
    const tooLong = await sealText(longest.repeat(2), key.recipient, "");
    expect((await create({ payload: tooLong, encryption: "age" })).statusCode).toBe(413);
  });

  test("keeps its marking for v1, which has no key for it", async () => {
    const key = await makeLinkKey();
    const payload = await sealText("the secret", key.recipient, "");
    const { url_token: urlToken } = (await create({ payload, encryption: "age", encryption_check: key.check })).json();
    expect(Object.keys((await get(`/p/${urlToken}/preview.json`)).json())).toEqual(["url"]);
    const v1 = (await get(`/p/${urlToken}.json`)).json();
    expect(Object.keys(v1)).toEqual([...commonKeys, "payload", "files"]);
    expect(await openText(v1.payload, key.identity, "")).toBe("the secret");
  });

  test("is a plain text to v1, which ignores the key as it ignores unknown ones", async () => {
    const body = JSON.stringify({ password: { payload: "plain", encryption: "age", encryption_check: "x" } });
    const answer = await app.server.inject({
      method: "POST",
      url: "/p.json",
      headers: json,
      payload: body,
    });
    expect(answer.statusCode).toBe(201);
    expect((await get(`/api/v2/pushes/${answer.json().url_token}/preview`)).json()).not.toHaveProperty("encryption");
  });
});

test("a plain push has no key about encryption in any answer", async () => {
  const created = (await create({ payload: "plain" })).json();
  const preview = await get(`/api/v2/pushes/${created.url_token}/preview`);
  expect(JSON.stringify([created, preview.json()])).not.toContain("encryption");
});

test("sealed files are stored and given out byte for byte, without a payload too", async () => {
  const key = await makeLinkKey();
  const sealed = await sealFile(new Blob(["file content"]).stream(), key.recipient);
  const data = Buffer.from(await new Response(sealed).arrayBuffer()).toString("base64");
  const push = { kind: "file", files: [{ filename: "1.age", data }], encryption: "age" };
  const { url_token: urlToken } = (await create(push, owner())).json();
  const [file] = (await get(`/api/v2/pushes/${urlToken}`)).json().files;
  const download = await get(new URL(file.url).pathname);
  const opened = await openFile(new Blob([new Uint8Array(download.rawPayload)]).stream(), key.identity);
  expect(await new Response(opened).text()).toBe("file content");
});

describe("refused with the field to correct", () => {
  test("a payload that is not an armored age file, and one for keys that links do not have", async () => {
    const problem = { payload: ["must be an armored age file for an X25519 recipient (age1...) or a passphrase."] };
    expect(await problemsOf({ payload: "plain", encryption: "age" })).toEqual(problem);
    expect(await problemsOf({ encryption: "age" })).toEqual(problem);
  });

  test("a file that was not sealed, with a sealed payload or none, in JSON or a form", async () => {
    const { recipient } = await makeLinkKey();
    const payload = await sealText("x", recipient, "");
    const sealed = Buffer.from(
      await new Response(await sealFile(new Blob(["x"]).stream(), recipient)).arrayBuffer(),
    ).toString("base64");
    const problem = { files: ["must be age files: encryption says that they were sealed before they were sent."] };
    const plain = [Buffer.alloc(0), Buffer.from("short"), Buffer.from("a file that somebody has forgotten to seal")];
    for (const data of plain.map((bytes) => bytes.toString("base64"))) {
      const files = [sealed, data].map((each, at) => ({ filename: `${at}.age`, data: each }));
      expect(await problemsOf({ kind: "file", files, encryption: "age" }, owner())).toEqual(problem);
      expect(await problemsOf({ payload, files, encryption: "age" }, owner())).toEqual(problem);
    }
    const form = new FormData();
    form.append("push[files][]", new Blob(["a file that somebody has forgotten to seal"]), "1.age");
    form.append("push[encryption]", "age");
    const sent = await fetch(`${await app.listen()}/api/v2/pushes`, { method: "POST", headers: owner(), body: form });
    expect([sent.status, await sent.json()]).toEqual([422, problem]);
  });

  test("a passphrase, which the server must not see", async () => {
    const payload = await sealText("x", (await makeLinkKey()).recipient, "");
    expect(await problemsOf({ payload, encryption: "age", passphrase: "open" })).toEqual({
      passphrase: ["must not be sent with encryption: seal the payload under it instead."],
    });
  });

  test("the kinds url and qr, another encryption, and a check of another form", async () => {
    const payload = await sealText("x", (await makeLinkKey()).recipient, "");
    for (const kind of ["url", "qr"]) {
      expect(await problemsOf({ payload, kind, encryption: "age" })).toEqual({
        encryption: ["is only for text and file pushes."],
      });
    }
    expect(await problemsOf({ payload, encryption: "pgp" })).toEqual({ encryption: ["must be one of age."] });
    expect(await problemsOf({ payload, encryption: "age", encryption_check: "AB" })).toEqual({
      encryption_check: ["must be 32 hexadecimal digits in lower case."],
    });
    expect(await problemsOf({ payload: "plain", encryption_check: "0".repeat(32) })).toEqual({
      encryption_check: ["needs encryption."],
    });
  });

  test("mailing the link, when the push is created and afterwards: the server does not have its key", async () => {
    const problem = {
      notify_emails_to: ["must be empty: the server does not have the key in the link of an end-to-end push."],
    };
    const payload = await sealText("x", (await makeLinkKey()).recipient, "");
    const push = { payload, encryption: "age" };
    await using mailing = await startMailing();
    expect(await mailing.create({ ...push, notify_emails_to: "bob@example.com" })).toMatchObject({
      status: 422,
      body: problem,
    });
    const refused = await mailing.notify(await mailing.push(push), { notify_emails_to: "bob@example.com" });
    expect(refused).toMatchObject({ status: 422, body: problem });
  });
});

test("the content of an end-to-end push cannot be changed, its limits and labels can", async () => {
  const { domain } = app.app;
  const payload = await sealText("x", (await makeLinkKey()).recipient, "");
  const { url_token: urlToken } = (await create({ payload, encryption: "age", name: "a" }, owner())).json();
  const actor = signedIn((await domain.pushes.find(urlToken, stranger))?.ownerId ?? 0);
  const refusal = { fields: { payload: [expect.stringContaining("create another push")] } };
  for (const edit of [{ payload: "plain" }, { passphrase: "open" }]) {
    await expect(domain.pushes.edit(urlToken, edit, actor)).rejects.toMatchObject(refusal);
  }
  expect(await domain.pushes.edit(urlToken, { name: "b", expireAfterViews: 9 }, actor)).toMatchObject({
    outcome: "edited",
  });
});
