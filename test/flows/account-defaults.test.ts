import { expect, test } from "vitest";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";

async function pushesOf({ app }: TestApp) {
  const user = await app.domain.accounts.findUserByEmail(ada);
  return [...(await app.domain.pushes.list(user?.id ?? 0, "active", 1))];
}

const save = (person: SignedInClient, form: Readonly<Record<string, string>>) =>
  person.post("/users/edit/defaults", form);

test("the form for a new push starts with the account's defaults", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const saved = await save(person, {
    first_kind: "url",
    "url[days]": "3",
    "url[views]": "",
    "url[retrieval_step]": "1",
    "url[deletable_by_viewer]": "0",
  });
  expect(saved).toMatchObject({ status: 303, location: "/users/edit?done=defaults" });
  // The forms of the other kinds follow in templates.
  const [body = ""] = (await person.get("/")).body.split("<template data-kind");
  expect(body).toMatch(/name="push\[kind\]" value="url"/);
  expect(body).toMatch(/name="push\[expire_after_days\]" value="3"/);
  expect(body).toMatch(/name="push\[expire_after_views\]" value="5"/);
  expect(body).toMatch(/type="checkbox"[^>]*name="push\[retrieval_step\]"[^>]*checked/);
  expect(body).not.toMatch(/type="checkbox"[^>]*name="push\[deletable_by_viewer\]"[^>]*checked/);
  expect((await person.get("/?kind=text")).body).toMatch(/name="push\[expire_after_days\]" value="7"/);
  const stranger = await fixture.server.inject({ url: "/" });
  expect(stranger.body).toMatch(/name="push\[kind\]" value="text"/);
});

test("fields missing from a form get the account's defaults; given ones are used", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  await save(person, { "text[days]": "3", "text[views]": "9", "text[retrieval_step]": "1" });
  await person.post("/p", { "push[payload]": "secret" });
  await person.post("/p", { "push[payload]": "secret", "push[expire_after_days]": "2", "push[retrieval_step]": "0" });
  expect(await pushesOf(fixture)).toMatchObject([
    { expireAfterDays: 2, expireAfterViews: 9, retrievalStep: false },
    { expireAfterDays: 3, expireAfterViews: 9, retrievalStep: true },
  ]);
});

test("pushes created with an API token get the instance's defaults", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  await save(person, { "text[days]": "3", "text[views]": "9" });
  const user = await fixture.app.domain.accounts.findUserByEmail(ada);
  const { token } = await fixture.app.domain.accounts.createToken(user?.id ?? 0, "script");
  const answer = await fixture.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    payload: { push: { payload: "secret" } },
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.json()).toMatchObject({ expire_after_days: 7, expire_after_views: 5 });
});

test("defaults beyond the limits of the kind show an error beside their field and keep what was typed", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  for (const days of ["0", "91", "-1", "1.5", "1e1", "x", "99999999999"]) {
    const answer = await save(person, { "text[days]": days, "qr[views]": "4" });
    expect([days, answer.status]).toEqual([days, 422]);
    expect(answer.body).toContain("Enter a whole number from 1 to 90.");
    expect(answer.body).toMatch(new RegExp(`id="text_days"[^>]*value="${days}"`));
    expect(answer.body).toMatch(/id="qr_views"[^>]*value="4"/);
  }
  expect((await save(person, { first_kind: "carrier pigeon" })).status).toBe(422);
  expect((await save(person, { "text[retrieval_step]": "maybe" })).status).toBe(422);
  expect((await person.get("/")).body).toMatch(/name="push\[expire_after_days\]" value="7"/);
});

test("defaults that the settings no longer allow are ignored", async () => {
  const before = await startTestApp();
  const first = await signInClient(before, ada, { join: true });
  await save(first, { first_kind: "url", "text[days]": "30", "text[views]": "50" });
  await before.app.close();
  await using fixture = await startTestApp({
    dataDir: before.dataDir,
    clock: before.clock,
    environment: { PWP__PW__EXPIRE_AFTER_DAYS_MAX: "10", PWP__ENABLE_URL_PUSHES: "false" },
  });
  const person = await signInClient(fixture, ada);
  const { body } = await person.get("/");
  expect(body).toMatch(/name="push\[kind\]" value="text"/);
  expect(body).toMatch(/name="push\[expire_after_days\]" value="7"/);
  expect(body).toMatch(/name="push\[expire_after_views\]" value="50"/);
  await save(person, { "text[views]": "4" });
  const { accounts } = fixture.app.domain;
  const { id = 0 } = (await accounts.findUserByEmail(ada)) ?? {};
  expect(await accounts.pushDefaults(id)).toMatchObject({ kinds: { text: { expireAfterViews: 4 } } });
});

test("pages use the account's language on every device, unless the URL names another", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const japanese = { "accept-language": "ja" };
  expect((await person.get("/users/edit", japanese)).body).toContain('<html lang="ja"');
  expect(await person.post("/users/edit/language?locale=es", { language: "de" })).toMatchObject({
    location: "/users/edit?done=language",
  });
  expect((await person.get("/users/edit", japanese)).body).toContain('<html lang="de"');
  expect((await person.get("/users/edit?locale=es", japanese)).body).toContain('<html lang="es"');
  expect((await person.post("/users/edit/language", { language: "../../etc" })).status).toBe(422);
  await person.post("/users/edit/language", { language: "" });
  expect((await person.get("/users/edit", japanese)).body).toContain('<html lang="ja"');
});

test("a password that is common, too short or derived from the email address is refused, and the page does not repeat it", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  for (const bad of ["short", "passwordpassword", "ada@example.com", "abcdefghijklmnop", "aaaaaaaaaaaaaaaa"]) {
    const answer = await person.post("/users/edit/password", { current_password: password, password: bad });
    expect([bad, answer.status]).toEqual([bad, 422]);
    const fields = answer.body.match(/<input[^>]*type="password"[^>]*>/g) ?? [];
    expect(fields.filter((field) => field.includes("value="))).toEqual([]);
  }
  const wrong = await person.post("/users/edit/password", { current_password: "no", password: "marble-otter-lantern" });
  expect(wrong.body).toContain("The password is not correct.");
  await signInClient(fixture, ada);
});
