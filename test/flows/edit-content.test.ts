import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { startTestApp } from "../support/app.ts";
import { Editing, type Fields, type Files, openEditing, problemsIn } from "../support/editing.ts";
import { changeRows, readRows } from "../support/engine-database.ts";

const { app, editing, ada, eve } = await openEditing();
afterAll(() => app[Symbol.asyncDispose]());

const edit = (urlToken: string, fields: Fields, files: Files = {}) => editing.send(ada, urlToken, fields, files);

describe("content", () => {
  test("is replaced by the rules of its kind", async () => {
    const text = await editing.push(ada, { payload: "x" });
    const url = await editing.push(ada, { kind: "url", payload: "https://example.com/old" });
    expect((await edit(text, { payload: "y" })).status).toBe(303);
    expect((await edit(url, { payload: "https://example.com/new" })).status).toBe(303);
    for (const payload of ["javascript:alert(1)", " https://example.com", "data:text/html,x", "ftp://example.com"]) {
      const answer = await edit(url, { payload });
      expect([payload, answer.status, Object.keys(problemsIn(await answer.text()))]).toEqual([
        payload,
        422,
        ["payload"],
      ]);
    }
    expect(await editing.open(text)).toMatchObject({ payload: "y" });
    expect(await editing.open(url)).toMatchObject({ payload: "https://example.com/new" });
  });

  test("is not replaced by a user to whom the database gives the push, although that user knows the link", async () => {
    const { db } = app.app.domain;
    const [{ id } = {}] = await readRows<{ id?: number }>(db, "SELECT max(id) AS id FROM users");
    for (const victim of [ada, null]) {
      const urlToken = await editing.push(victim, { payload: "x" });
      const [row] = await readRows<{ id: number; owner_id: number | null }>(
        db,
        "SELECT id, owner_id FROM pushes ORDER BY id DESC LIMIT 1",
      );
      if (id === undefined || row === undefined) throw new Error("The user or the push is not there.");
      const salt = Buffer.concat([Uint8Array.of(1), randomBytes(16)]);
      const take = "UPDATE pushes SET owner_id = ?, kind = 2, passphrase_salt = ? WHERE id = ?";
      await changeRows(db, take, id, salt, row.id);
      const forged = { payload: "https://phishing.example", remove_passphrase: "1" };
      expect((await editing.send(eve, urlToken, forged)).status).toBe(404);
      expect((await editing.show(eve, urlToken)).status).toBe(404);
      const restore = "UPDATE pushes SET owner_id = ?, kind = 0, passphrase_salt = NULL WHERE id = ?";
      await changeRows(db, restore, row.owner_id, row.id);
      expect(await editing.open(urlToken)).toMatchObject({ payload: "x" });
    }
  });

  test("of a protected push needs the current passphrase, or new content and passphrase together", async () => {
    const urlToken = await editing.push(ada, { payload: "x", passphrase: "one", expire_after_views: "50" });
    const problem = async (fields: Fields) => problemsIn(await (await edit(urlToken, fields)).text());
    expect(await problem({ payload: "y" })).toEqual({ current_passphrase: en.edit.passphraseNeeded });
    expect(await problem({ remove_passphrase: "1" })).toEqual({ current_passphrase: en.edit.passphraseNeeded });
    expect(await problem({ payload: "y", current_passphrase: "no" })).toEqual({
      current_passphrase: en.edit.wrongPassphrase,
    });
    expect(await problem({ passphrase: "two", remove_passphrase: "1", current_passphrase: "one" })).toEqual({
      passphrase: en.edit.passphraseEither,
    });
    expect((await edit(urlToken, { name: "n", expire_after_views: "60" })).status).toBe(303);
    expect(await editing.open(urlToken, "one")).toMatchObject({ payload: "x" });
    expect((await edit(urlToken, { payload: "y", current_passphrase: "one" })).status).toBe(303);
    expect(await editing.open(urlToken, "one")).toMatchObject({ payload: "y" });
    expect((await edit(urlToken, { payload: "z", passphrase: "two" })).status).toBe(303);
    expect(await editing.open(urlToken, "two")).toMatchObject({ payload: "z" });
    expect((await edit(urlToken, { remove_passphrase: "1", current_passphrase: "two" })).status).toBe(303);
    expect(await editing.open(urlToken)).toMatchObject({ payload: "z" });
    expect((await editing.kindsOf(ada, urlToken)).filter((kind) => kind === "failed_passphrase")).toHaveLength(1);
  });

  test("passphrase guesses are throttled and not logged", async () => {
    const urlToken = await editing.push(ada, { payload: "x", passphrase: "one" });
    for (let at = 0; at < 5; at += 1) {
      expect((await edit(urlToken, { payload: "y", current_passphrase: `guess-at-it-${at}` })).status).toBe(422);
    }
    const answer = await edit(urlToken, { payload: "y", current_passphrase: "one" });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "60"]);
    expect(problemsIn(await answer.text())).toEqual({ current_passphrase: en.problems.tooManyAttempts({ count: 60 }) });
    expect(app.logLines.join("\n")).not.toMatch(/guess-at-it|current_passphrase/);
    expect(app.logLines.join("\n")).not.toContain(urlToken);
  });
});

describe("files", () => {
  test("are added and removed, with and without a message", async () => {
    const urlToken = await editing.push(ada, { payload: "hello", expire_after_views: "50" }, { a: "in a", b: "in b" });
    const { a = "" } = await editing.fileIdsOf(ada, urlToken);
    expect((await edit(urlToken, { remove_files: [a] }, { c: "in c" })).status).toBe(303);
    expect(await editing.filesOf(urlToken)).toEqual({ b: "in b", c: "in c" });
    expect(await editing.open(urlToken)).toMatchObject({ payload: "hello" });
    expect((await edit(urlToken, { remove_message: "1" })).status).toBe(303);
    expect(await editing.open(urlToken)).toMatchObject({ payload: null });
    expect(await editing.filesOf(urlToken)).toEqual({ b: "in b", c: "in c" });
  });

  test("that are removed can no longer be downloaded with older tickets", async () => {
    const urlToken = await editing.push(ada, {}, { a: "in a", b: "in b" });
    const { files = [] } = await editing.open(urlToken);
    const { a = "" } = await editing.fileIdsOf(ada, urlToken);
    expect((await edit(urlToken, { remove_files: [a] })).status).toBe(303);
    const statuses = await Promise.all(files.map(async ({ filename, url }) => [filename, (await fetch(url)).status]));
    expect(Object.fromEntries(statuses)).toEqual({ a: 404, b: 200 });
  });

  test.each<[string, (ids: Record<string, string>) => [Fields, Readonly<Record<string, string>>], number, string]>([
    [
      "the last one removed",
      (ids) => [{ remove_files: Object.values(ids) }, {}],
      422,
      en.edit.filesProblem({ count: 3 }),
    ],
    ["too many in all", () => [{ name: "n" }, { c: "c", d: "d" }], 422, en.edit.filesProblem({ count: 3 })],
    [
      "too many at once",
      (ids) => [{ remove_files: Object.values(ids) }, { c: "c", d: "d", e: "e", f: "f" }],
      422,
      en.edit.filesProblem({ count: 3 }),
    ],
    [
      "too many bytes in all",
      () => [{ name: "n" }, { c: "c".repeat(99_999) }],
      413,
      en.problems.filesTooLarge({ size: "97.7\u00a0kB" }),
    ],
  ])("%s: refused beside the field, and the push is not changed", async (_, make, status, message) => {
    const urlToken = await editing.push(ada, {}, { a: "in a", b: "in b" });
    const answer = await edit(urlToken, ...make(await editing.fileIdsOf(ada, urlToken)));
    expect([answer.status, problemsIn(await answer.text())]).toEqual([status, { files: message }]);
    expect(await editing.filesOf(urlToken)).toEqual({ a: "in a", b: "in b" });
  });

  test("of another push cannot be removed", async () => {
    const mine = await editing.push(eve, {}, { mine: "m", other: "o" });
    const urlToken = await editing.push(ada, {}, { a: "in a", b: "in b" });
    const { a = "" } = await editing.fileIdsOf(ada, urlToken);
    for (const id of [a, "0", "-1", "1e3", "x", "99999999999999999999"]) {
      const answer = await editing.send(eve, mine, { remove_files: [id] });
      expect([id, answer.status]).toEqual([id, 409]);
      expect(await answer.text()).toContain(en.edit.changedHeading);
    }
    expect(await editing.filesOf(urlToken)).toEqual({ a: "in a", b: "in b" });
  });

  test("all of a protected push, its message and its passphrase are replaced together", async () => {
    const urlToken = await editing.push(
      ada,
      { payload: "old", passphrase: "one", expire_after_views: "50" },
      { a: "in a" },
    );
    const ids = Object.values(await editing.fileIdsOf(ada, urlToken));
    const refused = await edit(urlToken, { remove_files: ids }, { b: "in b" });
    expect(problemsIn(await refused.text())).toMatchObject({ current_passphrase: en.edit.passphraseNeededFiles });
    expect((await edit(urlToken, { remove_files: ids, passphrase: "two" }, { b: "in b" })).status).toBe(303);
    expect(await editing.filesOf(urlToken, "two")).toEqual({ b: "in b" });
    expect(await editing.open(urlToken, "two")).toMatchObject({ payload: null });
  });

  test("without file uploads no file can be added, and existing ones can be removed", async () => {
    const urlToken = await editing.push(ada, { name: "files" }, { a: "in a", b: "in b" });
    const { a = "" } = await editing.fileIdsOf(ada, urlToken);
    await using without = await startTestApp({
      dataDir: app.dataDir,
      environment: { PWP__ENABLE_FILE_PUSHES: "false" },
    });
    const there = await Editing.of(without);
    const shown = await (await there.show(ada, urlToken)).text();
    expect(shown).not.toContain('type="file"');
    expect(shown).toContain(en.edit.filesOff);
    const refused = await there.send(ada, urlToken, { name: "kept" }, { c: "in c" });
    const answered = await refused.text();
    expect([refused.status, answered.includes(en.edit.filesOff), answered.includes("kept")]).toEqual([422, true, true]);
    expect((await there.send(ada, urlToken, { remove_files: [a] })).status).toBe(303);
    expect(await editing.filesOf(urlToken)).toEqual({ b: "in b" });
  });
});
