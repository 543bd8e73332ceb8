import { describe, expect, test } from "vitest";
import { openTestDomain, stranger, type TestDomain } from "../../../test/support/domain.ts";
import {
  blobCount,
  contents,
  count,
  idOf,
  owner,
  storedBytes,
  uploadOf,
  view,
} from "../../../test/support/edited-push.ts";
import { claimFiles, makeFile, pushFiles } from "../../../test/support/files.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { minuteMs } from "../../base/clock.ts";
import type { EditPush } from "../push.ts";

describe("files", () => {
  const make = (fixture: TestDomain, ...names: readonly string[]) =>
    pushFiles(
      fixture.domain.pushes,
      owner,
      names.map((name) => makeFile(name, `in ${name}`)),
      { payload: "message", expireAfterViews: 50 },
    );

  test("are added and removed repeatedly, and each keeps its content", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await make(fixture, "a", "b");
    const added = await uploadOf(fixture, makeFile("c", "in c"));
    expect(await pushes.edit(urlToken, { upload: added }, owner)).toMatchObject({ outcome: "edited" });
    expect(await contents(fixture, urlToken)).toEqual({ a: "in a", b: "in b", c: "in c" });
    const removedFileIds = [await idOf(fixture, urlToken, "a")];
    const more = await uploadOf(fixture, makeFile("d", "in d"));
    expect(await pushes.edit(urlToken, { upload: more, removedFileIds }, owner)).toMatchObject({ outcome: "edited" });
    expect(await contents(fixture, urlToken)).toEqual({ b: "in b", c: "in c", d: "in d" });
    await pushes.edit(urlToken, { payload: "another message", passphrase: "p" }, owner);
    expect(await contents(fixture, urlToken, "p")).toEqual({ b: "in b", c: "in c", d: "in d" });
    expect(await view(fixture, urlToken, "p")).toMatchObject({ payload: "another message" });
    expect(await storedBytes(fixture)).toBe("another message".length + 3 * "in x".length);
    expect(await count(fixture, "uploads")).toBe(0);
    await makeSweeper(fixture).sweep();
    expect(blobCount(fixture)).toBe(3);
  });

  test("become unavailable at once when they are removed: tickets are void, the next sweep deletes their blobs", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await make(fixture, "a", "b");
    const [a, b] = await claimFiles(pushes, urlToken, stranger);
    await pushes.edit(urlToken, { removedFileIds: [await idOf(fixture, urlToken, "a")] }, owner);
    expect(await pushes.openTicket(a?.ticket ?? "", stranger)).toBeUndefined();
    expect(await pushes.openTicket(b?.ticket ?? "", stranger)).toBeDefined();
    expect(await makeSweeper(fixture).sweep()).toMatchObject({ blobsDeleted: 1 });
    expect(blobCount(fixture)).toBe(1);
    await pushes.expire(urlToken, owner);
    await makeSweeper(fixture).sweep();
    expect(blobCount(fixture)).toBe(0);
  });

  test("cannot all be removed from a file push unless others are added", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await make(fixture, "a");
    const removedFileIds = [await idOf(fixture, urlToken, "a")];
    await expect(pushes.edit(urlToken, { removedFileIds }, owner)).rejects.toMatchObject({
      fields: { files: [expect.stringMatching(/at least one/)] },
    });
    const upload = await uploadOf(fixture, makeFile("b", "in b"));
    expect(await pushes.edit(urlToken, { removedFileIds, upload }, owner)).toMatchObject({ outcome: "edited" });
    expect(await contents(fixture, urlToken)).toEqual({ b: "in b" });
  });

  test("cannot be removed if they are unknown or belong to another push", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const [mine, other] = [await make(fixture, "a", "b"), await make(fixture, "c", "d")];
    for (const id of [await idOf(fixture, other.urlToken, "c"), 0, -1, 1e9]) {
      const edited = await pushes.edit(mine.urlToken, { removedFileIds: [id], name: "n" }, owner);
      expect(edited).toEqual({ outcome: "changed_meanwhile" });
    }
    expect(await contents(fixture, other.urlToken)).toEqual({ c: "in c", d: "in d" });
    expect(await pushes.find(mine.urlToken, owner)).toMatchObject({ name: null });
  });

  test("count towards the limits together with the kept ones", async () => {
    const environment = { PWP__FILES__MAX_FILE_UPLOADS: "3", PWP__FILES__MAX_PUSH_BYTES: "20" };
    await using fixture = await openTestDomain({ environment });
    const { pushes } = fixture.domain;
    const { urlToken } = await make(fixture, "a", "b");
    const two = await uploadOf(fixture, makeFile("c", "c"), makeFile("d", "d"));
    await expect(pushes.edit(urlToken, { upload: two }, owner)).rejects.toMatchObject({
      fields: { files: ["can't be more than 3."] },
    });
    const large = await uploadOf(fixture, makeFile("c", "c".repeat(13)));
    await expect(pushes.edit(urlToken, { upload: large }, owner)).rejects.toMatchObject({ code: "too_large" });
    const removedFileIds = [await idOf(fixture, urlToken, "a")];
    const fits = await uploadOf(fixture, makeFile("c", "c".repeat(16)));
    expect(await pushes.edit(urlToken, { upload: fits, removedFileIds }, owner)).toMatchObject({ outcome: "edited" });
    await makeSweeper(fixture).sweep();
    expect([blobCount(fixture), await count(fixture, "uploads")]).toEqual([2, 0]);
  });

  test("are deleted if the edit is refused, and the push is unchanged", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await make(fixture, "a");
    const refused = await uploadOf(fixture, makeFile("b", "b"));
    await expect(pushes.edit(urlToken, { upload: refused, expireAfterViews: 0 }, owner)).rejects.toThrow();
    const foreign = await uploadOf(fixture, makeFile("b", "b"));
    expect(await pushes.edit("unknown", { upload: foreign }, owner)).toEqual({ outcome: "unknown" });
    await makeSweeper(fixture).sweep();
    expect([blobCount(fixture), await count(fixture, "uploads")]).toEqual([1, 0]);
    expect(await contents(fixture, urlToken)).toEqual({ a: "in a" });
  });

  test("fail the whole edit if they were swept during the request", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await make(fixture, "a");
    const upload = await uploadOf(fixture, makeFile("b", "b"));
    fixture.clock.advance(16 * minuteMs);
    await makeSweeper(fixture).sweep();
    await expect(pushes.edit(urlToken, { upload, payload: "new", name: "n" }, owner)).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(await view(fixture, urlToken)).toMatchObject({ payload: "message", push: { name: null } });
    expect(await contents(fixture, urlToken)).toEqual({ a: "in a" });
  });

  test("need the current passphrase on a protected push; without it all files and the text are replaced", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await make(fixture, "a", "b");
    await pushes.edit(urlToken, { passphrase: "one" }, owner);
    const a = await idOf(fixture, urlToken, "a");
    const all = [a, await idOf(fixture, urlToken, "b")];
    const file = () => uploadOf(fixture, makeFile("c", "in c"));
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
    expect(await contents(fixture, urlToken, "one")).toEqual({ a: "in a", b: "in b", c: "in c" });
    const whole = {
      upload: await uploadOf(fixture, makeFile("d", "in d")),
      removedFileIds: [...all, await idOf(fixture, urlToken, "c")],
      passphrase: "two",
    };
    expect(await pushes.edit(urlToken, whole, owner)).toMatchObject({ outcome: "edited" });
    expect(await contents(fixture, urlToken, "two")).toEqual({ d: "in d" });
    // The old message could not be opened without its passphrase, so it was removed, too.
    expect(await view(fixture, urlToken, "two")).toMatchObject({ payload: "" });
  });

  test("are not added if file pushes are disabled", async () => {
    await using fixture = await openTestDomain();
    const { urlToken } = await make(fixture, "a");
    const upload = await uploadOf(fixture, makeFile("b", "b"));
    const environment = { PWP__ENABLE_FILE_PUSHES: "false" };
    await using later = await openTestDomain({ dataDir: fixture.dataDir, environment });
    await expect(later.domain.pushes.edit(urlToken, { upload }, owner)).rejects.toMatchObject({
      fields: { files: [expect.any(String)] },
    });
  });
});
