import { describe, expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { AccessKeys } from "../../src/crypto/access-keys.ts";
import { noRules } from "../../src/policies/policies.ts";
import type { Preset, PresetScope } from "../../src/pushes/pushes.ts";
import { createPresetStore, renewPresets } from "../../src/pushes/store/presets.ts";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { openTestDomain } from "../support/domain.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { makeGroup } from "../support/groups.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { signInClient } from "../support/signed-in-client.ts";

const save = (
  { app }: TestApp,
  scope: PresetScope,
  name: string,
  settings: Preset["settings"] = {},
  {
    isDefault = false,
    was,
    revision = 1,
  }: { readonly isDefault?: boolean; readonly was?: string; readonly revision?: number } = {},
) => {
  const before = was === undefined ? undefined : { name: was, revision };
  return app.domain.presets.save(scope, { name, settings, isDefault, was: before });
};

async function user(app: TestApp, email = "ada@example.com") {
  const headers = bearer(await app.makeToken(email));
  const id = (await app.app.domain.accounts.findUserByEmail(email))?.id ?? 0;
  const create = (push: object, key?: string) =>
    app.server.inject({
      method: "POST",
      url: "/api/v2/pushes",
      headers: { ...headers, ...(key !== undefined && { "idempotency-key": key }) },
      payload: { push: { payload: "x", ...push } },
    });
  const list = async () => (await app.server.inject({ url: "/api/sealpush/presets", headers })).json().presets;
  return { id, create, list };
}

const setViews = async (app: TestApp, maxViews: number) => {
  const { policies } = app.app.domain;
  const { revision } = await policies.read("instance");
  await policies.save(
    "instance",
    { policy: { ...noRules, maxViews, maxMinutes: 30 }, revision },
    async () => undefined,
  );
};

describe("presets of the API", () => {
  test("say what a request leaves open, and what it names wins", async () => {
    await using app = await startTestApp();
    const ada = await user(app);
    const settings = { expireAfterMinutes: 60, expireAfterViews: 2, retrievalStep: true, kind: "qr" } as const;
    await save(app, { userId: ada.id }, "Short", settings);
    const made = (await ada.create({ preset: "Short" })).json();
    expect(made).toMatchObject({ kind: "qr", expire_after_views: 2, retrieval_step: true, deletable_by_viewer: true });
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(60 * minuteMs);
    const named = { kind: "text", expire_after_days: 3, expire_after_views: 9, retrieval_step: false };
    expect((await ada.create({ preset: "Short", ...named })).json()).toMatchObject(named);
    expect((await ada.create({ preset: "" })).json()).toMatchObject({ kind: "text", expire_after_views: 5 });
    expect((await app.server.inject({ url: "/api/sealpush" })).json().features).toContain("preset");
  });

  test("are one's own before those of the groups and of the instance; an unknown one is 422 with the names", async () => {
    await using app = await startTestApp();
    const [ada, bob] = [await user(app), await user(app, "bob@example.com")];
    const { id: groupId } = await makeGroup(app, "Helpdesk", [ada.id]);
    await save(app, "instance", "Usual", { expireAfterViews: 9 }, { isDefault: true });
    await save(app, "instance", "Everybody's", { fields: [{ label: "User", type: "text" }] });
    await save(app, { groupId }, "Usual", { expireAfterViews: 8 });
    expect(await ada.list()).toEqual([
      { name: "Usual", from: "group", group: "Helpdesk", default: false, expire_after_views: 8 },
      {
        ...{ name: "Everybody's", from: "instance", group: null, default: false },
        fields: [{ label: "User", type: "text" }],
      },
    ]);
    await save(app, { userId: ada.id }, "Usual", { expireAfterViews: 7 });
    const viewsOf = async (who: typeof ada) => (await who.create({ preset: "Usual" })).json().expire_after_views;
    expect([await viewsOf(ada), await viewsOf(bob)]).toEqual([7, 9]);
    const unknown = await ada.create({ preset: "Other" });
    expect([unknown.statusCode, unknown.json()]).toEqual([
      422,
      { preset: ['is unknown. There are "Usual", "Everybody\'s".'] },
    ]);
    const anonymous = { method: "POST", url: "/api/v2/pushes", payload: { push: { payload: "x", preset: "Usual" } } };
    expect((await app.server.inject(anonymous as never)).json().expire_after_views).toBe(9);
    const v1 = { ...anonymous, url: "/p.json", payload: { password: { payload: "x", preset: "Other" } } };
    expect((await app.server.inject(v1 as never)).statusCode).toBe(201);
  });

  test("never loosen a rule: they are shortened, and what cannot be is refused", async () => {
    await using app = await startTestApp();
    const ada = await user(app);
    await save(app, "instance", "Long", { expireAfterMinutes: 90 * 24 * 60, expireAfterViews: 100 });
    await save(app, "instance", "Shown", { senderShown: true });
    await setViews(app, 3);
    const made = (await ada.create({ preset: "Long" })).json();
    expect([made.expire_after_views, Date.parse(made.expires_at) - Date.parse(made.created_at)]).toEqual([
      3,
      30 * minuteMs,
    ]);
    expect((await ada.create({ preset: "Long", expire_after_views: 4 })).json()).toHaveProperty("expire_after_views");
    expect((await ada.create({ preset: "Shown" })).json()).toHaveProperty("sender_shown");
  });

  test("are shortened to what the kind of the push allows, which files decide", async () => {
    await using app = await startTestApp({
      environment: {
        ...{ PWP__FILES__EXPIRE_AFTER_DAYS_DEFAULT: "2", PWP__FILES__EXPIRE_AFTER_DAYS_MAX: "3" },
        ...{ PWP__FILES__EXPIRE_AFTER_VIEWS_DEFAULT: "3", PWP__FILES__EXPIRE_AFTER_VIEWS_MAX: "4" },
      },
    });
    const ada = await user(app);
    await save(app, "instance", "Long", { expireAfterMinutes: 30 * 24 * 60, expireAfterViews: 50 });
    const files = [{ filename: "a.txt", data: "aGk=" }];
    const made = (preset: object) => ada.create({ preset: "Long", ...preset });
    const ofFile = { kind: "file", expire_after_days: 3, expire_after_views: 4 };
    expect((await made({ files })).json()).toMatchObject(ofFile);
    const ofText = { kind: "text", expire_after_days: 30, expire_after_views: 50 };
    expect((await made({ files, kind: "text" })).json()).toMatchObject(ofText);
  });

  test("that switch the notification of views off do not switch off a rule that requires it", async () => {
    const rule = { PWP__POLICY__NOTIFY_ON_VIEW_REQUIRED: "true" };
    await using app = await startTestApp({ environment: { ...(await startMailSink()).environment, ...rule } });
    const ada = await user(app);
    await save(app, "instance", "Quiet", { notifyOnView: false });
    expect((await ada.create({ preset: "Quiet" })).statusCode).toBe(201);
    expect(await readRows(app.app.domain.db, "SELECT notify_on_view FROM pushes")).toEqual([{ notify_on_view: 1 }]);
    const browser = await signInClient(app, "ada@example.com");
    expect((await browser.get("/?preset=Quiet")).body).toMatch(
      /<input[^>]*name="push\[notify_on_view\]"[^>]*\bchecked/,
    );
  });

  test("a repeat with its key gets the same answer, although preset and rules have changed or are gone", async () => {
    await using app = await startTestApp();
    const ada = await user(app);
    const scope = { userId: ada.id };
    await save(app, scope, "Short", { expireAfterMinutes: 60, expireAfterViews: 2, kind: "qr", retrievalStep: true });
    const key = "a-random-key-of-the-client";
    const first = await ada.create({ preset: "Short" }, key);
    expect(first.statusCode).toBe(201);
    await save(app, scope, "Short", { expireAfterMinutes: 15, kind: "file" }, { was: "Short" });
    await setViews(app, 1);
    expect((await ada.create({ preset: "Short" }, key)).json()).toEqual(first.json());
    await app.app.domain.presets.remove(scope, { name: "Short", revision: 2 });
    expect((await ada.create({ preset: "Short" }, key)).json()).toEqual(first.json());
    expect((await ada.create({ preset: "Short" }, `${key}-2`)).json()).toHaveProperty("preset");
  });

  test("a repeat that names another preset, or none, is refused", async () => {
    await using app = await startTestApp();
    const ada = await user(app);
    const scope = { userId: ada.id };
    const settings = { expireAfterMinutes: 60, expireAfterViews: 2 };
    for (const name of ["Short", "Brief"]) await save(app, scope, name, settings);
    const key = "a-random-key-of-the-client";
    expect((await ada.create({ preset: "Short" }, key)).statusCode).toBe(201);
    for (const preset of ["Brief", "Unknown", ""]) {
      const repeat = await ada.create({ preset }, key);
      expect([preset, repeat.statusCode, Object.keys(repeat.json())]).toEqual([preset, 422, ["idempotency_key"]]);
    }
  });

  test("a preset that is deleted meanwhile: each push is made or refused", async () => {
    await using app = await startTestApp();
    const ada = await user(app);
    await save(app, "instance", "Short", { expireAfterViews: 2 });
    const create = () => ada.create({ preset: "Short" });
    const [removed, ...answers] = await Promise.all([
      app.app.domain.presets.remove("instance", { name: "Short", revision: 1 }),
      ...Array.from({ length: 10 }, create),
    ]);
    expect(removed).toBe(true);
    for (const answer of [...answers, await create()]) {
      if (answer.statusCode === 201) expect(answer.json().expire_after_views).toBe(2);
      else
        expect([answer.statusCode, answer.json()]).toEqual([422, { preset: ["is unknown. There is none for you."] }]);
    }
  });
});

test("another process knows a change at once", async () => {
  await using app = await startTestApp();
  await using other = await openTestDomain({ dataDir: app.dataDir });
  await save(app, "instance", "Short");
  expect(await other.domain.presets.of(null)).toMatchObject([{ name: "Short" }]);
});

test("of a scope one is the default; names are unique, and at most 50", async () => {
  await using app = await startTestApp();
  const names = async () =>
    (await app.app.domain.presets.list("instance")).map(({ name, isDefault }) => [name, isDefault]);
  expect(await save(app, "instance", "A", {}, { isDefault: true })).toBe("saved");
  expect(await save(app, "instance", "B", {}, { isDefault: true })).toBe("saved");
  expect(await save(app, "instance", "A")).toBe("taken");
  expect(await save(app, "instance", "A", {}, { was: "B" })).toBe("taken");
  expect(await save(app, "instance", "C", {}, { was: "gone" })).toBe("gone");
  expect(await save(app, { groupId: 5 }, "C")).toBe("gone");
  // B has taken the default from it, which is a change, too.
  expect(await save(app, "instance", "C", {}, { was: "A" })).toBe("changed_meanwhile");
  expect(await save(app, "instance", "C", {}, { was: "A", revision: 2 })).toBe("saved");
  expect(await names()).toEqual([
    ["B", true],
    ["C", false],
  ]);
  for (let at = 0; at < 48; at += 1) await save(app, "instance", `n${at}`);
  expect(await save(app, "instance", "one more")).toBe("too_many");
});

test("they end with their account or group, and a person's own are in the data export", async () => {
  await using app = await startTestApp();
  const ada = await signInClient(app, "ada@example.com", { join: true });
  const { accounts, deleteAccount, groups, db } = app.app.domain;
  const { id = 0 } = (await accounts.findUserByEmail("ada@example.com")) ?? {};
  const { id: groupId } = await makeGroup(app, "Helpdesk", [id]);
  await save(app, { userId: id }, "Own", { expireAfterViews: 2, notifyOnView: true });
  await save(app, { groupId }, "Group's");
  const { presets } = JSON.parse((await ada.get("/users/edit/data")).body);
  expect(presets).toEqual([{ name: "Own", default: false, expire_after_views: 2, notify_on_view: true }]);
  expect(await deleteAccount(id, null)).toMatchObject({ outcome: "done" });
  expect(await readRows(db, "SELECT name FROM presets")).toEqual([{ name: "Group's" }]);
  await groups.remove(groupId, async () => undefined);
  expect(await readRows(db, "SELECT name FROM presets")).toEqual([]);
});

test("a row that somebody writes into the database counts as absent, also after the access secret is replaced", async () => {
  await using app = await startTestApp();
  const ada = await user(app);
  await save(app, "instance", "Short", { expireAfterViews: 2 });
  await save(app, "instance", "True");
  const { db, vault } = app.app.domain;
  await changeRows(db, `UPDATE presets SET settings = '{"expireAfterViews":100}' WHERE name = ?`, "Short");
  expect((await ada.create({ preset: "Short" })).json()).toEqual({ preset: ['is unknown. There are "True".'] });
  expect(app.logLines.join("")).toContain("presets");
  const fresh = new AccessKeys(Buffer.alloc(32, 9), () => undefined);
  await db.writeSerialized("accounts", (tx) => renewPresets(tx, vault.access, fresh));
  expect(await createPresetStore(db, fresh).list("instance")).toMatchObject([{ name: "True" }]);
});

test("a membership that somebody writes into the database gives no presets of the group", async () => {
  await using app = await startTestApp();
  const ada = await user(app);
  const { id: groupId } = await makeGroup(app, "Helpdesk", []);
  await save(app, { groupId }, "Group's");
  await changeRows(
    app.app.domain.db,
    "INSERT INTO group_members (user_id, group_id, by_claim, added_at) SELECT ?, id, 0, 0 FROM user_groups",
    ada.id,
  );
  expect(await ada.list()).toEqual([]);
});
