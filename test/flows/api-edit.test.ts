import { readdirSync } from "node:fs";
import { join } from "node:path";
import { makeLinkKey } from "@sealpush/age/link-key";
import { sealText } from "@sealpush/age/seal";
import { afterAll, describe, expect, test } from "vitest";
import { type Fields, type Files, openEditing, type Person } from "../support/editing.ts";
import { countRows } from "../support/engine-database.ts";
import { pushForm } from "../support/owner-requests.ts";
import { makeSweeper } from "../support/sweeper.ts";

const { app, editing, ada, eve } = await openEditing();
afterAll(() => app[Symbol.asyncDispose]());

interface Sent {
  readonly status: number;
  readonly answer: Readonly<Record<string, unknown>>;
}

async function send(who: Person | null, urlToken: string, body: string | FormData, type?: string): Promise<Sent> {
  const headers = {
    ...(type !== undefined && { "content-type": type }),
    ...(who !== null && { authorization: `Bearer ${who.token}` }),
  };
  const answer = await fetch(`${editing.origin}/api/sealpush/pushes/${urlToken}`, { method: "PATCH", body, headers });
  return { status: answer.status, answer: await answer.json() };
}

const edit = (urlToken: string, push: object, who: Person | null = ada) =>
  send(who, urlToken, JSON.stringify({ push }), "application/json");
const editByForm = (urlToken: string, fields: Fields, files: Files = {}) =>
  send(ada, urlToken, pushForm(fields, files));

async function labelsOf(urlToken: string) {
  const headers = { authorization: `Bearer ${ada.token}` };
  const answer = await fetch(`${editing.origin}/api/v2/pushes/active`, { headers });
  const pushes = (await answer.json()) as readonly { url_token: string; name: string; note: string }[];
  const found = pushes.find((push) => push.url_token === urlToken);
  return { name: found?.name, note: found?.note };
}

/** The rows of files, and the names in the store when everything unwanted was deleted. */
async function storedFiles(): Promise<readonly (number | string)[]> {
  const { clock, dataDir } = app;
  const { domain } = app.app;
  await makeSweeper({ domain, clock }).sweep();
  const entries = readdirSync(join(dataDir, "blobs"), { recursive: true, withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return [await countRows(domain.db, "files"), ...names.sort()];
}

test("changes what is sent, and leaves the rest as it was", async () => {
  const urlToken = await editing.push(ada, { payload: "old", name: "a", note: "b", expire_after_views: "5" });
  expect(await editing.open(urlToken)).toMatchObject({ payload: "old", views_remaining: 4 });
  const edited = await edit(urlToken, { payload: "new", name: "c", expire_after_views: 3, retrieval_step: true });
  expect(edited).toMatchObject({
    status: 200,
    answer: {
      url_token: urlToken,
      expire_after_views: 3,
      views_remaining: 2,
      retrieval_step: true,
    },
  });
  // A token with this scope alone reads nothing.
  for (const key of ["payload", "name", "note"]) expect(edited.answer).not.toHaveProperty(key);
  expect(await labelsOf(urlToken)).toEqual({ name: "c", note: "b" });
  expect(await editing.open(urlToken)).toMatchObject({ payload: "new", views_remaining: 1 });
  expect(await editing.kindsOf(ada, urlToken)).toEqual(["creation", "view", "edit", "view"]);
  expect(app.logLines.join("\n")).not.toContain(urlToken);
});

test("null counts as not sent, and an empty name removes it", async () => {
  const urlToken = await editing.push(ada, { payload: "x", name: "a", note: "b", passphrase: "one" });
  const nothing = { payload: null, fields: null, passphrase: null, files: null, remove_files: null, note: null };
  expect((await edit(urlToken, { ...nothing, name: "" })).status).toBe(200);
  expect(await labelsOf(urlToken)).toEqual({ name: "", note: "b" });
  expect(await editing.open(urlToken, "one")).toMatchObject({ payload: "x" });
});

test("fields take the place of a text, and a text the place of fields", async () => {
  const urlToken = await editing.push(ada, { payload: "x", expire_after_views: "10" });
  const fields = [
    { label: "User", value: "ada" },
    { label: "Password", value: "hunter2", type: "secret" },
  ];
  expect((await edit(urlToken, { fields })).status).toBe(200);
  expect(await editing.open(urlToken)).toMatchObject({
    payload: "User: ada\nPassword: hunter2",
    fields: [{ ...fields[0], type: "text" }, fields[1]],
  });
  expect(await edit(urlToken, { fields: [fields[0], fields[0]] })).toEqual({
    status: 422,
    answer: { fields: ["2: the label is used twice."] },
  });
  expect(await edit(urlToken, { fields, payload: "y" })).toMatchObject({
    status: 422,
    answer: { fields: [expect.any(String)] },
  });
  expect((await edit(urlToken, { payload: "z" })).status).toBe(200);
  const opened = await editing.open(urlToken);
  expect(opened).toMatchObject({ payload: "z" });
  expect(opened).not.toHaveProperty("fields");
});

describe("a passphrase", () => {
  test("is set, changed and removed", async () => {
    const urlToken = await editing.push(ada, { payload: "x", expire_after_views: "10" });
    expect((await edit(urlToken, { passphrase: "one" })).status).toBe(200);
    expect(await editing.open(urlToken, "one")).toMatchObject({ payload: "x" });
    expect(await edit(urlToken, { passphrase: "two" })).toEqual({
      status: 422,
      answer: { current_passphrase: ["is needed, because part of the content stays."] },
    });
    expect(await edit(urlToken, { passphrase: "two", current_passphrase: "guess" })).toEqual({
      status: 422,
      answer: { current_passphrase: ["is not the passphrase of this push."] },
    });
    expect((await edit(urlToken, { passphrase: "two", current_passphrase: "one" })).status).toBe(200);
    expect((await edit(urlToken, { passphrase: "three", payload: "y" })).status).toBe(200);
    expect(await editing.open(urlToken, "three")).toMatchObject({ payload: "y" });
    expect((await edit(urlToken, { passphrase: "four", remove_passphrase: true })).answer).toEqual({
      passphrase: ["must not be sent with remove_passphrase."],
    });
    expect((await edit(urlToken, { remove_passphrase: true, current_passphrase: "three" })).status).toBe(200);
    expect(await editing.open(urlToken)).toMatchObject({ payload: "y" });
  });

  test("cannot be guessed without limit", async () => {
    const urlToken = await editing.push(ada, { payload: "x", passphrase: "one" });
    const guess = () => edit(urlToken, { payload: "y", current_passphrase: "guess" });
    for (let at = 0; at < 5; at += 1) expect((await guess()).status).toBe(422);
    expect(await guess()).toEqual({
      status: 429,
      answer: { error: "Too many passphrases were tried. Try again later." },
    });
  });
});

describe("files", () => {
  test("are added by a form or as base64, and removed by their names", async () => {
    const urlToken = await editing.push(ada, { expire_after_views: "50" }, { a: "in a", b: "in b" });
    expect((await editByForm(urlToken, { remove_files: '[{"filename": "a"}]' }, { c: "in c" })).status).toBe(200);
    expect(await editing.filesOf(urlToken)).toEqual({ b: "in b", c: "in c" });
    const files = [{ filename: "d", data: btoa("in d") }];
    expect((await edit(urlToken, { files, remove_files: [{ filename: "b" }, { filename: "c" }] })).status).toBe(200);
    expect(await editing.filesOf(urlToken)).toEqual({ d: "in d" });
  });

  test("that have one name are removed together", async () => {
    const urlToken = await editing.push(ada, {}, { a: "in a" });
    const files = ["one", "two"].map((content) => ({ filename: "same", data: btoa(content) }));
    expect((await edit(urlToken, { files })).status).toBe(200);
    expect((await edit(urlToken, { remove_files: [{ filename: "same" }] })).status).toBe(200);
    expect(await editing.filesOf(urlToken)).toEqual({ a: "in a" });
  });

  test.each<[string, object, Readonly<Record<string, string>>]>([
    [
      "an unknown name",
      { remove_files: [{ filename: "z" }] },
      { remove_files: "must be names of files of this push." },
    ],
    ["the last one", { remove_files: [{ filename: "a" }] }, { files: "A file push needs at least one file." }],
    ["no list", { remove_files: "a" }, { remove_files: "must be a list of objects with filename." }],
    ["no name", { remove_files: [{}] }, { remove_files: "1: filename is missing." }],
  ])("%s to remove: refused, and an added file does not stay", async (_, fields, problems) => {
    const urlToken = await editing.push(ada, { expire_after_views: "50" }, { a: "in a" });
    const before = await storedFiles();
    const files = "files" in problems ? [] : [{ filename: "new", data: btoa("new") }];
    const answer = Object.fromEntries(Object.entries(problems).map(([name, problem]) => [name, [problem]]));
    expect(await edit(urlToken, { ...fields, files })).toEqual({ status: 422, answer });
    expect(await storedFiles()).toEqual(before);
  });
});

test("what no edit can change is refused by its name, so that nobody takes it for changed", async () => {
  const urlToken = await editing.push(ada, { payload: "x" });
  const fixed = {
    kind: "url",
    encryption: "age",
    encryption_check: "0".repeat(32),
    expires_at: "2099-12-01T17:00:00Z",
    expire_after_duration: 3,
    preset: "a preset",
    notify_emails_to: "bob@example.com",
    notify_emails_to_locale: "de",
  };
  const problem = ["cannot be changed after the creation."];
  expect(await edit(urlToken, { ...fixed, payload: "y" })).toEqual({
    status: 422,
    answer: Object.fromEntries(Object.keys(fixed).map((name) => [name, problem])),
  });
  expect(await editing.open(urlToken)).toMatchObject({ payload: "x" });
});

test("limits hold: a view must remain, and the time must not be over", async () => {
  const urlToken = await editing.push(ada, { payload: "x", expire_after_views: "5", expire_after_days: "9" });
  await editing.open(urlToken);
  expect(await edit(urlToken, { expire_after_views: 1, expire_after_days: 0 })).toEqual({
    status: 422,
    answer: {
      expire_after_views: ["must be between 2 and 100."],
      expire_after_days: ["must be between 1 and 90."],
    },
  });
});

test("only the owner changes a push; for others it is not there", async () => {
  const urlToken = await editing.push(ada, { payload: "x" });
  const anonymous = await editing.push(null, { payload: "x" });
  const ended = await editing.push(ada, { payload: "x", expire_after_views: "1" });
  await editing.open(ended);
  const change = { payload: "y", remove_files: [{ filename: "a" }] };
  const statusOf = async (of: string, who: Person | null) => (await edit(of, change, who)).status;
  expect(await statusOf(urlToken, eve)).toBe(404);
  expect(await statusOf(anonymous, ada)).toBe(404);
  expect(await statusOf("unknown", ada)).toBe(404);
  expect(await statusOf(urlToken, null)).toBe(401);
  expect(await edit(ended, change)).toEqual({ status: 410, answer: { error: "The push has ended." } });
  expect(await editing.open(urlToken)).toMatchObject({ payload: "x" });
});

test("a body without changes, without the object or without JSON is clear about it", async () => {
  const urlToken = await editing.push(ada, { payload: "x" });
  expect((await edit(urlToken, {})).status).toBe(200);
  const bare = await send(ada, urlToken, '{"payload": "y"}', "application/json");
  expect(bare).toEqual({ status: 400, answer: { error: 'The body must have an object named "push".' } });
  expect((await send(ada, urlToken, "{", "application/json")).status).toBe(400);
  expect((await send(ada, urlToken, "x", "text/plain")).status).toBe(415);
  expect(await editing.open(urlToken)).toMatchObject({ payload: "x" });
});

test("of two changes of the content at the same moment one is written, and the other changes nothing", async () => {
  const urlToken = await editing.push(ada, { payload: "x", expire_after_views: "50" });
  const answers = await Promise.all(["a", "b", "c", "d"].map((payload) => edit(urlToken, { payload })));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
  expect(statuses).toContain(200);
  const { payload } = await editing.open(urlToken);
  const written = ["a", "b", "c", "d"].filter((_, at) => statuses[at] === 200);
  expect(written).toContain(payload);
});

test("an end-to-end push keeps its content, and the rest of it can change", async () => {
  const { recipient, check } = await makeLinkKey();
  // Forms send line breaks as CR and LF.
  const payload = (await sealText("the secret", recipient, "")).replaceAll("\n", "\r\n");
  const sealed = { encryption: "age", encryption_check: check };
  const urlToken = await editing.push(ada, { ...sealed, payload, expire_after_views: "5" });
  expect(await edit(urlToken, { payload: "another" })).toEqual({
    status: 422,
    answer: { payload: ["was sealed before it got here, so it cannot be changed: create another push."] },
  });
  expect((await edit(urlToken, { expire_after_views: 7 })).answer).toMatchObject({ expire_after_views: 7 });
  expect(await editing.open(urlToken)).toMatchObject({ payload });
});
