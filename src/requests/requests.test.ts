import { ownerProofOf } from "@sealpush/age/key-check";
import { type LinkKey, makeLinkKey } from "@sealpush/age/link-key";
import { DamagedError, openFile } from "@sealpush/age/open";
import { sealText } from "@sealpush/age/seal";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  countEveryone,
  countStrangers,
  openTestDomain,
  signedIn,
  stranger,
  type TestDomain,
} from "../../test/support/domain.ts";
import { changeRows, countRows, readRows } from "../../test/support/engine-database.ts";
import { openAnswer } from "../../test/support/sealed-content.ts";
import { dayMs } from "../base/clock.ts";
import type { Actor } from "../pushes/pushes.ts";
import type { NewRequest } from "./requests.ts";

let fixture: TestDomain;
let key: LinkKey;
let owner: Actor;

beforeEach(async () => {
  fixture = await openTestDomain();
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  key = await makeLinkKey();
  const user = await fixture.domain.accounts.createUser({
    email: "owner@example.com",
    password: "a long enough password",
    admin: false,
  });
  owner = signedIn(user.id);
});

const wanted = (more: Partial<NewRequest> = {}): NewRequest => ({
  title: "Root password",
  note: "For the new server",
  wantsText: true,
  wantsFiles: false,
  answersMax: 1,
  expireAfterDays: 7,
  recipient: key.recipient,
  encryptionCheck: key.check,
  identitySealed: "",
  ownerProof: "",
  ...more,
});

const ask = (more: Partial<NewRequest> = {}) => fixture.domain.requests.create(wanted(more), owner);
const typed = (payload: string) => ({ payload, isSealed: false, files: undefined });
const answer = (urlToken: string, payload = "hunter2") =>
  fixture.domain.requests.answer(urlToken, typed(payload), stranger);

async function claimed(urlToken: string) {
  const claim = await fixture.domain.pushes.claimView(urlToken, countStrangers, owner);
  if (claim.outcome !== "revealed") throw new Error(claim.outcome);
  return claim;
}

/** Adds as many copies of the only request, closed or not, as rows alone. */
async function copyRequest(copies: number, isClosed: boolean): Promise<void> {
  await changeRows(
    fixture.domain.db,
    `INSERT INTO requests (id, owner_id, link_check, details_sealed, created_at, expires_at, closed_at, answers_max, answers)
     WITH RECURSIVE ids(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM ids WHERE number < ${copies})
     SELECT -number, owner_id, link_check, details_sealed, created_at, expires_at, ${isClosed ? "created_at" : "NULL"}, answers_max,
       answers FROM requests, ids`,
  );
}

async function* bytesOf(content: string) {
  yield Buffer.from(content);
}

test("an answer becomes a push of the owner that only the owner's key opens, once", async () => {
  const { requests, pushes } = fixture.domain;
  const { urlToken } = await ask();
  expect(await requests.find(urlToken)).toMatchObject({ title: "Root password", state: "open" });
  await answer(urlToken);

  const { request, answers } = await requests.findOwned(urlToken, owner);
  expect(request).toMatchObject({ state: "full", answers: 1 });
  expect(answers).toMatchObject([{ kind: "text", name: "Root password", expireAfterViews: 1, views: 0 }]);
  const pushToken = answers[0]?.urlToken ?? "";
  expect(await pushes.find(pushToken, stranger)).toMatchObject({
    endToEnd: { underPassphrase: false, check: key.check },
  });
  const { payload } = await claimed(pushToken);
  expect(await openAnswer(payload, key.identity, urlToken)).toEqual({ text: "hunter2", files: [] });
  expect(await pushes.claimView(pushToken, countEveryone, owner)).toMatchObject({ outcome: "gone" });
});

test("an owner has at most 100 requests that can be answered", async () => {
  const { requests } = fixture.domain;
  const first = await ask();
  await copyRequest(98, false);
  const last = await ask();
  await expect(ask()).rejects.toMatchObject({ code: "too_many_requests" });
  await answer(first.urlToken);
  await ask();
  await expect(ask()).rejects.toMatchObject({ code: "too_many_requests" });
  await requests.close(last.urlToken, owner);
  await ask();
  await expect(ask()).rejects.toMatchObject({ code: "too_many_requests" });
  fixture.clock.advance(7 * dayMs);
  await ask();
});

test("what was sealed before is kept as it is; anything else that claims to be is refused", async () => {
  const { requests } = fixture.domain;
  const { urlToken } = await ask({ answersMax: 2 });
  const sealed = await sealText("hunter2", key.recipient, "");
  await requests.answer(urlToken, { payload: sealed, isSealed: true, files: undefined }, stranger);
  const { answers } = await requests.findOwned(urlToken, owner);
  expect((await claimed(answers[0]?.urlToken ?? "")).payload).toBe(sealed);

  const plain = { ...typed("hunter2"), isSealed: true };
  await expect(requests.answer(urlToken, plain, stranger)).rejects.toMatchObject({ code: "invalid_fields" });
  expect((await requests.findOwned(urlToken, owner)).request.answers).toBe(1);
});

test("files are sealed while they arrive; their names are only in the sealed payload", async () => {
  const { requests, pushes } = fixture.domain;
  const { urlToken } = await ask({ wantsFiles: true });
  const files = await requests.beginUpload(urlToken, stranger);
  const file = { filename: "secret-name.txt", contentType: "text/plain", content: bytesOf("content of the file") };
  await files.addFile(file, false);
  await requests.answer(urlToken, { payload: "and a text", isSealed: false, files }, stranger);

  const { answers } = await requests.findOwned(urlToken, owner);
  const { payload, files: revealed } = await claimed(answers[0]?.urlToken ?? "");
  expect(revealed).toMatchObject([{ filename: "1.age" }]);
  const content = await openAnswer(payload, key.identity, urlToken);
  expect(content).toEqual({
    text: "and a text",
    files: [{ stored: "1.age", name: "secret-name.txt", type: "text/plain", size: 19, identity: expect.any(String) }],
  });
  const download = await pushes.openTicket(revealed[0]?.ticket ?? "", stranger);
  if (download === undefined) throw new Error("The ticket opens nothing.");
  const pieces: Uint8Array[] = [];
  for await (const piece of download.read({ start: 0, end: download.sizeBytes - 1 })) pieces.push(piece);
  const sealed = Buffer.concat(pieces);
  const opened = await openFile(new Blob([sealed]).stream(), content.files?.[0]?.identity ?? "", 19);
  expect(await new Response(opened).text()).toBe("content of the file");
  await expect(openFile(new Blob([sealed]).stream(), key.identity)).rejects.toThrow(DamagedError);
});

test("of many concurrent answers, no more are taken than the request may have", async () => {
  const { requests, db } = fixture.domain;
  const { urlToken } = await ask({ answersMax: 3 });
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => answer(urlToken)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  const { request, answers } = await requests.findOwned(urlToken, owner);
  expect(request).toMatchObject({ state: "full", answers: 3 });
  expect(answers).toHaveLength(3);
  expect(await countRows(db, "pushes")).toBe(3);
});

test("a closed and an expired request take no answer, and what was uploaded for it is abandoned", async () => {
  const { requests, db } = fixture.domain;
  const closed = await ask({ wantsFiles: true });
  const files = await requests.beginUpload(closed.urlToken, stranger);
  await files.addFile({ filename: "a", contentType: "", content: bytesOf("x") }, false);
  expect(await requests.close(closed.urlToken, owner)).toMatchObject({ state: "closed" });
  await expect(requests.answer(closed.urlToken, { ...typed(""), files }, stranger)).rejects.toMatchObject({
    fields: { request: ["takes no more answers."] },
  });
  expect(await countRows(db, "uploads")).toBe(0);

  const expired = await ask({ expireAfterDays: 1 });
  fixture.clock.advance(dayMs);
  expect(await requests.find(expired.urlToken)).toMatchObject({ state: "expired" });
  await expect(answer(expired.urlToken)).rejects.toMatchObject({ code: "invalid_fields" });
  expect(await countRows(db, "pushes")).toBe(0);
});

test("only what is wanted is taken", async () => {
  const { requests } = fixture.domain;
  const text = await ask();
  await expect(requests.beginUpload(text.urlToken, stranger)).rejects.toMatchObject({
    fields: { files: ["are not wanted by this request."] },
  });
  await expect(answer(text.urlToken, "")).rejects.toMatchObject({ fields: { payload: ["can't be blank."] } });
  const files = await ask({ wantsText: false, wantsFiles: true });
  await expect(answer(files.urlToken)).rejects.toMatchObject({
    fields: { payload: ["is not wanted: only files are."] },
  });
  await expect(answer(files.urlToken, "")).rejects.toMatchObject({ fields: { files: ["A file is wanted."] } });
});

test("nobody but its owner reads or closes a request, and a push's link opens none", async () => {
  const { requests, pushes } = fixture.domain;
  const { urlToken } = await ask();
  const other = signedIn((owner.user?.id ?? 0) + 1);
  await expect(requests.findOwned(urlToken, other)).rejects.toMatchObject({ code: "not_found" });
  await expect(requests.close(urlToken, other)).rejects.toMatchObject({ code: "not_found" });
  await expect(requests.delete(urlToken, other)).rejects.toMatchObject({ code: "not_found" });
  await expect(requests.findOwned(urlToken, stranger)).rejects.toMatchObject({ code: "not_authenticated" });
  await expect(requests.create(wanted(), stranger)).rejects.toMatchObject({ code: "not_authenticated" });
  expect(await requests.list(other, 1)).toEqual([]);
  expect(await requests.list(owner, 1)).toMatchObject([{ urlToken }]);
  const push = await pushes.create({ payload: "x" }, owner);
  expect(await requests.find(push.urlToken)).toBeUndefined();
  expect(await pushes.find(urlToken, owner)).toBeUndefined();
});

test("the sender is charged and recorded, not the owner", async () => {
  const { requests, pushes } = fixture.domain;
  const { urlToken } = await ask();
  await requests.answer(urlToken, typed("hunter2"), { ...stranger, address: "198.51.100.7" });
  const { answers } = await requests.findOwned(urlToken, owner);
  const trail = await pushes.trail(answers[0]?.urlToken ?? "", owner, 1);
  expect(trail?.events).toMatchObject([{ kind: "creation", by: "holder", userId: null, address: "198.51.100.7" }]);
});

test("the bytes of an answer are those of a client without an account", async () => {
  await using limited = await openTestDomain({ environment: { PWP__CLIENT_BYTES_PER_DAY: "1000" } });
  const { accounts, requests } = limited.domain;
  const user = await accounts.createUser({ email: "a@example.com", password: "a long enough password", admin: false });
  const { urlToken } = await requests.create(wanted(), signedIn(user.id));
  await expect(requests.answer(urlToken, typed("x".repeat(1_000)), stranger)).rejects.toMatchObject({
    code: "bytes_used_up",
  });
  await requests.answer(urlToken, typed("x".repeat(100)), stranger);
});

test("a recipient, an owner or a link that was changed in the database makes the request unknown, and is reported", async () => {
  const { requests, db } = fixture.domain;
  const one = await ask();
  const two = await ask({ recipient: (await makeLinkKey()).recipient });
  const rows = await readRows<{ details_sealed: Buffer }>(db, "SELECT details_sealed FROM requests ORDER BY id");
  await changeRows(db, "UPDATE requests SET details_sealed = ?", rows[1]?.details_sealed ?? null);
  await expect(answer(one.urlToken)).rejects.toMatchObject({ code: "not_found" });
  expect(await requests.find(two.urlToken)).toBeDefined();
  expect(fixture.logLines.join("")).toContain('"table":"requests"');
  const other = await fixture.domain.accounts.createUser({
    email: "b@example.com",
    password: "a long enough password",
    admin: false,
  });
  await changeRows(db, "UPDATE requests SET owner_id = ?", other.id);
  expect(await requests.find(two.urlToken)).toBeUndefined();
  expect(await requests.list(signedIn(other.id), 1)).toEqual([]);
});

test("requests end with their account, and nobody answers one of a disabled account", async () => {
  const { requests, accounts, deleteAccount, db } = fixture.domain;
  const { urlToken } = await ask();
  const by = { userId: null, email: "shell", address: "" };
  const ownerId = owner.user?.id ?? 0;
  await accounts.setDisabled(ownerId, true, by);
  await expect(answer(urlToken)).rejects.toMatchObject({ code: "not_found" });
  expect(await requests.find(urlToken)).toBeUndefined();
  await accounts.setDisabled(ownerId, false, by);
  await answer(urlToken);
  await deleteAccount(ownerId, null);
  expect(await countRows(db, "requests")).toBe(0);
  expect(await countRows(db, "request_answers")).toBe(0);
});

test("of the answers that arrive while a request is deleted, none is left", async () => {
  const { requests, pushes, db } = fixture.domain;
  const { urlToken } = await ask({ answersMax: 20 });
  await answer(urlToken);
  const answers = Array.from({ length: 6 }, () => answer(urlToken));
  const removal = requests.delete(urlToken, owner);
  const later = Array.from({ length: 6 }, () => answer(urlToken));
  await Promise.allSettled([...answers, removal, ...later]);
  await removal;
  expect(await countRows(db, "requests")).toBe(0);
  expect(await countRows(db, "request_answers")).toBe(0);
  const left = await pushes.list(owner.user?.id ?? 0, "active", 1);
  expect([...left]).toEqual([]);
});

test("an answer that arrives while the answers of a deleted request end is refused", async () => {
  const { requests, store } = fixture.domain;
  const { urlToken } = await ask({ answersMax: 2 });
  await answer(urlToken);
  const { byIds } = store.lists;
  const late = Promise.withResolvers<unknown>();
  vi.spyOn(store.lists, "byIds").mockImplementationOnce(async (ids) => {
    await answer(urlToken).catch(late.resolve);
    return await byIds(ids);
  });
  await requests.delete(urlToken, owner);
  expect(await late.promise).toMatchObject({ code: "invalid_fields" });
});

test("an export has every request of its owner, newest first", async () => {
  const { requests } = fixture.domain;
  for (let made = 0; made < 60; made += 1) {
    if (made % 2 === 0) fixture.clock.advance(1);
    const { urlToken } = await ask({ title: `${made}` });
    await requests.close(urlToken, owner);
  }
  const ownerId = owner.user?.id ?? 0;
  const listed = [...(await requests.list(owner, 1)), ...(await requests.list(owner, 2))];
  const exported = [];
  for await (const request of requests.exportOwned(ownerId)) exported.push(request);
  expect(exported).toHaveLength(60);
  expect(exported).toEqual(listed);
  expect((await requests.exportOwned(ownerId + 1).next()).done).toBe(true);
});

test("an old request is removed when its answers must have ended, and one account has a limited number of open ones", async () => {
  const { requests, db } = fixture.domain;
  await ask({ expireAfterDays: 1 });
  fixture.clock.advance(91 * dayMs);
  expect(await requests.removeOld(10)).toBe(0);
  fixture.clock.advance(1);
  expect(await requests.removeOld(10)).toBe(1);
  expect(await countRows(db, "requests")).toBe(0);
  for (let made = 0; made < 99; made += 1) await ask();
  const last = await Promise.allSettled([ask(), ask(), ask()]);
  expect(last.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a request stays while one of its answers can be opened, also if the settings have become shorter since", async () => {
  const { dataDir, clock } = fixture;
  const { urlToken } = await ask({ expireAfterDays: 7 });
  clock.advance(6 * dayMs);
  await answer(urlToken);
  const shorter = Object.fromEntries(
    ["PW", "FILES"].flatMap((kind) => [
      [`PWP__${kind}__EXPIRE_AFTER_DAYS_DEFAULT`, "1"],
      [`PWP__${kind}__EXPIRE_AFTER_DAYS_MAX`, "1"],
    ]),
  );
  await using later = await openTestDomain({ dataDir, clock, environment: shorter });
  const { requests, store } = later.domain;
  clock.advance(3 * dayMs);
  expect(await requests.removeOld(10)).toBe(0);
  const [answered] = (await requests.findOwned(urlToken, owner)).answers;
  expect(answered).toMatchObject({ expired: false });
  clock.advance(7 * dayMs);
  await store.upkeep.endDue(clock.now(), 10, 0);
  expect(await requests.removeOld(10)).toBe(1);
});

test("each wrong field is named", async () => {
  const sealed = await sealText("x", key.recipient, "");
  const all = wanted({
    title: " ",
    note: "x".repeat(4_097),
    wantsText: false,
    answersMax: 0,
    expireAfterDays: 91,
    recipient: `${key.recipient.slice(0, -1)}${key.recipient.endsWith("q") ? "p" : "q"}`,
    encryptionCheck: "x",
    identitySealed: sealed,
  });
  await expect(fixture.domain.requests.create(all, owner)).rejects.toMatchObject({
    fields: {
      title: ["can't be blank."],
      note: ["may have at most 4096 characters."],
      wantsText: ["must be true if no files are wanted."],
      answersMax: ["must be between 1 and 100."],
      expireAfterDays: ["must be between 1 and 90."],
      recipient: ["must be an age recipient (age1...)."],
      encryptionCheck: ["must be 32 hexadecimal digits in lower case."],
      identitySealed: ["must be an armored age file under a passphrase."],
    },
  });
});

describe("without an account", () => {
  let proof: string;
  beforeEach(async () => {
    proof = await ownerProofOf(key.identity);
  });

  async function openWith(environment: Readonly<Record<string, string>>): Promise<void> {
    fixture = await openTestDomain({ environment });
    const opened = fixture;
    onTestFinished(() => opened[Symbol.asyncDispose]());
  }
  const allowed = { PWP__REQUESTS__ALLOW_ANONYMOUS: "true" };
  const askWithout = (more: Partial<NewRequest> = {}, actor = stranger) =>
    fixture.domain.requests.create(wanted({ ownerProof: proof, ...more }), actor);

  test("a request is refused unless the operator allows it, as anonymous pushes", async () => {
    await expect(askWithout()).rejects.toMatchObject({ code: "not_authenticated" });
    await openWith({ ...allowed, PWP__ALLOW_ANONYMOUS: "false" });
    await expect(askWithout()).rejects.toMatchObject({ code: "not_authenticated" });
  });

  test("only the proof leads to the answers, which are pushes without an owner", async () => {
    await openWith(allowed);
    const { requests, pushes, db } = fixture.domain;
    const { urlToken, isAnonymous } = await askWithout({ answersMax: 2 });
    expect(isAnonymous).toBe(true);
    await answer(urlToken);
    const wrongProof = proof.replace(/^./, proof.startsWith("0") ? "1" : "0");
    const refused = { code: "not_found" };
    for (const wrong of [wrongProof, "x", key.check, proof.toUpperCase()]) {
      expect(await requests.isProven(urlToken, wrong)).toBe(false);
      await expect(requests.findOwned(urlToken, stranger, wrong)).rejects.toMatchObject(refused);
      await expect(requests.close(urlToken, stranger, wrong)).rejects.toMatchObject(refused);
      await expect(requests.delete(urlToken, stranger, wrong)).rejects.toMatchObject(refused);
    }
    await expect(requests.findOwned(urlToken, stranger)).rejects.toMatchObject({ code: "not_authenticated" });
    await expect(requests.findOwned(urlToken, signedIn(1))).rejects.toMatchObject(refused);

    // The proof also counts in a session.
    const { request, answers } = await requests.findOwned(urlToken, signedIn(1), proof);
    expect(request).toMatchObject({ state: "open", answers: 1 });
    expect(answers).toMatchObject([{ ownerId: null, name: null, isAnswer: true, expireAfterViews: 1 }]);
    const pushToken = answers[0]?.urlToken ?? "";
    const claim = await pushes.claimView(pushToken, countStrangers, stranger);
    expect(claim.outcome === "revealed" && (await openAnswer(claim.payload, key.identity, urlToken))).toEqual({
      text: "hunter2",
      files: [],
    });
    expect((await requests.findOwned(urlToken, stranger, proof)).answers).toMatchObject([{ expired: true, views: 1 }]);
    expect(await pushes.list(1, "expired", 1)).toEqual(expect.objectContaining({ labelBytes: 0 }));
    expect(await countRows(db, "pushes")).toBe(1);
  });

  test("the proof closes a request and deletes it with its answers", async () => {
    await openWith(allowed);
    const { requests, pushes } = fixture.domain;
    const { urlToken } = await askWithout({ answersMax: 2 });
    await answer(urlToken);
    expect(await requests.close(urlToken, stranger, proof)).toMatchObject({ state: "closed", answers: 1 });
    await expect(answer(urlToken)).rejects.toMatchObject({ code: "invalid_fields" });
    const { answers } = await requests.findOwned(urlToken, stranger, proof);
    expect(await requests.delete(urlToken, stranger, proof)).toEqual({ isAnonymous: true });
    expect(await requests.find(urlToken)).toBeUndefined();
    expect(await requests.isProven(urlToken, proof)).toBe(false);
    expect(await pushes.find(answers[0]?.urlToken ?? "", stranger)).toMatchObject({ expired: true, deleted: true });
  });

  test("the proof of one request opens no other, and an owned one has none", async () => {
    await openWith(allowed);
    const { requests } = fixture.domain;
    const own = await askWithout();
    const other = await askWithout({ ownerProof: await ownerProofOf((await makeLinkKey()).identity) });
    expect(await requests.isProven(own.urlToken, proof)).toBe(true);
    expect(await requests.isProven(other.urlToken, proof)).toBe(false);
    const user = await fixture.domain.accounts.createUser({
      email: "owner@example.com",
      password: "a long enough password",
      admin: false,
    });
    const owned = await askWithout({}, signedIn(user.id));
    expect(owned.isAnonymous).toBe(false);
    await expect(requests.findOwned(owned.urlToken, stranger, proof)).rejects.toMatchObject({ code: "not_found" });
  });

  test("what only an account may have is refused, and a missing proof is", async () => {
    await openWith(allowed);
    await expect(askWithout({ identitySealed: "x", wantsFiles: true, ownerProof: "x" })).rejects.toMatchObject({
      code: "invalid_fields",
      fields: {
        wantsFiles: ["Files need an API token or a signed-in user."],
        identitySealed: ["needs an API token or a signed-in user."],
        ownerProof: ["must be 64 hexadecimal digits in lower case, without an API token or a signed-in user."],
      },
    });
    await openWith({ ...allowed, PWP__FILES__ALLOW_ANONYMOUS: "true" });
    const { urlToken } = await askWithout({ wantsFiles: true });
    await fixture.domain.requests.beginUpload(urlToken, stranger);
  });

  test("one client makes 20 a day, and a network that one person may have not many more", async () => {
    await openWith(allowed);
    const from = (client: string) => askWithout({}, { ...stranger, client });
    for (let made = 0; made < 20; made += 1) await from("192.0.2.1");
    await expect(from("192.0.2.1")).rejects.toMatchObject({ code: "too_many_requests" });
    for (let made = 0; made < 40; made += 1) await from(`2001:db8:1:${(made * 256).toString(16)}::/64`);
    await expect(from("2001:db8:1:ffff::/64")).rejects.toMatchObject({ code: "too_many_requests" });
    await from("2001:db8:2:0::/64");
    fixture.clock.advance(dayMs);
    await from("192.0.2.1");
  });

  test("all of them together are bounded, also those that take no more answers, and the time removes them", async () => {
    await openWith(allowed);
    const { requests } = fixture.domain;
    await askWithout();
    await copyRequest(9_998, true);
    await askWithout();
    await expect(askWithout()).rejects.toMatchObject({ code: "too_many_requests" });
    fixture.clock.advance((7 + 90) * dayMs + 1);
    expect(await requests.removeOld(2)).toBe(2);
    await askWithout({}, { ...stranger, client: "192.0.2.9" });
  });

  test("an answer is charged to its sender and counts as an anonymous push", async () => {
    await openWith({ ...allowed, PWP__CLIENT_BYTES_PER_DAY: "1000" });
    const { urlToken } = await askWithout({ answersMax: 2 });
    await expect(answer(urlToken, "x".repeat(2_000))).rejects.toMatchObject({ code: "bytes_used_up" });
    expect((await fixture.domain.requests.findOwned(urlToken, stranger, proof)).request.answers).toBe(0);
    await openWith({ ...allowed, PWP__ANONYMOUS_BYTES_MAX: "1000" });
    const other = await askWithout();
    await expect(answer(other.urlToken, "x".repeat(2_000))).rejects.toMatchObject({ code: "unavailable" });
  });

  test("nothing of it is left where the operator has switched it off", async () => {
    await openWith(allowed);
    const { dataDir, clock } = fixture;
    const { urlToken } = await askWithout();
    await answer(urlToken);
    await using off = await openTestDomain({ dataDir, clock });
    const { requests } = off.domain;
    expect(await requests.find(urlToken)).toBeUndefined();
    expect(await requests.isProven(urlToken, proof)).toBe(false);
    await expect(requests.findOwned(urlToken, signedIn(1), proof)).rejects.toMatchObject({ code: "not_found" });
    await expect(requests.answer(urlToken, typed("x"), stranger)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a proof that was put in its place in the database opens nothing", async () => {
    await openWith(allowed);
    const { requests, db } = fixture.domain;
    const { urlToken } = await askWithout();
    const otherProof = await ownerProofOf((await makeLinkKey()).identity);
    const other = await askWithout({ ownerProof: otherProof });
    const [row] = await readRows<{ sealed: Buffer }>(
      db,
      "SELECT details_sealed AS sealed FROM requests ORDER BY id DESC LIMIT 1",
    );
    await changeRows(db, "UPDATE requests SET details_sealed = ?", row?.sealed ?? Buffer.alloc(0));
    expect(await requests.isProven(other.urlToken, otherProof)).toBe(true);
    expect(await requests.isProven(urlToken, otherProof)).toBe(false);
  });
});
