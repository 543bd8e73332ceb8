import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../test/support/domain.ts";
import { makeFile, pushFiles } from "../../test/support/files.ts";
import { pushDepsOf } from "../../test/support/push-deps.ts";
import { sql } from "../database/statement.ts";
import { createPushes } from "./pushes.ts";
import { createStoredLinkKeys } from "./stored-link-keys.ts";

const owner = signedIn(7);

/** What another process has: it remembers its own keys. */
function otherProcess(fixture: TestDomain) {
  const { db, keyring } = fixture.domain;
  const storedLinkKeys = createStoredLinkKeys({ db, keyring, random: fixture.effects.random });
  return { storedLinkKeys, pushes: createPushes(pushDepsOf(fixture, { storedLinkKeys })) };
}

function replaceSecret({ domain: { db, storedLinkKeys } }: TestDomain): Promise<void> {
  return db.write((tx) => storedLinkKeys.destroy(tx, 7));
}

async function listedLinks({ domain: { pushes } }: TestDomain): Promise<(string | null)[]> {
  return [...(await pushes.list(7, "active", 1))].map(({ urlToken }) => urlToken);
}

test("after the link secret is replaced, the owner's lists have lost the links, and the links still open", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "hunter2", name: "VPN" }, owner);
  await pushes.create({ payload: "hunter3" }, signedIn(8));
  expect(await listedLinks(fixture)).toEqual([urlToken]);
  await replaceSecret(fixture);
  expect([...(await pushes.list(7, "active", 1))]).toMatchObject([{ urlToken: null, name: "VPN" }]);
  expect(
    (await pushes.search(7, { state: "all", kind: null, text: "", order: "newest", page: 1 })).pushes,
  ).toMatchObject([{ urlToken: null }]);
  for await (const { push } of pushes.exportOwned(7)) expect(push.urlToken).toBeNull();
  expect([...(await pushes.list(8, "active", 1))]).toMatchObject([{ urlToken: expect.stringMatching(/^\w{32}$/) }]);
  // The link still proves that the push is its owner's.
  expect(await pushes.find(urlToken, owner)).toMatchObject({ name: "VPN" });
  expect(await pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({ payload: "hunter2" });
});

test("what a process seals under a replaced secret is sealed again, with files and without", async () => {
  await using fixture = await openTestDomain();
  const other = otherProcess(fixture);
  await other.pushes.create({ payload: "first" }, owner);
  await replaceSecret(fixture);
  const { urlToken: text } = await other.pushes.create({ payload: "second" }, owner);
  await replaceSecret(fixture);
  const { urlToken: file } = await pushFiles(other.pushes, owner, [makeFile("plan.txt", "the plan")]);
  await replaceSecret(fixture);
  const { urlToken: last } = await other.pushes.create(
    { payload: "last" },
    { ...owner, answersRequest: { maxMinutes: null } },
  );
  const found = (await listedLinks(fixture)).filter((link) => link !== null);
  expect(found).toEqual([last]);
  expect(await fixture.domain.pushes.find(text, owner)).toMatchObject({ kind: "text" });
  expect(await fixture.domain.pushes.find(file, owner)).toMatchObject({ kind: "file" });
});

test("two processes that store the first link of an account draw one secret", async () => {
  await using fixture = await openTestDomain();
  const other = otherProcess(fixture);
  const made = await Promise.all([
    fixture.domain.pushes.create({ payload: "here" }, owner),
    other.pushes.create({ payload: "there" }, owner),
  ]);
  expect((await listedLinks(fixture)).sort()).toEqual(made.map(({ urlToken }) => urlToken).sort());
});

test("concurrent first links of an account in one process draw one secret, and write no other", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const made = await Promise.all(Array.from({ length: 20 }, () => pushes.create({ payload: "x" }, owner)));
  expect((await listedLinks(fixture)).sort()).toEqual(made.map(({ urlToken }) => urlToken).sort());
  expect(await db.read.all(sql<[], { id: number }>("SELECT id FROM link_secrets"))).toHaveLength(1);
});

test("a repetition of a creation whose link is not stored any more is refused", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const request = { payload: "x", idempotencyKey: "a-random-key-of-the-client" };
  const { urlToken } = await pushes.create(request, owner);
  expect(await pushes.create(request, owner)).toMatchObject({ urlToken, repeated: true });
  await replaceSecret(fixture);
  await expect(pushes.create(request, owner)).rejects.toMatchObject({
    fields: { idempotencyKey: [expect.stringContaining("was used")] },
  });
});

test("without stored links, lists show none, and the link alone is enough for its owner", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__KEEP_LINKS: "false" } });
  const { pushes } = fixture.domain;
  const request = { payload: "x", idempotencyKey: "a-random-key-of-the-client" };
  const { urlToken } = await pushes.create(request, owner);
  expect(await fixture.domain.storedLinkKeys.find(7)).toBeUndefined();
  expect(await listedLinks(fixture)).toEqual([null]);
  await expect(pushes.create(request, owner)).rejects.toMatchObject({
    fields: { idempotencyKey: [expect.stringContaining("was used")] },
  });
  expect(await pushes.findEditable(urlToken, signedIn(8))).toBeUndefined();
  expect(await pushes.findEditable(urlToken, owner)).toMatchObject({ push: { urlToken } });
  const [listed] = [...(await pushes.list(7, "active", 1))];
  await pushes.endByIds(8, [listed?.id ?? 0], signedIn(8));
  expect(await listedLinks(fixture)).toEqual([null]);
  await pushes.endByIds(7, [listed?.id ?? 0], owner);
  expect(await listedLinks(fixture)).toEqual([]);
});
