import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../test/support/domain.ts";
import { changeRows, countRows } from "../../test/support/engine-database.ts";
import { type Run, recordRuns } from "../../test/support/postgres/recording.ts";
import { makeSweeper } from "../../test/support/sweeper.ts";
import { dayMs } from "../base/clock.ts";
import { createDomainDestination } from "../import/domain-destination.ts";
import { noRelated } from "../import/source-values.ts";
import { importedOptions } from "./push-options.ts";
import { createPushStore } from "./store/push-store.ts";

const owner = signedIn(7);

let nextSourceId = 1;

async function importLink(fixture: TestDomain, urlToken: string, ownerId: number | null = null) {
  const now = fixture.clock.now();
  const destination = createDomainDestination(fixture.domain, fixture.effects, "another server");
  nextSourceId += 1;
  return await destination.importPush({
    sourceId: nextSourceId,
    missingParts: [],
    related: noRelated,
    push: {
      urlToken,
      kind: "text",
      ownerId,
      name: "",
      note: "",
      open: { payload: `behind ${urlToken}`, passphrase: "", files: [] },
      end: null,
      expireAfterDays: 7,
      expireAfterViews: 2,
      views: 0,
      refusals: 0,
      ...importedOptions({ deletableByViewer: true, retrievalStep: false }),
      createdAt: now,
      updatedAt: now,
      trail: [],
    },
  });
}

const claim = ({ domain }: TestDomain, urlToken: string) => domain.pushes.claimView(urlToken, countEveryone, stranger);

/** The link with its last character, which is part of the encrypted id, or its first one replaced. */
const withOther = (urlToken: string, at: number) => {
  const other = urlToken.at(at) === "0" ? "1" : "0";
  return at === 0 ? other + urlToken.slice(1) : urlToken.slice(0, -1) + other;
};

test("an unknown id, a wrong check and a malformed url_token take the same statements and give the same answer", async () => {
  await using fixture = await openTestDomain();
  const { db, pushes, vault } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x" }, stranger);
  // Same id, another check.
  const { pushId } = vault.urlTokens.addressOf(urlToken);
  const links = {
    right: urlToken,
    unknownId: vault.urlTokens.make(pushId + 500, fixture.effects.random),
    wrongCheck: vault.urlTokens.make(pushId, fixture.effects.random),
    neighbour: withOther(urlToken, -1),
    otherRandom: withOther(urlToken, 0),
    malformed: "kHb8Lx_2-Qw",
    empty: "",
  };
  const texts: Record<string, readonly string[]> = {};
  for (const [name, link] of Object.entries(links)) {
    const runs: Run[] = [];
    const store = createPushStore(recordRuns(db, runs));
    const found = await store.findSealed(vault.urlTokens.addressOf(link), () => undefined);
    expect(found !== undefined, name).toBe(name === "right");
    texts[name] = runs.map(({ text }) => text);
  }
  const { right, unknownId, ...others } = texts;
  expect(right).toHaveLength(1);
  expect(unknownId).toHaveLength(2);
  for (const [name, runs] of Object.entries(others)) expect(runs, name).toEqual(unknownId);
  for (const link of Object.values(links).slice(1)) {
    expect(await claim(fixture, link)).toEqual({ outcome: "unknown" });
    expect(await pushes.find(link, owner)).toBeUndefined();
    await expect(pushes.expire(link, owner)).rejects.toMatchObject({ code: "not_found" });
  }
});

test.each([
  ["of another form", "kHb8Lx_2-Qw"],
  ["that looks like ours", "0123456789abcdefghjkmnpqrstvwxyz"],
])("an imported link %s opens its push, and is taken then", async (_, urlToken) => {
  await using fixture = await openTestDomain();
  expect(await importLink(fixture, urlToken)).toMatchObject({ outcome: "imported" });
  expect(await claim(fixture, urlToken)).toMatchObject({ outcome: "revealed", payload: `behind ${urlToken}` });
  expect(await importLink(fixture, urlToken)).toEqual({ outcome: "link_taken" });
});

test("a link of a push of this server is taken, and keeps opening that push", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await fixture.domain.pushes.create({ payload: "ours" }, stranger);
  expect(await importLink(fixture, urlToken)).toEqual({ outcome: "link_taken" });
  expect(await claim(fixture, urlToken)).toMatchObject({ payload: "ours" });
  expect(await countRows(fixture.domain.db, "imported_links")).toBe(0);
});

test("an imported link that is pointed at another push in the database opens nothing", async () => {
  await using fixture = await openTestDomain();
  await importLink(fixture, "an-imported-link");
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x" }, stranger);
  const { pushId } = fixture.domain.vault.urlTokens.addressOf(urlToken);
  await changeRows(fixture.domain.db, "UPDATE imported_links SET push_id = ?", pushId);
  expect(await claim(fixture, "an-imported-link")).toEqual({ outcome: "unknown" });
  expect(await claim(fixture, urlToken)).toMatchObject({ outcome: "revealed" });
});

test("an imported link that is moved with its check to another push is not an address at which its owner edits", async () => {
  await using fixture = await openTestDomain();
  const { db, pushes, vault } = fixture.domain;
  await importLink(fixture, "an-imported-link");
  const { urlToken } = await pushes.create({ payload: "mine", passphrase: "p" }, owner);
  const { pushId, check: ownCheck } = vault.urlTokens.addressOf(urlToken);
  const { check } = vault.urlTokens.addressOf("an-imported-link");
  await changeRows(db, "UPDATE imported_links SET push_id = ?", pushId);
  await changeRows(db, "UPDATE pushes SET link_check = ? WHERE id = ?", check, pushId);
  // It would seal the new payload under the moved link.
  const replacement = { payload: "y", passphrase: null };
  expect(await pushes.edit("an-imported-link", replacement, owner)).toEqual({ outcome: "unknown" });
  await changeRows(db, "UPDATE pushes SET link_check = ? WHERE id = ?", ownCheck, pushId);
  const claimed = await pushes.claimView(urlToken, { ...countEveryone, passphrase: "p" }, stranger);
  expect(claimed).toMatchObject({ outcome: "revealed", payload: "mine" });
});

test("an imported link is removed with its push", async () => {
  await using fixture = await openTestDomain();
  await importLink(fixture, "an-imported-link");
  fixture.clock.advance(7 * dayMs);
  expect(await claim(fixture, "an-imported-link")).toMatchObject({ outcome: "gone" });
  const links = () => countRows(fixture.domain.db, "imported_links");
  expect(await links()).toBe(1);
  fixture.clock.advance(31 * dayMs);
  await makeSweeper(fixture).sweep();
  expect(await links()).toBe(0);
});

test("owners find their imported links in their list", async () => {
  await using fixture = await openTestDomain();
  await importLink(fixture, "an-imported-link", 7);
  expect([...(await fixture.domain.pushes.list(7, "active", 1))].map((push) => push.urlToken)).toEqual([
    "an-imported-link",
  ]);
});

test("an imported push shows no sender", async () => {
  await using fixture = await openTestDomain();
  await importLink(fixture, "an-imported-link", 7);
  expect(await fixture.domain.pushes.find("an-imported-link", owner)).toMatchObject({ showsSender: false });
  expect(await claim(fixture, "an-imported-link")).toMatchObject({ outcome: "revealed", sender: null });
});
