import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { minuteMs } from "../../base/clock.ts";
import type { Actor } from "../pushes.ts";

const owner = signedIn(7);

async function earlierViews(
  { domain }: TestDomain,
  urlToken: string,
  idempotencyKey?: string,
  actor: Actor = stranger,
) {
  const request = {
    counting: "strangers",
    reserveAnswer: () => undefined,
    tellsLastView: true,
    idempotencyKey,
  } as const;
  const claimed = await domain.pushes.claimView(urlToken, request, actor);
  if (claimed.outcome !== "revealed") throw new Error(`The push was not revealed: ${claimed.outcome}.`);
  return claimed.earlierViews;
}

test.each([stranger, owner])(
  "a view tells how many were counted before it and when, up to the last one",
  async (creator) => {
    await using fixture = await openTestDomain();
    const { clock } = fixture;
    const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 3 }, creator);
    expect(await earlierViews(fixture, urlToken)).toEqual({ count: 0, lastAt: null });
    const firstAt = clock.now();
    clock.advance(minuteMs);
    expect(await earlierViews(fixture, urlToken, "the first key of a page")).toEqual({ count: 1, lastAt: firstAt });
    const secondAt = clock.now();
    clock.advance(minuteMs);
    expect(await earlierViews(fixture, urlToken)).toEqual({ count: 2, lastAt: secondAt });
  },
);

test("a repeated answer tells what the first one told", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 4 }, stranger);
  const firstAt = fixture.clock.now();
  await earlierViews(fixture, urlToken);
  fixture.clock.advance(1_000);
  const told = { count: 1, lastAt: firstAt };
  expect(await earlierViews(fixture, urlToken, "the first key of a page")).toEqual(told);
  fixture.clock.advance(1_000);
  await earlierViews(fixture, urlToken);
  await earlierViews(fixture, urlToken);
  expect(await earlierViews(fixture, urlToken, "the first key of a page")).toEqual(told);
});

test("views of the owner are not among them, and tell nothing", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x" }, owner);
  expect(await earlierViews(fixture, urlToken, undefined, owner)).toBeNull();
  expect(await earlierViews(fixture, urlToken)).toEqual({ count: 0, lastAt: null });
});

test("of concurrent views each tells another number", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 20 }, stranger);
  const keys = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? undefined : `a key of page ${index}`));
  const told = await Promise.all(keys.map((key) => earlierViews(fixture, urlToken, key)));
  expect(told.map((views) => views?.count).sort((a = 0, b = 0) => a - b)).toEqual([...keys.keys()]);
});
