import { findLock } from "@sealpush/age/age-header";
import { makeLinkKey } from "@sealpush/age/link-key";
import { openText } from "@sealpush/age/open";
import { expect, test } from "vitest";
import { sealInSlices } from "./seal-answer.ts";

const slice = 64 * 1024;

test.each([0, 1, 47, 48, slice - 1, slice, slice + 1, 200_000])(
  "a text of %d characters opens as it was",
  async (characters) => {
    const { recipient, identity } = await makeLinkKey();
    const text = "0123456789\r\né".repeat(characters).slice(0, characters);
    const sealed = await sealInSlices(text, recipient, async () => undefined);
    expect(findLock(sealed)).toBe("identity");
    expect(await openText(sealed, identity, "")).toBe(text);
  },
);

test("the event loop has a turn before each slice of 64 KiB, and one before the caller goes on", async () => {
  const { recipient } = await makeLinkKey();
  let turns = 0;
  await sealInSlices("😀".repeat(1024 * 1024), recipient, async () => {
    turns += 1;
  });
  expect(turns).toBe(65);
});
