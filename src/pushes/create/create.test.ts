import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, countRows, readRows, sqliteOf } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { findNeedles } from "../../../test/support/raw-files.ts";
import { storedIn } from "../../../test/support/stored.ts";
import { AppError } from "../../base/errors.ts";
import { createOperations } from "./create.ts";
import { PendingUpload } from "./upload.ts";

const owner = signedIn(7);

const countPushes = ({ domain }: TestDomain) => countRows(domain.db, "pushes");

test("no file or row contains payload, link, passphrase, labels or file names in plain text, before or after the end", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const secrets = {
    payload: "canary-payload-0d5e",
    passphrase: "canary-passphrase-77af",
    name: "canary-name-b1c2",
    note: "canary-note-9e8d",
    filename: "canary-filename-4f3a.txt",
    content: "canary-content-c6b7",
  };
  const { payload, passphrase, name, note, filename, content } = secrets;
  const tokens: Record<string, string> = {};
  for (const actor of [owner, stranger]) {
    const upload = actor === owner ? await pushes.beginUpload(actor) : undefined;
    await upload?.addFile(makeFile(filename, content));
    const push = await pushes.create({ payload, passphrase, name, note, ...(upload && { upload }) }, actor);
    tokens[`token of ${actor === owner ? "the owner" : "nobody"}`] = push.urlToken;
  }
  const needles = { ...secrets, ...tokens };
  expect(findNeedles(await storedIn(fixture.dataDir), needles)).toEqual([]);
  const truncateLog = () => {
    if (db.engine === "sqlite") while (!sqliteOf(db).truncateLog());
  };
  truncateLog();
  expect(findNeedles(await storedIn(fixture.dataDir), needles)).toEqual([]);
  for (const urlToken of Object.values(tokens)) {
    await pushes.claimView(urlToken, { passphrase, ...countEveryone }, stranger);
    await pushes.claimView(urlToken, { passphrase: `${passphrase}!`, ...countEveryone }, stranger);
    await pushes.expire(urlToken, owner);
  }
  expect(findNeedles(await storedIn(fixture.dataDir), needles)).toEqual([]);
  expect(fixture.logLines.filter((line) => Object.values(needles).some((needle) => line.includes(needle)))).toEqual([]);
  // Prove that the search works.
  await changeRows(db, "INSERT INTO meta VALUES ('seen', ?)", Buffer.from(`.${payload}.`));
  truncateLog();
  const location = db.engine === "sqlite" ? "sealpush.sqlite3" : "table meta";
  expect(findNeedles(await storedIn(fixture.dataDir), { payload })).toEqual([`${location}: payload`]);
});

test("an anonymous push keeps no labels, no sealed token and no owner", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const push = await pushes.create({ payload: "x", name: "VPN", note: "for Jo" }, stranger);
  expect(push).toMatchObject({ name: null, note: null, ownerId: null });
  expect(await readRows(db, "SELECT owner_id, token_sealed, name_sealed, note_sealed FROM pushes")).toEqual([
    { owner_id: null, token_sealed: null, name_sealed: null, note_sealed: null },
  ]);
  const owned = await pushes.create({ payload: "x", name: "VPN", note: "" }, owner);
  expect(owned).toMatchObject({ name: "VPN", note: null, ownerId: 7 });
});

test("missing values take the instance's defaults; options that the instance disables stay off", async () => {
  await using fixture = await openTestDomain({
    environment: {
      PWP__PW__RETRIEVAL_STEP_DEFAULT: "false",
      PWP__PW__DELETABLE_PUSHES_DEFAULT: "false",
      PWP__QR__ENABLE_RETRIEVAL_STEP: "false",
      PWP__QR__ENABLE_DELETABLE_PUSHES: "false",
    },
  });
  const { pushes } = fixture.domain;
  const wanted = { retrievalStep: true, deletableByViewer: true };
  const none = { retrievalStep: false, deletableByViewer: false };
  expect(await pushes.create({ payload: "x" }, stranger)).toMatchObject(none);
  expect(await pushes.create({ payload: "x", ...wanted }, stranger)).toMatchObject(wanted);
  expect(await pushes.create({ payload: "x", kind: "qr", ...wanted }, stranger)).toMatchObject(none);
  const url = { payload: "https://example.com/", kind: "url" } as const;
  expect(await pushes.create(url, stranger)).toMatchObject({ deletableByViewer: false, retrievalStep: true });
});

test("each push has its own link of 26 lower-case letters and digits", async () => {
  await using fixture = await openTestDomain();
  const made = Array.from({ length: 200 }, () => fixture.domain.pushes.create({ payload: "x" }, stranger));
  const tokens = (await Promise.all(made)).map((push) => push.urlToken);
  expect(new Set(tokens).size).toBe(200);
  for (const token of tokens) expect(token).toMatch(/^[a-z0-9]{32}$/);
});

test("files need a known caller on every path", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const refused = expect.objectContaining({ code: "not_authenticated" });
  await expect(pushes.beginUpload(stranger)).rejects.toEqual(refused);
  await expect(pushes.create({ payload: "x", kind: "file" }, stranger)).rejects.toEqual(refused);
  await expect(pushes.create({ payload: "x", mentionsFiles: true }, stranger)).rejects.toEqual(refused);
  const upload = await pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a"));
  await expect(pushes.create({ payload: "x", upload }, stranger)).rejects.toThrow(/Another user/);
  await expect(pushes.create({ upload }, signedIn(8))).rejects.toThrow(/Another user/);
  expect(await countPushes(fixture)).toBe(0);
});

test("with anonymous pushes off, unknown callers create nothing", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__ALLOW_ANONYMOUS: "false" } });
  const { pushes } = fixture.domain;
  await expect(pushes.create({ payload: "x" }, stranger)).rejects.toMatchObject({ code: "not_authenticated" });
  await pushes.create({ payload: "x" }, owner);
  expect(await countPushes(fixture)).toBe(1);
});

test("a refused request stores nothing and abandons its files", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const upload = await pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a"));
  const refused = pushes.create({ upload, expireAfterDays: 0 }, owner);
  await expect(refused).rejects.toMatchObject({
    code: "invalid_fields",
    fields: { expireAfterDays: [expect.any(String)] },
  });
  expect(await countPushes(fixture)).toBe(0);
  expect(await countRows(db, "uploads")).toBe(0);
  expect(await readRows(db, "SELECT due_at FROM blob_deletions")).toEqual([{ due_at: 0 }]);
});

test("a push whose write fails does not exist, and its files are abandoned", async () => {
  await using fixture = await openTestDomain();
  const { store, db } = fixture.domain;
  const failure = new AppError("unavailable", "No.", { retryAfterSeconds: 1 });
  const deps = pushDepsOf(fixture, {
    store: {
      ...store,
      insertPush: async () => {
        throw failure;
      },
    },
  });
  const upload = new PendingUpload(deps, owner);
  await upload.addFile(makeFile("a.txt", "a"));
  await expect(createOperations(deps).create({ upload }, owner)).rejects.toBe(failure);
  expect(await countPushes(fixture)).toBe(0);
  expect(await countRows(db, "blob_deletions")).toBe(1);
});

test("the same files cannot go into two pushes", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const upload = await pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a"));
  const made = await Promise.allSettled([pushes.create({ upload }, owner), pushes.create({ upload }, owner)]);
  expect(made.map((push) => push.status).sort()).toEqual(["fulfilled", "rejected"]);
  await expect(pushes.create({ upload }, owner)).rejects.toMatchObject({ code: "unavailable" });
  expect(await countPushes(fixture)).toBe(1);
  const [push] = made.filter((one) => one.status === "fulfilled");
  const claim = await pushes.claimView(push?.value.urlToken ?? "", countEveryone, stranger);
  expect(claim).toMatchObject({ outcome: "revealed", files: [{ filename: "a.txt" }] });
});

test("a given kind wins and keeps its files; without a kind, files make a file push", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  expect(await pushFiles(pushes, owner, [makeFile("a.txt", "a")])).toMatchObject({ kind: "file" });
  const upload = await pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a"));
  const { urlToken, kind } = await pushes.create({ upload, kind: "text", payload: "see file" }, owner);
  expect(kind).toBe("text");
  const claim = await pushes.claimView(urlToken, countEveryone, stranger);
  expect(claim).toMatchObject({
    outcome: "revealed",
    payload: "see file",
    files: [{ filename: "a.txt", sizeBytes: 1 }],
  });
});
