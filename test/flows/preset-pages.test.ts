import { describe, expect, test } from "vitest";
import { languages } from "../../src/i18n/i18n.ts";
import { noRules } from "../../src/policies/policies.ts";
import type { Preset, PresetScope } from "../../src/pushes/pushes.ts";
import { rootEmail } from "../support/administrators.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { makeGroup } from "../support/groups.ts";
import { signInClient } from "../support/signed-in-client.ts";

const save = ({ app }: TestApp, scope: PresetScope, name: string, settings: Preset["settings"], isDefault = false) =>
  app.domain.presets.save(scope, { name, settings, isDefault });

async function person(app: TestApp, email = "ada@example.com", admin = email === rootEmail) {
  const client = await signInClient(app, email, { join: true, admin });
  return { ...client, id: (await app.app.domain.accounts.findUserByEmail(email))?.id ?? 0 };
}

const trailOf = async (app: TestApp) =>
  (await app.app.domain.accounts.listAdminEntries(1)).map(({ action, subject }) => `${action} ${subject}`);

/** What the form of a new push shows. */
function shownIn(html: string) {
  const start = html.indexOf('id="push_form"');
  const form = html.slice(start, html.indexOf("</form>", start));
  const selected = (name: string) =>
    /<option[^>]*\bselected[^>]*>/.exec(
      new RegExp(`name="${name.replaceAll(/[[\]]/g, String.raw`\$&`)}".*?</select>`, "s").exec(form)?.[0] ?? "",
    )?.[0];
  const valueIn = (tag: string | undefined) => /\bvalue="([^"]*)"/.exec(tag ?? "")?.[1];
  const views = /<input[^>]*name="push\[expire_after_views\]"[^>]*>/.exec(form)?.[0];
  return {
    preset: valueIn(selected("push[shown_preset]")) ?? "",
    duration: valueIn(selected("push[expire_after_duration]")),
    views: valueIn(views),
    kind: /name="push\[kind\]" value="(\w+)"/.exec(form)?.[1],
  };
}

const short = {
  name: "Short",
  kind: "qr",
  expire_after_minutes: "60",
  expire_after_views: "2",
  retrieval_step: "1",
  fields: "User\n\nPassword:secret\nCode:otp",
};
const stored = {
  ...{ kind: "qr", expireAfterMinutes: 60, expireAfterViews: 2, retrievalStep: true },
  fields: [
    { label: "User", type: "text" },
    { label: "Password", type: "secret" },
    { label: "Code", type: "otp" },
  ],
};

describe("the pages of presets", () => {
  test.each(["own", "instance", "group"] as const)("make, change and delete presets: %s", async (whose) => {
    await using app = await startTestApp();
    const root = await person(app, rootEmail);
    const { id: groupId } = await makeGroup(app, "Helpdesk", []);
    const [path, scope, prefix] = {
      own: ["/users/edit/presets", { userId: root.id }, ""] as const,
      instance: ["/admin/presets", "instance", ""] as const,
      group: [`/admin/groups/${groupId}/presets`, { groupId }, "Helpdesk: "] as const,
    }[whose];
    expect((await root.get(path)).body).toContain("No presets.");
    expect(await root.post(path, { ...short, is_default: "1" })).toMatchObject({ status: 303, location: path });
    const list = () => app.app.domain.presets.list(scope);
    expect(await list()).toMatchObject([{ name: "Short", isDefault: true, settings: stored }]);
    const edited = (await root.get(`${path}?edit=Short`)).body;
    for (const text of ["Change “Short”", "User\nPassword:secret\nCode:otp", 'name="was" value="Short"']) {
      expect(edited).toContain(text);
    }
    expect((await root.get(path)).body).toContain("Expires after: 1 hour; ");
    expect(
      (await root.post(path, { was: "Short", revision: "1", name: "Long", deletable_by_viewer: "0" })).status,
    ).toBe(303);
    expect(await list()).toMatchObject([{ name: "Long", isDefault: false, settings: { deletableByViewer: false } }]);
    expect((await root.post(`${path}/delete`, { name: "Long", revision: "2" })).status).toBe(303);
    expect(await list()).toEqual([]);
    const entries = (await trailOf(app)).filter((entry) => entry.startsWith("changed_presets"));
    if (whose === "own") expect(entries).toEqual([]);
    else {
      const long = "Long; Let the recipient delete it early: Off";
      expect(entries).toHaveLength(3);
      expect(entries[0]).toBe(`changed_presets ${prefix}${long} → -`);
      expect(entries[1]).toContain(` → ${long}`);
      expect(entries[2]).toContain(`changed_presets ${prefix}- → Short; QR code; Expires after: 1 hour; Views: 2; `);
    }
  });

  test("give the form back with what was typed and what is wrong with it", async () => {
    await using app = await startTestApp();
    const ada = await person(app);
    const path = "/users/edit/presets";
    const bad = { name: "x".repeat(65), expire_after_views: "0", fields: "User\nuser" };
    const answer = await ada.post(path, bad);
    expect(answer.status).toBe(422);
    for (const text of [
      "Enter a name of up to 64 characters.",
      "User\nuser",
      "each only once.",
      `value="${bad.name}"`,
      'aria-invalid="true"',
    ]) {
      expect(answer.body).toContain(text);
    }
    await ada.post(path, { name: "Short" });
    expect((await ada.post(path, { name: "Short" })).body).toContain("There is already a preset with this name.");
    const gone = await ada.post(path, { name: "Other", was: "Gone", revision: "1" });
    expect([gone.status, gone.body.includes("has been deleted or renamed meanwhile.")]).toEqual([409, true]);
    // The form makes a new one from now on.
    expect(gone.body).toContain('name="was" value/');
    const trail = await trailOf(app);
    expect(trail).toEqual([]);
  });

  test("the second of two administrators gets the form again, with both values", async () => {
    await using app = await startTestApp();
    const [first, second] = [await person(app, rootEmail), await person(app, "second@example.com", true)];
    const path = "/admin/presets";
    await save(app, "instance", "Short", { expireAfterViews: 5 });
    expect((await second.get(`${path}?edit=Short`)).body).toContain('name="revision" value="1"');
    const change = (root: typeof first, views: string, revision = "1") =>
      root.post(path, { was: "Short", revision, name: "Short", expire_after_views: views });
    expect((await change(first, "3")).status).toBe(303);
    const late = await change(second, "7");
    expect(late.status).toBe(409);
    for (const text of [
      "Someone else changed this preset meanwhile.",
      "Saved meanwhile: Short; Views: 3.",
      'name="revision" value="2"',
    ]) {
      expect(late.body).toContain(text);
    }
    expect(late.body).toMatch(/id="expire_after_views"[^>]* value="7"/);
    const deletion = await second.post(`${path}/delete`, { name: "Short", revision: "1" });
    expect(deletion.status).toBe(409);
    expect(deletion.body).toContain("Saved meanwhile: Short; Views: 3.");
    for (const revision of ["", "x", "1.5", "1e400", "1e30", "9007199254740991", "-1"]) {
      expect([revision, (await second.post(`${path}/delete`, { name: "Short", revision })).status]).toEqual([
        revision,
        409,
      ]);
      expect([revision, (await change(second, "7", revision)).status]).toEqual([revision, 409]);
    }
    const views = async () => (await app.app.domain.presets.list("instance"))[0]?.settings.expireAfterViews;
    expect(await views()).toBe(3);
    expect((await change(second, "7", "2")).status).toBe(303);
    expect(await views()).toBe(7);
    const entries = (await trailOf(app)).filter((entry) => entry.startsWith("changed_presets"));
    expect(entries.map((entry) => entry.match(/\d+/g))).toEqual([
      ["3", "7"],
      ["5", "3"],
    ]);
    const together = await Promise.all([change(first, "8", "3"), change(second, "9", "3")]);
    expect(together.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 409]);
  });

  test("are those of administrators only, except one's own, and of groups that exist", async () => {
    await using app = await startTestApp();
    const ada = await person(app);
    for (const path of ["/admin/presets", "/admin/groups/1/presets"]) {
      expect([(await ada.get(path)).status, (await ada.post(path, short)).status]).toEqual([404, 404]);
    }
    expect(await app.app.domain.presets.list("instance")).toEqual([]);
    const root = await person(app, rootEmail);
    for (const [path, form] of [
      ["/admin/groups/1/presets", short],
      ["/admin/groups/1/presets/delete", { name: "Short" }],
    ] as const) {
      expect((await root.post(path, form)).status).toBe(404);
    }
  });
});

describe("the form of a new push", () => {
  test("starts with the default, and with the preset of ?preset=", async () => {
    await using app = await startTestApp();
    const ada = await person(app);
    const untouched = shownIn((await ada.get("/")).body);
    await save(app, "instance", "Usual", { expireAfterMinutes: 60, expireAfterViews: 3 }, true);
    await save(app, { userId: ada.id }, "Code", { kind: "qr", expireAfterViews: 2 });
    expect(shownIn((await ada.get("/")).body)).toEqual({ preset: "Usual", duration: "3", views: "3", kind: "text" });
    expect(shownIn((await ada.get("/?preset=Code")).body)).toMatchObject({ preset: "Code", views: "2", kind: "qr" });
    expect(shownIn((await ada.get("/?preset=")).body)).toEqual({ ...untouched, preset: "" });
    // Own settings go before the default of the instance, not before one's own default.
    await ada.post("/users/edit/defaults", { first_kind: "text", "text[views]": "7" });
    expect(shownIn((await ada.get("/")).body)).toMatchObject({ preset: "", views: "7" });
    await save(app, { userId: ada.id }, "Mine", { expireAfterViews: 4 }, true);
    expect(shownIn((await ada.get("/")).body)).toMatchObject({ preset: "Mine", views: "4" });
  });

  test("uses another preset without scripts, and keeps what was typed", async () => {
    await using app = await startTestApp();
    const ada = await person(app);
    await save(app, { userId: ada.id }, "Short", { kind: "qr", expireAfterMinutes: 15, expireAfterViews: 2 });
    const typed = { "push[kind]": "text", "push[payload]": "typed text", "push[name]": "typed name" };
    const use = { "push[shown_preset]": "Short", "push[use_preset]": "1", "push[expire_after_views]": "9" };
    const { status, body } = await ada.post("/p", { ...typed, ...use });
    expect(status).toBe(200);
    expect(shownIn(body)).toEqual({ preset: "Short", duration: "0", views: "2", kind: "qr" });
    for (const text of ["typed text", 'value="typed name"']) expect(body).toContain(text);
    // After it is used, what is typed wins, also when the preset is gone.
    await app.app.domain.presets.remove({ userId: ada.id }, { name: "Short", revision: 1 });
    const sent = { ...typed, "push[shown_preset]": "Short", "push[expire_after_views]": "9" };
    expect((await ada.post("/p", sent)).status).toBe(303);
    const { pushes } = await app.app.domain.pushes.search(ada.id, {
      ...{ state: "all", kind: null, text: "", order: "newest", page: 1 },
    });
    expect(pushes).toMatchObject([{ kind: "text", expireAfterViews: 9 }]);
  });

  test.each(languages)("says that a preset is gone, in $locale.tag", async ({ locale, presets }) => {
    await using app = await startTestApp();
    const ada = await person(app);
    const typed = { "push[kind]": "qr", "push[payload]": "typed text", "push[expire_after_views]": "9" };
    const use = { "push[shown_preset]": "Deleted", "push[use_preset]": "1" };
    const { status, body } = await ada.post(`/p?locale=${locale.tag}`, { ...typed, ...use });
    expect([status, shownIn(body)]).toMatchObject([422, { preset: "", views: "9", kind: "qr" }]);
    expect(body).toMatch(new RegExp(`role="alert".*${presets.missing}`));
    expect(body).toContain("typed text");
    // "No preset" changes nothing, and needs no message.
    const none = await ada.post(`/p?locale=${locale.tag}`, { ...typed, ...use, "push[shown_preset]": "" });
    expect([none.status, none.body.includes(presets.missing)]).toEqual([200, false]);
  });

  test("shows what rules leave of a preset, and none to those who have none", async () => {
    await using app = await startTestApp();
    const ada = await person(app);
    expect((await ada.get("/")).body).not.toContain("push_preset");
    await save(app, "instance", "Long", { expireAfterMinutes: 90 * 24 * 60, expireAfterViews: 90 }, true);
    const policy = { ...noRules, maxMinutes: 50, maxViews: 3 };
    await app.app.domain.policies.save("instance", { policy, revision: 0 }, async () => undefined);
    expect(shownIn((await ada.get("/")).body)).toEqual({ preset: "Long", duration: "2", views: "3", kind: "text" });
  });

  test("of a push like another one does not use the default", async () => {
    await using app = await startTestApp();
    const ada = await person(app);
    const { location = "" } = await ada.post("/p", {
      ...{ "push[kind]": "text", "push[payload]": "x", "push[expire_after_views]": "9" },
    });
    const [, token] = /\/p\/(\w+)/.exec(location) ?? [];
    await save(app, { userId: ada.id }, "Short", { expireAfterViews: 2 }, true);
    expect(shownIn((await ada.get(`/p/${token}/another`)).body)).toMatchObject({ preset: "", views: "9" });
  });
});
