import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger } from "../../test/support/domain.ts";
import { changeRows } from "../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../test/support/files.ts";
import type { PushField } from "./pushes.ts";

const owner = signedIn(7);
const idempotencyKey = "a-random-key-of-the-client";
const fields: readonly PushField[] = [
  { label: "User", value: "ada", type: "text" },
  { label: "Password", value: "hunter2\nline 2", type: "secret" },
];
const text = "User: ada\nPassword:\nhunter2\nline 2";

test("fields are revealed as they were, and as a text", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ fields }, stranger);
  const reserved: number[] = [];
  const request = { ...countEveryone, reserveAnswer: (bytes: number) => reserved.push(bytes) };
  expect(await pushes.claimView(urlToken, request, stranger)).toMatchObject({
    outcome: "revealed",
    payload: text,
    fields,
  });
  expect(Math.max(...reserved)).toBeGreaterThanOrEqual(JSON.stringify(fields).length + text.length);
});

test("a text that looks like fields stays a text", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const payload = JSON.stringify(fields);
  const { urlToken } = await pushes.create({ payload }, stranger);
  expect(await pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({ payload, fields: null });
});

test.each([
  ["a text is taken for fields", { payload: JSON.stringify(fields) }, 1],
  ["fields are taken for a text", { fields }, 0],
])("the format is bound to the payload: if %s, nothing opens and no view is counted", async (_, push, format) => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const { urlToken } = await pushes.create(push, stranger);
  await changeRows(db, "UPDATE pushes SET payload_format = ?", format);
  await expect(pushes.claimView(urlToken, countEveryone, stranger)).rejects.toThrow("do not match");
  await changeRows(db, "UPDATE pushes SET payload_format = ?", 1 - format);
  expect(await pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({ push: { views: 1 } });
});

test("a repeated creation compares the fields and their format", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const first = await pushes.create({ fields, idempotencyKey }, owner);
  expect(await pushes.create({ fields: [...fields], idempotencyKey }, owner)).toEqual({ ...first, repeated: true });
  const [user, password] = fields;
  if (user === undefined || password === undefined) throw new Error("There are two fields.");
  for (const other of [
    { payload: text },
    { payload: JSON.stringify(fields) },
    { fields: [user] },
    { fields: [user, { ...password, type: "text" as const }] },
    { fields: [password, user] },
  ]) {
    await expect(pushes.create({ ...other, idempotencyKey }, owner)).rejects.toMatchObject({ code: "invalid_fields" });
  }
});

test("an edit keeps the fields, or replaces them by a text", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ fields }, owner);
  await pushes.edit(urlToken, { passphrase: "open sesame" }, owner);
  const request = { ...countEveryone, passphrase: "open sesame" };
  expect(await pushes.claimView(urlToken, request, stranger)).toMatchObject({ payload: text, fields });
  await pushes.edit(urlToken, { payload: "new", currentPassphrase: "open sesame" }, owner);
  expect(await pushes.claimView(urlToken, request, stranger)).toMatchObject({ payload: "new", fields: null });
});

test("a file push without its text forgets the fields when all of it is replaced", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a", "in a")], { fields, passphrase: "old one" });
  const { files } = (await pushes.findEditable(urlToken, owner)) ?? { files: [] };
  const upload = await pushes.beginUpload(owner);
  await upload.addFile(makeFile("b", "in b"));
  const removedFileIds = files.map(({ id }) => id);
  expect(await pushes.edit(urlToken, { removedFileIds, upload, passphrase: null }, owner)).toMatchObject({
    outcome: "edited",
  });
  expect(await pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({ payload: "", fields: null });
});
