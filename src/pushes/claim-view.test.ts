import { expect, test } from "vitest";
import { openTestHouse, signedIn, stranger } from "../../test/support/house.ts";

test("a text push opens exactly as often as allowed, then it is gone", async () => {
  await using world = await openTestHouse();
  const { pushes } = world.house;
  const push = await pushes.create({ payload: "hunter2", expireAfterViews: 2 }, stranger);
  const first = await pushes.claimView(push.urlToken, { counting: "everyone" }, stranger);
  expect(first).toMatchObject({ outcome: "revealed", payload: "hunter2", push: { viewsRemaining: 1, expired: false } });
  const last = await pushes.claimView(push.urlToken, { counting: "everyone" }, stranger);
  expect(last).toMatchObject({ outcome: "revealed", payload: "hunter2", push: { viewsRemaining: 0, expired: false } });
  const late = await pushes.claimView(push.urlToken, { counting: "everyone" }, stranger);
  expect(late).toMatchObject({ outcome: "gone", push: { expired: true, deleted: false } });
});

test("of 50 that ask at once for a push of 5 views, 5 get it", async () => {
  await using world = await openTestHouse();
  const { pushes } = world.house;
  const push = await pushes.create({ payload: "hunter2", expireAfterViews: 5 }, stranger);
  const asked = Array.from({ length: 50 }, () => pushes.claimView(push.urlToken, { counting: "everyone" }, stranger));
  const outcomes = (await Promise.all(asked)).map((claim) => claim.outcome);
  expect(outcomes.filter((outcome) => outcome === "revealed")).toHaveLength(5);
  expect(outcomes.filter((outcome) => outcome === "gone")).toHaveLength(45);
});

test("a passphrase: missing costs nothing, five wrong ones block that client alone, right opens", async () => {
  await using world = await openTestHouse();
  const { pushes } = world.house;
  const push = await pushes.create({ payload: "hunter2", passphrase: "open sesame", expireAfterViews: 1 }, stranger);
  const claim = (passphrase: string | undefined, client: string) =>
    pushes.claimView(
      push.urlToken,
      passphrase === undefined ? { counting: "everyone" } : { passphrase, counting: "everyone" },
      { ...stranger, client },
    );
  for (let round = 0; round < 10; round += 1) {
    expect(await claim(undefined, "a")).toMatchObject({ outcome: "passphrase_required" });
  }
  const guesses = await Promise.all(Array.from({ length: 8 }, () => claim("wrong", "a")));
  expect(guesses.filter((guess) => guess.outcome === "wrong_passphrase")).toHaveLength(5);
  expect(guesses.filter((guess) => guess.outcome === "too_many_attempts")).toHaveLength(3);
  expect(await claim("open sesame", "a")).toMatchObject({ outcome: "too_many_attempts" });
  expect(await claim("open sesame", "b")).toMatchObject({ outcome: "revealed", payload: "hunter2" });
});

test("an owner's look on a page is not counted, and the trail tells who came", async () => {
  await using world = await openTestHouse();
  const { pushes } = world.house;
  const owner = signedIn(7);
  const push = await pushes.create({ payload: "x", name: "VPN", note: "for Jo", expireAfterViews: 1 }, owner);
  expect(push).toMatchObject({ name: "VPN", note: "for Jo" });
  expect(await pushes.claimView(push.urlToken, { counting: "strangers" }, owner)).toMatchObject({
    outcome: "revealed",
  });
  expect(await pushes.claimView(push.urlToken, { counting: "strangers" }, stranger)).toMatchObject({
    outcome: "revealed",
  });
  expect(await pushes.claimView(push.urlToken, { counting: "strangers" }, stranger)).toMatchObject({ outcome: "gone" });
  const kinds = (await pushes.audit(push.urlToken, owner, 1)).map((entry) => entry.kind);
  expect(kinds).toEqual(["failed_view", "view", "owner_view", "creation"]);
  expect(await pushes.list(7, "expired", 1)).toMatchObject([{ urlToken: push.urlToken, name: "VPN", note: "for Jo" }]);
  expect(await pushes.list(7, "active", 1)).toEqual([]);
});
