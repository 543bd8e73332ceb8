import { describe, expect, test } from "vitest";
import { claimFiles, makeFile, pushFiles, readDownload } from "../../test/support/files.ts";
import { openTestHouse, signedIn, stranger, type TestHouse } from "../../test/support/house.ts";
import { readAllFiles } from "../../test/support/raw-files.ts";
import { makeSweeper } from "../../test/support/sweeper.ts";
import { minuteMs } from "../base/clock.ts";
import type { Actor, CreatePush, EditPush, IncomingFile } from "./push.ts";

const owner = signedIn(7);
const view = (world: TestHouse, urlToken: string, passphrase = "", actor: Actor = stranger) =>
  world.house.pushes.claimView(urlToken, { counting: "everyone", passphrase }, actor);

async function uploadOf(world: TestHouse, ...files: readonly IncomingFile[]) {
  const upload = await world.house.pushes.beginUpload(owner);
  for (const file of files) await upload.addFile(file);
  return upload;
}

/** Names and contents of a push's files, as a recipient gets them. */
async function contents(world: TestHouse, urlToken: string, passphrase = ""): Promise<Record<string, string>> {
  const claim = await view(world, urlToken, passphrase);
  if (claim.outcome !== "revealed") throw new Error(`The push was not revealed: ${claim.outcome}.`);
  const found: Record<string, string> = {};
  for (const { filename, ticket } of claim.files) {
    const download = await world.house.pushes.openTicket(ticket, stranger, 0);
    if (download === undefined) throw new Error("A ticket does not open.");
    found[filename] = (await readDownload(download)).toString();
  }
  return found;
}

async function idOf(world: TestHouse, urlToken: string, filename: string): Promise<number> {
  const editable = await world.house.pushes.findEditable(urlToken, owner);
  const file = editable?.files.find((one) => one.filename === filename);
  if (file === undefined) throw new Error("There is no such file.");
  return file.id;
}

const count = (world: TestHouse, table: string) =>
  world.house.db.reader.prepare<[], { count: number }>(`SELECT count(*) AS count FROM ${table}`).get()?.count;
const storedBytes = (world: TestHouse) =>
  world.house.db.reader.prepare<[], { bytes: number }>("SELECT stored_bytes AS bytes FROM pushes").get()?.bytes;
const blobCount = (world: TestHouse) =>
  [...readAllFiles(world.dataDir).keys()].filter((name) => name.startsWith("blobs")).length;

describe("the payload", () => {
  test.each<[CreatePush, string]>([
    [{ kind: "text", payload: "old" }, "new"],
    [{ kind: "url", payload: "https://example.com/old" }, "https://example.com/new"],
    [{ kind: "qr", payload: "old" }, "new"],
  ])("of %o is replaced, and the push keeps its link, kind and views", async (created, payload) => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await pushes.create({ ...created, expireAfterViews: 3 }, owner);
    await view(world, urlToken);
    expect(await pushes.edit(urlToken, { payload }, owner)).toMatchObject({ outcome: "edited" });
    expect(await view(world, urlToken)).toMatchObject({
      outcome: "revealed",
      payload,
      push: { kind: created.kind, viewsRemaining: 1 },
    });
    expect(storedBytes(world)).toBe(payload.length);
  });

  test.each<[CreatePush, string]>([
    [{ kind: "text", payload: "x" }, ""],
    [{ kind: "text", payload: "x" }, "x".repeat(1_048_577)],
    [{ kind: "qr", payload: "x" }, "x".repeat(1_025)],
    [{ kind: "url", payload: "https://example.com" }, "javascript:alert(1)"],
    [{ kind: "url", payload: "https://example.com" }, " https://example.com"],
    [{ kind: "url", payload: "https://example.com" }, "\u0000data:text/html,x"],
    [{ kind: "url", payload: "https://example.com" }, "just words"],
  ])("of %o is not replaced by what could not have been made: %.30j", async (created, payload) => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await pushes.create(created, owner);
    await expect(pushes.edit(urlToken, { payload }, owner)).rejects.toMatchObject({
      fields: { payload: [expect.any(String)] },
    });
    expect(await view(world, urlToken)).toMatchObject({ payload: created.payload });
  });

  test("of a kind that is switched off stays, while limits and labels go on changing", async () => {
    await using world = await openTestHouse();
    const { urlToken } = await world.house.pushes.create({ kind: "url", payload: "https://example.com" }, owner);
    await using later = await openTestHouse({
      dataDir: world.dataDir,
      environment: { PWP__ENABLE_URL_PUSHES: "false" },
    });
    await expect(later.house.pushes.edit(urlToken, { payload: "https://example.org" }, owner)).rejects.toMatchObject({
      fields: { kind: [expect.any(String)] },
    });
    expect(await later.house.pushes.edit(urlToken, { name: "n" }, owner)).toMatchObject({ outcome: "edited" });
  });
});

describe("the passphrase", () => {
  test("is set, changed and removed, and each time only what holds now opens", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 20 }, owner);
    expect(await pushes.edit(urlToken, { passphrase: "one" }, owner)).toMatchObject({
      push: { passphraseRequired: true },
    });
    expect(await view(world, urlToken)).toMatchObject({ outcome: "passphrase_required" });
    expect(await view(world, urlToken, "one")).toMatchObject({ outcome: "revealed", payload: "x" });
    const change = { passphrase: "two", currentPassphrase: "one" };
    expect(await pushes.edit(urlToken, change, owner)).toMatchObject({ outcome: "edited" });
    expect(await view(world, urlToken, "one")).toMatchObject({ outcome: "wrong_passphrase" });
    expect(await view(world, urlToken, "two")).toMatchObject({ outcome: "revealed", payload: "x" });
    const removal = { passphrase: null, currentPassphrase: "two" };
    expect(await pushes.edit(urlToken, removal, owner)).toMatchObject({ push: { passphraseRequired: false } });
    expect(await view(world, urlToken)).toMatchObject({ outcome: "revealed", payload: "x" });
  });

  test("stays with a new payload when the current one is given", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await pushes.create({ payload: "x", passphrase: "one" }, owner);
    expect(await pushes.edit(urlToken, { payload: "y", currentPassphrase: "one" }, owner)).toMatchObject({
      outcome: "edited",
      push: { passphraseRequired: true },
    });
    expect(await view(world, urlToken, "one")).toMatchObject({ outcome: "revealed", payload: "y" });
  });

  const needing: readonly EditPush[] = [
    { payload: "y" },
    { passphrase: "two" },
    { passphrase: null },
    { payload: "y", passphrase: "" },
  ];

  test.each(needing)("is asked for %o on a protected push, which stays as it is", async (request) => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await pushes.create({ payload: "x", passphrase: "one" }, owner);
    expect(await pushes.edit(urlToken, request, owner)).toEqual({ outcome: "passphrase_required" });
    expect(await pushes.edit(urlToken, { ...request, currentPassphrase: "wrong" }, owner)).toEqual({
      outcome: "wrong_passphrase",
    });
    const kinds = (await pushes.audit(urlToken, owner, 1)).map((entry) => entry.kind);
    expect(kinds).toEqual(["failed_passphrase", "creation"]);
    expect(await view(world, urlToken, "one")).toMatchObject({ outcome: "revealed", payload: "x" });
  });

  test.each([
    ["another one", "two"],
    ["none", null],
  ] as const)("can be left aside when payload and passphrase (%s) are replaced together", async (_, passphrase) => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await pushes.create({ payload: "x", passphrase: "one", expireAfterViews: 9 }, owner);
    expect(await pushes.edit(urlToken, { payload: "y", passphrase }, owner)).toMatchObject({ outcome: "edited" });
    expect(await view(world, urlToken, passphrase ?? "")).toMatchObject({ outcome: "revealed", payload: "y" });
    if (passphrase !== null) expect(await view(world, urlToken, "one")).toMatchObject({ outcome: "wrong_passphrase" });
  });

  test("cannot be guessed here any faster than at the door: one count for both, and a right one costs nothing", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await pushes.create({ payload: "x", passphrase: "one", expireAfterViews: 9 }, owner);
    const guess = (currentPassphrase: string, actor = owner) =>
      pushes.edit(urlToken, { payload: "y", currentPassphrase }, actor);
    for (let at = 0; at < 3; at += 1) expect(await guess("one")).toMatchObject({ outcome: "edited" });
    const guesses = await Promise.all(Array.from({ length: 8 }, (_, at) => guess(`wrong ${at}`)));
    expect(guesses.filter((one) => one.outcome === "wrong_passphrase")).toHaveLength(5);
    expect(guesses.filter((one) => one.outcome === "too_many_attempts")).toHaveLength(3);
    expect(await guess("one")).toMatchObject({ outcome: "too_many_attempts", retryAfterSeconds: 60 });
    expect(await view(world, urlToken, "one")).toMatchObject({ outcome: "too_many_attempts" });
    expect(await guess("one", { ...owner, client: "elsewhere" })).toMatchObject({ outcome: "edited" });
    expect(await pushes.edit(urlToken, { name: "not held up" }, owner)).toMatchObject({ outcome: "edited" });
    world.clock.advance(minuteMs);
    expect(await guess("one")).toMatchObject({ outcome: "edited" });
  });
});

describe("files", () => {
  const make = (world: TestHouse, ...names: readonly string[]) =>
    pushFiles(
      world.house.pushes,
      owner,
      names.map((name) => makeFile(name, `in ${name}`)),
      { payload: "message", expireAfterViews: 50 },
    );

  test("are added and removed, again and again, and each opens as what it was", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await make(world, "a", "b");
    const added = await uploadOf(world, makeFile("c", "in c"));
    expect(await pushes.edit(urlToken, { upload: added }, owner)).toMatchObject({ outcome: "edited" });
    expect(await contents(world, urlToken)).toEqual({ a: "in a", b: "in b", c: "in c" });
    const removedFileIds = [await idOf(world, urlToken, "a")];
    const more = await uploadOf(world, makeFile("d", "in d"));
    expect(await pushes.edit(urlToken, { upload: more, removedFileIds }, owner)).toMatchObject({ outcome: "edited" });
    expect(await contents(world, urlToken)).toEqual({ b: "in b", c: "in c", d: "in d" });
    await pushes.edit(urlToken, { payload: "another message", passphrase: "p" }, owner);
    expect(await contents(world, urlToken, "p")).toEqual({ b: "in b", c: "in c", d: "in d" });
    expect(await view(world, urlToken, "p")).toMatchObject({ payload: "another message" });
    expect(storedBytes(world)).toBe("another message".length + 3 * "in x".length);
    expect(count(world, "uploads")).toBe(0);
    await makeSweeper(world).sweep();
    expect(blobCount(world)).toBe(3);
  });

  test("that are removed are gone at once: their tickets open nothing, their blobs go with the next sweep", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await make(world, "a", "b");
    const [a, b] = await claimFiles(pushes, urlToken, stranger);
    await pushes.edit(urlToken, { removedFileIds: [await idOf(world, urlToken, "a")] }, owner);
    expect(await pushes.openTicket(a?.ticket ?? "", stranger, 0)).toBeUndefined();
    expect(await pushes.openTicket(b?.ticket ?? "", stranger, 0)).toBeDefined();
    expect(await makeSweeper(world).sweep()).toMatchObject({ blobsDeleted: 1 });
    expect(blobCount(world)).toBe(1);
    await pushes.expire(urlToken, owner);
    await makeSweeper(world).sweep();
    expect(blobCount(world)).toBe(0);
  });

  test("never all of a file push, unless others come", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await make(world, "a");
    const removedFileIds = [await idOf(world, urlToken, "a")];
    await expect(pushes.edit(urlToken, { removedFileIds }, owner)).rejects.toMatchObject({
      fields: { files: [expect.stringMatching(/at least one/)] },
    });
    const upload = await uploadOf(world, makeFile("b", "in b"));
    expect(await pushes.edit(urlToken, { removedFileIds, upload }, owner)).toMatchObject({ outcome: "edited" });
    expect(await contents(world, urlToken)).toEqual({ b: "in b" });
  });

  test("of another push, or unknown ones, cannot be removed through this one", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const [mine, other] = [await make(world, "a", "b"), await make(world, "c", "d")];
    for (const id of [await idOf(world, other.urlToken, "c"), 0, -1, 1e9]) {
      const edited = await pushes.edit(mine.urlToken, { removedFileIds: [id], name: "n" }, owner);
      expect(edited).toEqual({ outcome: "changed_meanwhile" });
    }
    expect(await contents(world, other.urlToken)).toEqual({ c: "in c", d: "in d" });
    expect(await pushes.find(mine.urlToken, owner)).toMatchObject({ name: null });
  });

  test("are counted and measured together with those that stay", async () => {
    const environment = { PWP__FILES__MAX_FILE_UPLOADS: "3", PWP__FILES__MAX_PUSH_BYTES: "20" };
    await using world = await openTestHouse({ environment });
    const { pushes } = world.house;
    const { urlToken } = await make(world, "a", "b");
    const two = await uploadOf(world, makeFile("c", "c"), makeFile("d", "d"));
    await expect(pushes.edit(urlToken, { upload: two }, owner)).rejects.toMatchObject({
      fields: { files: ["can't be more than 3."] },
    });
    const large = await uploadOf(world, makeFile("c", "c".repeat(13)));
    await expect(pushes.edit(urlToken, { upload: large }, owner)).rejects.toMatchObject({ code: "too_large" });
    const removedFileIds = [await idOf(world, urlToken, "a")];
    const fits = await uploadOf(world, makeFile("c", "c".repeat(16)));
    expect(await pushes.edit(urlToken, { upload: fits, removedFileIds }, owner)).toMatchObject({ outcome: "edited" });
    await makeSweeper(world).sweep();
    expect([blobCount(world), count(world, "uploads")]).toEqual([2, 0]);
  });

  test("that a refused edit brought along go, and the push is as it was", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await make(world, "a");
    const refused = await uploadOf(world, makeFile("b", "b"));
    await expect(pushes.edit(urlToken, { upload: refused, expireAfterViews: 0 }, owner)).rejects.toThrow();
    const foreign = await uploadOf(world, makeFile("b", "b"));
    expect(await pushes.edit("unknown", { upload: foreign }, owner)).toEqual({ outcome: "unknown" });
    await makeSweeper(world).sweep();
    expect([blobCount(world), count(world, "uploads")]).toEqual([1, 0]);
    expect(await contents(world, urlToken)).toEqual({ a: "in a" });
  });

  test("that were swept while the form was sent are missed, and nothing of the edit is done", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await make(world, "a");
    const upload = await uploadOf(world, makeFile("b", "b"));
    world.clock.advance(16 * minuteMs);
    await makeSweeper(world).sweep();
    await expect(pushes.edit(urlToken, { upload, payload: "new", name: "n" }, owner)).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(await view(world, urlToken)).toMatchObject({ payload: "message", push: { name: null } });
    expect(await contents(world, urlToken)).toEqual({ a: "in a" });
  });

  test("of a protected push need the current passphrase; without it all of them go together with the rest", async () => {
    await using world = await openTestHouse();
    const { pushes } = world.house;
    const { urlToken } = await make(world, "a", "b");
    await pushes.edit(urlToken, { passphrase: "one" }, owner);
    const a = await idOf(world, urlToken, "a");
    const all = [a, await idOf(world, urlToken, "b")];
    const file = () => uploadOf(world, makeFile("c", "in c"));
    const refused: readonly EditPush[] = [
      { upload: await file() },
      { removedFileIds: [a] },
      { upload: await file(), removedFileIds: all },
      { upload: await file(), removedFileIds: [a], passphrase: "two" },
    ];
    for (const request of refused) {
      expect(await pushes.edit(urlToken, request, owner)).toEqual({ outcome: "passphrase_required" });
    }
    expect(await pushes.edit(urlToken, { upload: await file(), currentPassphrase: "one" }, owner)).toMatchObject({
      outcome: "edited",
    });
    expect(await contents(world, urlToken, "one")).toEqual({ a: "in a", b: "in b", c: "in c" });
    const whole = {
      upload: await uploadOf(world, makeFile("d", "in d")),
      removedFileIds: [...all, await idOf(world, urlToken, "c")],
      passphrase: "two",
    };
    expect(await pushes.edit(urlToken, whole, owner)).toMatchObject({ outcome: "edited" });
    expect(await contents(world, urlToken, "two")).toEqual({ d: "in d" });
    // Nobody could open the message that was there before, so it went with the rest.
    expect(await view(world, urlToken, "two")).toMatchObject({ payload: "" });
  });

  test("are not added where file pushes are switched off", async () => {
    await using world = await openTestHouse();
    const { urlToken } = await make(world, "a");
    const upload = await uploadOf(world, makeFile("b", "b"));
    const environment = { PWP__ENABLE_FILE_PUSHES: "false" };
    await using later = await openTestHouse({ dataDir: world.dataDir, environment });
    await expect(later.house.pushes.edit(urlToken, { upload }, owner)).rejects.toMatchObject({
      fields: { files: [expect.any(String)] },
    });
  });
});
