import { describe, expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { dayMs, hourMs } from "../../base/clock.ts";
import type { Actor } from "../actor.ts";
import type { EditPush } from "../push.ts";
import { editOperations } from "./edit.ts";

const owner = signedIn(7);
const view = (fixture: TestDomain, urlToken: string, passphrase = "", actor: Actor = stranger) =>
  fixture.domain.pushes.claimView(urlToken, { ...countEveryone, passphrase }, actor);
const kindsOf = async (fixture: TestDomain, urlToken: string) =>
  (await fixture.domain.pushes.audit(urlToken, owner, 1)).map((entry) => entry.kind);

describe("limits", () => {
  test("days count from the creation, and a longer or shorter time applies at once", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const push = await pushes.create({ payload: "x", expireAfterDays: 7 }, owner);
    fixture.clock.advance(3 * dayMs + hourMs);
    const longer = await pushes.edit(push.urlToken, { expireAfterDays: 10 }, owner);
    expect(longer).toMatchObject({
      outcome: "edited",
      push: { expireAfterDays: 10, daysRemaining: 7, expiresAt: push.createdAt + 10 * dayMs },
    });
    await pushes.edit(push.urlToken, { expireAfterDays: 4 }, owner);
    fixture.clock.advance(23 * hourMs - 1);
    expect(await view(fixture, push.urlToken)).toMatchObject({ outcome: "revealed" });
    fixture.clock.advance(1);
    expect(await view(fixture, push.urlToken)).toMatchObject({ outcome: "gone" });
  });

  test.each([3, 0, -1, 91, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e15])(
    "%d days, set more than three days after the creation, are refused and change nothing",
    async (expireAfterDays) => {
      await using fixture = await openTestDomain();
      const { pushes } = fixture.domain;
      const { repeated: _, ...push } = await pushes.create({ payload: "x", expireAfterDays: 7 }, owner);
      fixture.clock.advance(3 * dayMs + 1);
      await expect(pushes.edit(push.urlToken, { expireAfterDays, name: "n" }, owner)).rejects.toMatchObject({
        code: "invalid_fields",
        fields: { expireAfterDays: ["must be between 4 and 90."] },
      });
      expect(await pushes.find(push.urlToken, owner)).toEqual({ ...push, daysRemaining: 4 });
      expect(await kindsOf(fixture, push.urlToken)).toEqual(["creation"]);
    },
  );

  test("a one-hour push keeps its hour when it is saved with the displayed one day", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const push = await pushes.create({ payload: "x", expireAfterMs: hourMs }, owner);
    const edited = await pushes.edit(push.urlToken, { expireAfterDays: push.expireAfterDays, name: "n" }, owner);
    expect(edited).toMatchObject({ outcome: "edited", push: { expiresAt: push.createdAt + hourMs, name: "n" } });
  });

  test("the view limit stays above the used views, so no edit ends a push silently", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 5 }, owner);
    await view(fixture, urlToken);
    await view(fixture, urlToken);
    for (const expireAfterViews of [2, 1, 0, -1, 101, 2.5, Number.NaN]) {
      await expect(pushes.edit(urlToken, { expireAfterViews }, owner)).rejects.toMatchObject({
        fields: { expireAfterViews: ["must be between 3 and 100."] },
      });
    }
    expect(await pushes.edit(urlToken, { expireAfterViews: 3 }, owner)).toMatchObject({
      outcome: "edited",
      push: { viewsRemaining: 1 },
    });
    expect(await view(fixture, urlToken)).toMatchObject({ outcome: "revealed", push: { viewsRemaining: 0 } });
    expect(await view(fixture, urlToken)).toMatchObject({ outcome: "gone" });
  });

  test("a limit beyond the settings may be kept or reduced, never raised", async () => {
    await using fixture = await openTestDomain();
    const { pushes, db } = fixture.domain;
    const push = await pushes.create({ payload: "x" }, owner);
    const imported = "UPDATE pushes SET expire_after_days = 400, expire_after_views = 900, expires_at = ?";
    await changeRows(db, imported, push.createdAt + 400 * dayMs);
    fixture.clock.advance(300 * dayMs);
    const keep = { expireAfterDays: 400, expireAfterViews: 900, name: "kept" };
    expect(await pushes.edit(push.urlToken, keep, owner)).toMatchObject({
      outcome: "edited",
      push: { expireAfterDays: 400, expireAfterViews: 900, expiresAt: push.createdAt + 400 * dayMs },
    });
    expect(await pushes.edit(push.urlToken, { expireAfterDays: 301, expireAfterViews: 500 }, owner)).toMatchObject({
      outcome: "edited",
    });
    await expect(
      pushes.edit(push.urlToken, { expireAfterDays: 302, expireAfterViews: 501 }, owner),
    ).rejects.toMatchObject({
      fields: { expireAfterDays: [expect.any(String)], expireAfterViews: [expect.any(String)] },
    });
  });

  test("options that the server disables stay unchanged", async () => {
    const environment = { PWP__PW__ENABLE_RETRIEVAL_STEP: "false", PWP__PW__ENABLE_DELETABLE_PUSHES: "false" };
    await using fixture = await openTestDomain({ environment });
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x" }, owner);
    const asked = { retrievalStep: true, deletableByViewer: true };
    expect(await pushes.edit(urlToken, asked, owner)).toMatchObject({
      push: { retrievalStep: false, deletableByViewer: false },
    });
  });
});

describe("labels and options", () => {
  test("change in one logged edit, without a view and without resealing", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x", name: "old", note: "note", passphrase: "p" }, owner);
    const sealsOf = () =>
      readRows(fixture.domain.db, "SELECT seal_generation, key_check, sealed FROM pushes, row_secrets");
    const seals = await sealsOf();
    const asked = { name: "new", note: "", deletableByViewer: true, retrievalStep: true };
    expect(await pushes.edit(urlToken, asked, owner)).toMatchObject({
      outcome: "edited",
      push: { name: "new", note: null, deletableByViewer: true, retrievalStep: true },
    });
    expect(await sealsOf()).toEqual(seals);
    expect(await kindsOf(fixture, urlToken)).toEqual(["creation", "edit"]);
    expect(await view(fixture, urlToken, "p")).toMatchObject({ outcome: "revealed", payload: "x" });
  });

  test("saving unchanged values writes nothing", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const push = await pushes.create({ payload: "x", name: "n", note: "o" }, owner);
    const { name, note, expireAfterDays, expireAfterViews, retrievalStep, deletableByViewer } = push;
    const same = {
      name: name ?? "",
      note: note ?? "",
      expireAfterDays,
      expireAfterViews,
      retrievalStep,
      deletableByViewer,
    };
    expect(await pushes.edit(push.urlToken, { ...same, passphrase: null }, owner)).toMatchObject({ outcome: "edited" });
    expect(await kindsOf(fixture, push.urlToken)).toEqual(["creation"]);
  });

  test("values that are too long or not valid text are refused", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x" }, owner);
    const asked = {
      name: "n".repeat(2_049),
      note: "\ud800",
      passphrase: "p".repeat(4_097),
      currentPassphrase: "p".repeat(4_097),
    };
    await expect(pushes.edit(urlToken, asked, owner)).rejects.toMatchObject({
      fields: {
        name: [expect.any(String)],
        note: [expect.any(String)],
        passphrase: [expect.any(String)],
        currentPassphrase: [expect.any(String)],
      },
    });
  });
});

describe("permission to edit", () => {
  const everything: EditPush = { payload: "mine", passphrase: "mine", expireAfterViews: 9, name: "mine" };

  test.each([
    ["a stranger", stranger],
    ["another user", signedIn(8)],
    ["an administrator", signedIn(9, true)],
  ])("%s may not: the push is reported as unknown, and nothing is written", async (_, actor) => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 1 }, owner);
    expect(await pushes.edit(urlToken, everything, actor)).toEqual({ outcome: "unknown" });
    expect(await pushes.edit("unknowntoken", everything, actor)).toEqual({ outcome: "unknown" });
    expect(await pushes.findEditable(urlToken, actor)).toBeUndefined();
    expect(await kindsOf(fixture, urlToken)).toEqual(["creation"]);
    expect(await view(fixture, urlToken)).toMatchObject({ outcome: "revealed", payload: "x" });
  });

  test("no user may edit an anonymous push: a null owner matches no user", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x" }, stranger);
    for (const actor of [stranger, owner, signedIn(9, true)]) {
      expect(await pushes.edit(urlToken, everything, actor)).toEqual({ outcome: "unknown" });
      expect(await pushes.findEditable(urlToken, actor)).toBeUndefined();
    }
  });

  test("a push that has ended cannot be edited or revived", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const make = () => pushes.create({ payload: "x", expireAfterViews: 1, expireAfterDays: 1 }, owner);
    const [viewed, deleted, overdue] = [await make(), await make(), await make()];
    await view(fixture, viewed.urlToken);
    await pushes.expire(deleted.urlToken, owner);
    fixture.clock.advance(dayMs);
    for (const { urlToken } of [viewed, deleted, overdue]) {
      expect(await pushes.edit(urlToken, { expireAfterDays: 9, expireAfterViews: 9, payload: "y" }, owner)).toEqual({
        outcome: "gone",
      });
      expect(await pushes.findEditable(urlToken, owner)).toBeUndefined();
      expect(await view(fixture, urlToken)).toMatchObject({ outcome: "gone" });
    }
  });
});

describe("between the read and the write", () => {
  /** Runs `meanwhile` right before the edit's own write. */
  const editAfter = (fixture: TestDomain, urlToken: string, request: EditPush, meanwhile: () => Promise<unknown>) => {
    const { store } = fixture.domain;
    const change: typeof store.change = async (...given) => {
      await meanwhile();
      return await store.change(...given);
    };
    return editOperations(pushDepsOf(fixture, { store: { ...store, change } })).edit(urlToken, request, owner);
  };

  test("views used meanwhile are reported at the field", async () => {
    await using fixture = await openTestDomain();
    const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 5 }, owner);
    const edit = editAfter(fixture, urlToken, { expireAfterViews: 1 }, () => view(fixture, urlToken));
    await expect(edit).rejects.toMatchObject({ fields: { expireAfterViews: ["must be between 2 and 100."] } });
    expect(await kindsOf(fixture, urlToken)).toEqual(["creation", "view"]);
  });

  test("a claim that ends the push wins, and the edit does not revive it", async () => {
    await using fixture = await openTestDomain();
    const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 1 }, owner);
    const edit = editAfter(fixture, urlToken, { expireAfterViews: 9, payload: "y" }, () => view(fixture, urlToken));
    expect(await edit).toEqual({ outcome: "gone" });
    expect(await view(fixture, urlToken)).toMatchObject({ outcome: "gone" });
  });

  test("a claim that leaves views does not disturb an edit of the content", async () => {
    await using fixture = await openTestDomain();
    const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 3 }, owner);
    const edit = editAfter(fixture, urlToken, { payload: "y" }, () => view(fixture, urlToken));
    expect(await edit).toMatchObject({ outcome: "edited", push: { viewsRemaining: 2 } });
    expect(await view(fixture, urlToken)).toMatchObject({ payload: "y" });
  });

  test.each<[string, EditPush, EditPush]>([
    ["of the content, before one of the content", { payload: "theirs" }, { payload: "mine" }],
    ["of the passphrase, before one of the limits", { passphrase: "theirs" }, { expireAfterViews: 50 }],
  ])("another edit %s, makes this one fail and change nothing", async (_, theirs, mine) => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const { urlToken, expireAfterViews } = await pushes.create({ payload: "x" }, owner);
    const edit = editAfter(fixture, urlToken, mine, () => pushes.edit(urlToken, theirs, owner));
    expect(await edit).toEqual({ outcome: "changed_meanwhile" });
    expect(await pushes.find(urlToken, owner)).toMatchObject({ expireAfterViews });
    const passphrase = theirs.passphrase ?? "";
    expect(await view(fixture, urlToken, passphrase)).toMatchObject({ payload: theirs.payload ?? "x" });
  });

  test("a push that expires meanwhile is gone", async () => {
    await using fixture = await openTestDomain();
    const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterDays: 1 }, owner);
    const slow = { deriveKey: async () => Buffer.alloc(32) };
    const { argon2 } = pushDepsOf(fixture);
    const deps = pushDepsOf(fixture, {
      argon2: {
        ...argon2,
        async deriveKey() {
          fixture.clock.advance(dayMs);
          return await slow.deriveKey();
        },
      },
    });
    expect(await editOperations(deps).edit(urlToken, { passphrase: "p", expireAfterDays: 9 }, owner)).toEqual({
      outcome: "gone",
    });
    expect(await view(fixture, urlToken)).toMatchObject({ outcome: "gone" });
  });
});
