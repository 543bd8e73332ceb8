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
  const make = (world: TestDomain, ...names: readonly string[]) =>
    pushFiles(
      world.domain.pushes,
      owner,
      names.map((name) => makeFile(name, `in ${name}`)),
      { payload: "message", expireAfterViews: 50 },
    );

  test("are added and removed, again and again, and each opens as what it was", async () => {
    await using world = await openTestDomain();
    const { pushes } = world.domain;
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
    expect(await storedBytes(world)).toBe("another message".length + 3 * "in x".length);
    expect(await count(world, "uploads")).toBe(0);
    await makeSweeper(world).sweep();
    expect(blobCount(world)).toBe(3);
  });

  test("that are removed are gone at once: their tickets open nothing, their blobs go with the next sweep", async () => {
    await using world = await openTestDomain();
    const { pushes } = world.domain;
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
    await using world = await openTestDomain();
    const { pushes } = world.domain;
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
    await using world = await openTestDomain();
    const { pushes } = world.domain;
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
    await using world = await openTestDomain({ environment });
    const { pushes } = world.domain;
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
    expect([blobCount(world), await count(world, "uploads")]).toEqual([2, 0]);
  });

  test("that a refused edit brought along go, and the push is as it was", async () => {
    await using world = await openTestDomain();
    const { pushes } = world.domain;
    const { urlToken } = await make(world, "a");
    const refused = await uploadOf(world, makeFile("b", "b"));
    await expect(pushes.edit(urlToken, { upload: refused, expireAfterViews: 0 }, owner)).rejects.toThrow();
    const foreign = await uploadOf(world, makeFile("b", "b"));
    expect(await pushes.edit("unknown", { upload: foreign }, owner)).toEqual({ outcome: "unknown" });
    await makeSweeper(world).sweep();
    expect([blobCount(world), await count(world, "uploads")]).toEqual([1, 0]);
    expect(await contents(world, urlToken)).toEqual({ a: "in a" });
  });

  test("that were swept while the form was sent are missed, and nothing of the edit is done", async () => {
    await using world = await openTestDomain();
    const { pushes } = world.domain;
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
    await using world = await openTestDomain();
    const { pushes } = world.domain;
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
    await using world = await openTestDomain();
    const { urlToken } = await make(world, "a");
    const upload = await uploadOf(world, makeFile("b", "b"));
    const environment = { PWP__ENABLE_FILE_PUSHES: "false" };
    await using later = await openTestDomain({ dataDir: world.dataDir, environment });
    await expect(later.domain.pushes.edit(urlToken, { upload }, owner)).rejects.toMatchObject({
      fields: { files: [expect.any(String)] },
    });
  });
});
