import { describe, expect, test, vi } from "vitest";
import { openTestDomain } from "../../../test/support/domain.ts";
import { owner, storedBytes, view } from "../../../test/support/edited-push.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { minuteMs } from "../../base/clock.ts";
import type { CreatePush, EditPush } from "../push.ts";

describe("the payload", () => {
  test.each<[CreatePush, string]>([
    [{ kind: "text", payload: "old" }, "new"],
    [{ kind: "url", payload: "https://example.com/old" }, "https://example.com/new"],
    [{ kind: "qr", payload: "old" }, "new"],
  ])("of %o is replaced, and the push keeps its link, kind and views", async (created, payload) => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ ...created, expireAfterViews: 3 }, owner);
    await view(fixture, urlToken);
    expect(await pushes.edit(urlToken, { payload }, owner)).toMatchObject({ outcome: "edited" });
    expect(await view(fixture, urlToken)).toMatchObject({
      outcome: "revealed",
      payload,
      push: { kind: created.kind, viewsRemaining: 1 },
    });
    expect(await storedBytes(fixture)).toBe(payload.length);
  });

  test.each<[CreatePush, string]>([
    [{ kind: "text", payload: "x" }, ""],
    [{ kind: "text", payload: "x" }, "x".repeat(1_048_577)],
    [{ kind: "qr", payload: "x" }, "x".repeat(1_025)],
    [{ kind: "url", payload: "https://example.com" }, "javascript:alert(1)"],
    [{ kind: "url", payload: "https://example.com" }, " https://example.com"],
    [{ kind: "url", payload: "https://example.com" }, "\u0000data:text/html,x"],
    [{ kind: "url", payload: "https://example.com" }, "just words"],
  ])("of %o is not replaced by a payload that creation would refuse: %.30j", async (created, payload) => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create(created, owner);
    await expect(pushes.edit(urlToken, { payload }, owner)).rejects.toMatchObject({
      fields: { payload: [expect.any(String)] },
    });
    expect(await view(fixture, urlToken)).toMatchObject({ payload: created.payload });
  });

  test("is not replaced if it goes missing before the write, and nothing else of the push changes", async () => {
    await using fixture = await openTestDomain();
    const { db, pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "old" }, owner);
    vi.spyOn(db, "write").mockImplementationOnce(async (work) => {
      await changeRows(db, "DELETE FROM payloads");
      return await db.write(work);
    });
    await expect(pushes.edit(urlToken, { payload: "new", name: "n" }, owner)).rejects.toThrow("The payload is not as");
    expect(await readRows(db, "SELECT seal_generation AS generation, name_sealed AS name FROM pushes")).toEqual([
      { generation: 1, name: null },
    ]);
  });

  test("cannot change if its kind is disabled, while limits and labels can", async () => {
    await using fixture = await openTestDomain();
    const { urlToken } = await fixture.domain.pushes.create({ kind: "url", payload: "https://example.com" }, owner);
    await using later = await openTestDomain({
      dataDir: fixture.dataDir,
      environment: { PWP__ENABLE_URL_PUSHES: "false" },
    });
    await expect(later.domain.pushes.edit(urlToken, { payload: "https://example.org" }, owner)).rejects.toMatchObject({
      fields: { kind: [expect.any(String)] },
    });
    expect(await later.domain.pushes.edit(urlToken, { name: "n" }, owner)).toMatchObject({ outcome: "edited" });
  });
});

describe("the passphrase", () => {
  test("is set, changed and removed, and only the current one opens the push", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 20 }, owner);
    expect(await pushes.edit(urlToken, { passphrase: "one" }, owner)).toMatchObject({
      push: { passphraseRequired: true },
    });
    expect(await view(fixture, urlToken)).toMatchObject({ outcome: "passphrase_required" });
    expect(await view(fixture, urlToken, "one")).toMatchObject({ outcome: "revealed", payload: "x" });
    const change = { passphrase: "two", currentPassphrase: "one" };
    expect(await pushes.edit(urlToken, change, owner)).toMatchObject({ outcome: "edited" });
    expect(await view(fixture, urlToken, "one")).toMatchObject({ outcome: "wrong_passphrase" });
    expect(await view(fixture, urlToken, "two")).toMatchObject({ outcome: "revealed", payload: "x" });
    const removal = { passphrase: null, currentPassphrase: "two" };
    expect(await pushes.edit(urlToken, removal, owner)).toMatchObject({ push: { passphraseRequired: false } });
    expect(await view(fixture, urlToken)).toMatchObject({ outcome: "revealed", payload: "x" });
  });

  test("stays with a new payload when the current one is given", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x", passphrase: "one" }, owner);
    expect(await pushes.edit(urlToken, { payload: "y", currentPassphrase: "one" }, owner)).toMatchObject({
      outcome: "edited",
      push: { passphraseRequired: true },
    });
    expect(await view(fixture, urlToken, "one")).toMatchObject({ outcome: "revealed", payload: "y" });
  });

  const needing: readonly EditPush[] = [
    { payload: "y" },
    { passphrase: "two" },
    { passphrase: null },
    { payload: "y", passphrase: "" },
  ];

  test.each(needing)("is required for %o on a protected push, which stays unchanged", async (request) => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x", passphrase: "one" }, owner);
    expect(await pushes.edit(urlToken, request, owner)).toEqual({ outcome: "passphrase_required" });
    expect(await pushes.edit(urlToken, { ...request, currentPassphrase: "wrong" }, owner)).toEqual({
      outcome: "wrong_passphrase",
    });
    const kinds = (await pushes.audit(urlToken, owner, 1)).map((entry) => entry.kind);
    expect(kinds).toEqual(["creation", "failed_passphrase"]);
    expect(await view(fixture, urlToken, "one")).toMatchObject({ outcome: "revealed", payload: "x" });
  });

  test.each([
    ["another one", "two"],
    ["none", null],
  ] as const)("can be omitted when payload and passphrase (%s) are replaced together", async (_, passphrase) => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x", passphrase: "one", expireAfterViews: 9 }, owner);
    expect(await pushes.edit(urlToken, { payload: "y", passphrase }, owner)).toMatchObject({ outcome: "edited" });
    expect(await view(fixture, urlToken, passphrase ?? "")).toMatchObject({ outcome: "revealed", payload: "y" });
    if (passphrase !== null)
      expect(await view(fixture, urlToken, "one")).toMatchObject({ outcome: "wrong_passphrase" });
  });

  test("cannot be guessed faster by edits than by views: both share one count, and a correct one is free", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x", passphrase: "one", expireAfterViews: 9 }, owner);
    const guess = (currentPassphrase: string, actor = owner) =>
      pushes.edit(urlToken, { payload: "y", currentPassphrase }, actor);
    for (let at = 0; at < 3; at += 1) expect(await guess("one")).toMatchObject({ outcome: "edited" });
    const guesses = await Promise.all(Array.from({ length: 8 }, (_, at) => guess(`wrong ${at}`)));
    expect(guesses.filter((one) => one.outcome === "wrong_passphrase")).toHaveLength(5);
    expect(guesses.filter((one) => one.outcome === "too_many_attempts")).toHaveLength(3);
    expect(await guess("one")).toMatchObject({ outcome: "too_many_attempts", retryAfterSeconds: 60 });
    expect(await view(fixture, urlToken, "one")).toMatchObject({ outcome: "too_many_attempts" });
    expect(await guess("one", { ...owner, client: "elsewhere" })).toMatchObject({ outcome: "edited" });
    expect(await pushes.edit(urlToken, { name: "still editable" }, owner)).toMatchObject({ outcome: "edited" });
    fixture.clock.advance(minuteMs);
    expect(await guess("one")).toMatchObject({ outcome: "edited" });
  });
});
