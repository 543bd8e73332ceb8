import { describe, expect, test } from "vitest";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { signInClient } from "../support/signed-in-client.ts";

const path = "/admin/rules";
const everything = {
  passphraseRequired: "0",
  passphraseMinLength: "",
  passphraseCommonAllowed: "0",
  maxMinutes: "",
  maxViews: "",
  kind_text: "1",
  kind_file: "1",
  kind_url: "1",
  kind_qr: "1",
  encryptionRequired: "0",
  notifyOnViewRequired: "0",
  requests: "1",
  mailDomains: "",
  revision: "0",
};

const administrator = (fixture: TestApp, email = "admin@example.com") =>
  signInClient(fixture, email, { join: true, admin: true });
const policyOf = async (fixture: TestApp) => (await fixture.server.inject({ url: "/api/sealpush/policy" })).json();

async function create(fixture: TestApp, push: object): Promise<number> {
  return (await fixture.server.inject({ method: "POST", url: "/api/v2/pushes", payload: { push } })).statusCode;
}

test("administrators set the rules of the instance, which hold besides the settings", async () => {
  await using app = await startTestApp({ environment: { PWP__POLICY__MAX_VIEWS: "5" } });
  const admin = await administrator(app);
  await administrator(app, "second@example.com");
  const before = (await admin.get(path)).body;
  expect(before).toContain("The settings already ask for this: 5.");
  expect(before).toContain("People with an account now: 2.");
  const saved = await admin.post(path, {
    ...everything,
    passphraseRequired: "1",
    passphraseMinLength: "8",
    passphraseCommonAllowed: "1",
    maxMinutes: "60",
    maxViews: "9",
    mailDomains: "Example.com, example.org",
    requests: "0",
  });
  expect([saved.status, saved.location]).toEqual([303, `${path}?done=saved`]);
  expect(await policyOf(app)).toMatchObject({
    passphrase: { required: true, min_length: 8, common_allowed: false },
    max_minutes: 60,
    max_views: 5,
    requests: false,
    mail_domains: ["example.com", "example.org"],
    sources: [{ from: "settings" }, { from: "instance" }],
  });
  expect(await create(app, { payload: "x" })).toBe(422);
  expect(await create(app, { payload: "x", passphrase: "long enough words" })).toBe(201);
  const shown = (await admin.get(path)).body;
  expect(shown).toMatch(/id="maxViews"[^>]* value="9"/);
  expect(shown).toContain('value="example.com, example.org"');
});

test("each change is in the administrators' trail, with before and after", async () => {
  await using app = await startTestApp();
  const admin = await administrator(app);
  await admin.post(path, { ...everything, maxViews: "3" });
  await admin.post(path, { ...everything, maxViews: "2", revision: "1" });
  // Without a change there is no entry.
  await admin.post(path, { ...everything, maxViews: "2", revision: "2" });
  const entries = await app.app.domain.accounts.listAdminEntries(1);
  const subjects = entries.filter(({ action }) => action === "changed_rules").map(({ subject }) => subject);
  expect(subjects).toEqual(["maxViews: 3 → 2", "maxViews: null → 3"]);
  const more = { passphraseRequired: "1", passphraseCommonAllowed: "1", mailDomains: "example.com, example.org" };
  await admin.post(path, { ...everything, ...more, revision: "2" });
  const trail = (await admin.get("/admin/trail")).body;
  for (const shown of [
    "Changed the rules: Maximum number of views: 3 → 2<",
    "Every push needs a passphrase: no → yes; Passphrases that are easy to guess are refused: no → yes; ",
    "Maximum number of views: 2 → –; ",
    "separated by commas: – → example.com, example.org<",
  ]) {
    expect(trail).toContain(shown);
  }
});

test("the second of two administrators gets the form again, with both values", async () => {
  await using app = await startTestApp();
  const first = await administrator(app);
  const second = await administrator(app, "second@example.com");
  expect((await first.post(path, { ...everything, maxViews: "3" })).status).toBe(303);
  const late = await second.post(path, { ...everything, maxViews: "7", maxMinutes: "90" });
  expect(late.status).toBe(409);
  expect(late.body).toContain("Someone else changed the rules while you were editing.");
  expect(late.body).toMatch(/id="maxViews"[^>]* value="7"/);
  expect(late.body).toContain("Saved meanwhile: 3.");
  expect(late.body).toContain('name="revision" value="1"');
  expect((await policyOf(app)).max_views).toBe(3);
  expect((await second.post(path, { ...everything, maxViews: "7", revision: "1" })).status).toBe(303);
  expect((await policyOf(app)).max_views).toBe(7);
});

describe("before rules are saved that make something impossible", () => {
  test.each<[string, Record<string, string>, string]>([
    ["every kind", { kind_text: "0", kind_file: "0", kind_url: "0", kind_qr: "0" }, "nobody can create a push"],
    ["some kinds", { encryptionRequired: "1" }, "These kinds can no longer be created: Link, QR code."],
    ["notifications without email", { notifyOnViewRequired: "1" }, "nobody can create a push"],
  ])("the page says so: %s", async (_what, rules, sentence) => {
    await using app = await startTestApp();
    const admin = await administrator(app);
    const warned = await admin.post(path, { ...everything, ...rules });
    expect([warned.status, warned.body.includes(sentence)]).toEqual([422, true]);
    expect(await create(app, { payload: "x" })).toBe(201);
    const confirmed = /name="confirmed" value="([^"]*)"/.exec(warned.body)?.[1] ?? "";
    expect((await admin.post(path, { ...everything, ...rules, confirmed })).status).toBe(303);
    expect(await create(app, { payload: "x" })).toBe(422);
  });
});

test("what is no rule is refused at its field, which keeps what was typed, and nothing is saved", async () => {
  await using app = await startTestApp();
  const admin = await administrator(app);
  for (const [name, bad] of [
    ["maxViews", "0"],
    ["maxMinutes", "1.5"],
    ["maxMinutes", "1e3"],
    ["passphraseMinLength", "65"],
    ["mailDomains", "a b"],
  ] as const) {
    const refused = await admin.post(path, { ...everything, [name]: bad });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatch(new RegExp(`id="${name}"[^>]* value="${bad}"`));
  }
  expect((await policyOf(app)).sources).toEqual([]);
});

test("to others than administrators the page does not exist", async () => {
  await using app = await startTestApp();
  const user = await signInClient(app, "user@example.com", { join: true });
  expect((await user.get(path)).status).toBe(404);
  expect((await user.post(path, { ...everything, maxViews: "1" })).status).toBe(404);
  const token = await app.makeToken("admin@example.com", true);
  const answer = await app.server.inject({ url: path, headers: bearer(token) });
  expect(answer.statusCode).not.toBe(200);
  expect((await policyOf(app)).sources).toEqual([]);
});

test("where somebody changed the row in the database, nothing is created until an administrator saves rules again", async () => {
  await using app = await startTestApp();
  const admin = await administrator(app);
  await admin.post(path, { ...everything, maxViews: "3" });
  const { db, policies } = app.app.domain;
  const made = await app.server.inject({ method: "POST", url: "/api/v2/pushes", payload: { push: { payload: "x" } } });
  await changeRows(db, "UPDATE policies SET rules = ?", JSON.stringify({ maxViews: 100 }));
  policies.forget();
  expect(await policies.read("instance")).toMatchObject({ revision: 0, policy: { maxViews: null } });
  expect(app.logLines.join("")).toContain("policies");
  expect(await create(app, { payload: "x" })).toBe(422);
  expect((await app.server.inject({ url: `/api/v2/pushes/${made.json().url_token}` })).json().payload).toBe("x");
  const warning = "The stored rules were changed outside this server.";
  expect((await admin.get(path)).body).toContain(warning);
  // No rules at all are a decision, too.
  expect((await admin.post(path, everything)).location).toBe(`${path}?done=saved`);
  expect((await admin.get(path)).body).not.toContain(warning);
  expect(await create(app, { payload: "x", expire_after_views: 4 })).toBe(201);
  expect(await readRows(db, "SELECT scope FROM policies")).toHaveLength(1);
});
