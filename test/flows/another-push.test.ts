import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";

/** What the form shows; the templates of the other kinds come after it. */
function settingsIn(page: string) {
  const [body = ""] = page.split("<template data-kind");
  const textOf = (id: string) => new RegExp(`<input[^>]*id="${id}"[^>]*value="([^"]*)"`).exec(body)?.[1];
  const isTicked = (id: string) => new RegExp(`<input type="checkbox" id="${id}"[^>]* checked`).test(body);
  const [, select = ""] = body.split('id="push_expire_after_duration"');
  return {
    kind: /name="push\[kind\]" value="(\w+)"/.exec(body)?.[1],
    duration: /<option value(?:="(\d*)")? selected/.exec(select)?.[1] ?? "",
    days: textOf("push_expire_after_days"),
    views: textOf("push_expire_after_views"),
    step: isTicked("push_retrieval_step"),
    deletable: isTicked("push_deletable_by_viewer"),
  };
}

async function create(person: SignedInClient, fields: Readonly<Record<string, string>>): Promise<string> {
  const form = Object.fromEntries(Object.entries(fields).map(([name, value]) => [`push[${name}]`, value]));
  const { location } = await person.post("/p", form);
  return /\/p\/([^/]+)/.exec(location ?? "")?.[1] ?? "";
}

test("an owner starts another push with the settings of one that exists or has ended, and nothing else of it", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const same = {
    payload: "hunter2",
    passphrase: "phrase-of-ada",
    name: "name-of-ada",
    note: "note-of-ada",
    retrieval_step: "0",
    deletable_by_viewer: "1",
    expire_after_views: "9",
  };
  const shown = { kind: "text", views: "9", step: false, deletable: true };
  const short = await create(person, { ...same, expire_after_duration: "0" });
  const days = await create(person, { ...same, expire_after_days: "10" });
  const url = await create(person, {
    ...same,
    kind: "url",
    payload: "https://example.com/x",
    expire_after_duration: "13",
  });
  await person.post(`/p/${url}/expire`, {});

  for (const [token, expected] of [
    [short, { ...shown, duration: "0", days: "1" }],
    [days, { ...shown, duration: "", days: "10" }],
    [url, { ...shown, kind: "url", duration: "13", days: "14" }],
  ] as const) {
    const { status, body } = await person.get(`/p/${token}/another`);
    expect([status, settingsIn(body)]).toEqual([200, expected]);
    for (const text of ["hunter2", "example.com/x", "phrase-of-ada", "name-of-ada", "note-of-ada"])
      expect(body).not.toContain(text);
    expect((await person.get(`/p/${token}/audit`)).body).toContain(`/p/${token}/another`);
  }
  expect((await person.get(`/p/${short}/preview`)).body).toContain(`/p/${short}/another`);
  // Two clicks from the list, also for a push without labels: its audit trail, then this.
  const plain = await create(person, { payload: "x" });
  expect((await person.get("/p")).body).toContain(`href="/p/${plain}/audit"`);
  expect((await person.get(`/p/${plain}/audit`)).body).toContain(`href="/p/${plain}/another"`);
});

test("for everybody else the page does not exist", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const other = await signInClient(fixture, "eve@example.com", { join: true });
  const owned = await create(person, { payload: "x" });
  const payload = { push: { payload: "x" } };
  const anonymous = (await fixture.server.inject({ method: "POST", url: "/api/v2/pushes", payload })).json().url_token;
  for (const token of [owned, anonymous, "unknown"]) {
    expect((await other.get(`/p/${token}/another`)).status).toBe(404);
    expect((await other.get(`/p/${token}/preview`)).body).not.toContain("/another");
  }
  const signedOut = await fixture.server.inject({ url: `/p/${owned}/another` });
  expect([signedOut.statusCode, signedOut.headers.location]).toEqual([303, expect.stringMatching(/^\/users\/sign_in/)]);
});
