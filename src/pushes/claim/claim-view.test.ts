import { expect, test } from "vitest";
import {
  countEveryone,
  countStrangers,
  openTestDomain,
  signedIn,
  stranger,
  type TestDomain,
} from "../../../test/support/domain.ts";
import { changeRows, countRows, readRows } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { refuseWrites } from "../../../test/support/refused-writes.ts";
import { dayMs, minuteMs } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Actor } from "../actor.ts";
import { createOperations } from "../create/create.ts";
import { listFiles } from "../seals.ts";
import { claimOperations } from "./claim-view.ts";

test("a text push can be viewed exactly as often as allowed, then it is gone", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const push = await pushes.create({ payload: "hunter2", expireAfterViews: 2 }, stranger);
  const first = await pushes.claimView(push.urlToken, countEveryone, stranger);
  expect(first).toMatchObject({ outcome: "revealed", payload: "hunter2", push: { viewsRemaining: 1, expired: false } });
  const last = await pushes.claimView(push.urlToken, countEveryone, stranger);
  expect(last).toMatchObject({ outcome: "revealed", payload: "hunter2", push: { viewsRemaining: 0, expired: false } });
  const late = await pushes.claimView(push.urlToken, countEveryone, stranger);
  expect(late).toMatchObject({ outcome: "gone", push: { expired: true, deleted: false } });
});

test("of 50 concurrent retrievals of a push with 5 views, 5 succeed", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const push = await pushes.create({ payload: "hunter2", expireAfterViews: 5 }, stranger);
  const asked = Array.from({ length: 50 }, () => pushes.claimView(push.urlToken, countEveryone, stranger));
  const outcomes = (await Promise.all(asked)).map((claim) => claim.outcome);
  expect(outcomes.filter((outcome) => outcome === "revealed")).toHaveLength(5);
  expect(outcomes.filter((outcome) => outcome === "gone")).toHaveLength(45);
});

test("a missing passphrase is free, five wrong ones block only that client, the correct one opens the push", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const push = await pushes.create({ payload: "hunter2", passphrase: "open sesame", expireAfterViews: 1 }, stranger);
  const claim = (passphrase: string | undefined, client: string) =>
    pushes.claimView(push.urlToken, passphrase === undefined ? countEveryone : { passphrase, ...countEveryone }, {
      ...stranger,
      client,
    });
  for (let round = 0; round < 10; round += 1) {
    expect(await claim(undefined, "a")).toMatchObject({ outcome: "passphrase_required" });
  }
  const guesses = await Promise.all(Array.from({ length: 8 }, () => claim("wrong", "a")));
  expect(guesses.filter((guess) => guess.outcome === "wrong_passphrase")).toHaveLength(5);
  expect(guesses.filter((guess) => guess.outcome === "too_many_attempts")).toHaveLength(3);
  expect(await claim("open sesame", "a")).toMatchObject({ outcome: "too_many_attempts" });
  expect(await claim("open sesame", "b")).toMatchObject({ outcome: "revealed", payload: "hunter2" });
});

test("an owner's view on a page is not counted, and the trail names the owner", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const owner = signedIn(7);
  const push = await pushes.create({ payload: "x", name: "VPN", note: "for Jo", expireAfterViews: 1 }, owner);
  expect(push).toMatchObject({ name: "VPN", note: "for Jo" });
  expect(await pushes.claimView(push.urlToken, countStrangers, owner)).toMatchObject({
    outcome: "revealed",
  });
  expect(await pushes.claimView(push.urlToken, countStrangers, stranger)).toMatchObject({
    outcome: "revealed",
  });
  expect(await pushes.claimView(push.urlToken, countStrangers, stranger)).toMatchObject({ outcome: "gone" });
  const kinds = (await pushes.audit(push.urlToken, owner, 1)).map((entry) => entry.kind);
  expect(kinds).toEqual(["creation", "owner_view", "view", "failed_view"]);
  expect([...(await pushes.list(7, "expired", 1))]).toMatchObject([
    { urlToken: push.urlToken, name: "VPN", note: "for Jo" },
  ]);
  expect([...(await pushes.list(7, "active", 1))]).toEqual([]);
});

const retrieve = (fixture: TestDomain, urlToken: string, actor = stranger) =>
  fixture.domain.pushes.claimView(urlToken, countEveryone, actor);

test("a push expires exactly on time: the refusal ends it and destroys the secret", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const push = await pushes.create({ payload: "x", expireAfterMs: 15 * minuteMs, expireAfterViews: 3 }, stranger);
  fixture.clock.advance(15 * minuteMs - 1);
  expect(await retrieve(fixture, push.urlToken)).toMatchObject({ outcome: "revealed" });
  expect(await countRows(db, "payloads")).toBe(1);
  fixture.clock.advance(1);
  expect(await retrieve(fixture, push.urlToken)).toMatchObject({
    outcome: "gone",
    push: { expired: true, deleted: false, expiredOn: push.expiresAt, viewsRemaining: 1 },
  });
  expect(await countRows(db, "payloads")).toBe(0);
  const [left] = await readRows<{ sealed: Buffer }>(db, "SELECT sealed FROM row_secrets");
  expect(left === undefined || left.sealed.equals(Buffer.alloc(left.sealed.length))).toBe(true);
  // Setting the clock back afterwards restores nothing.
  fixture.clock.advance(-10 * minuteMs);
  expect(await retrieve(fixture, push.urlToken)).toMatchObject({ outcome: "gone" });
});

test("a stranger who repeats a refused retrieval of a tombstone writes to it only while that changes the answer", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const refused = async (actor: Actor) => {
    const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 2 }, actor);
    fixture.clock.advance(8 * dayMs);
    for (let at = 0; at < 5; at += 1) await retrieve(fixture, urlToken);
    return await readRows(
      db,
      "SELECT refusals, audit_count AS events, creator_address AS creator FROM pushes ORDER BY id DESC LIMIT 1",
    );
  };
  // Events besides the creation.
  expect(await refused(stranger)).toEqual([{ refusals: 2, events: 3, creator: null }]);
  expect(await refused(signedIn(7))).toEqual([{ refusals: 2, events: 6, creator: null }]);
});

test("an owner's views count on the API, and do not count where counting is for strangers", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const owner = signedIn(7);
  const admin = signedIn(9, true);
  const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 2 }, owner);
  for (const actor of [owner, admin]) {
    expect(await pushes.claimView(urlToken, countStrangers, actor)).toMatchObject({
      outcome: "revealed",
      push: { viewsRemaining: 2 },
    });
  }
  expect(await retrieve(fixture, urlToken, owner)).toMatchObject({ outcome: "revealed", push: { viewsRemaining: 1 } });
  expect(await retrieve(fixture, urlToken, admin)).toMatchObject({ outcome: "revealed", push: { viewsRemaining: 0 } });
  expect(await pushes.claimView(urlToken, countStrangers, owner)).toMatchObject({ outcome: "gone" });
  const kinds = (await pushes.audit(urlToken, owner, 1)).map((entry) => entry.kind);
  expect(kinds.sort()).toEqual(["admin_view", "creation", "failed_view", "owner_view", "view", "view"]);
});

test("a user who does not own the push is a stranger; for an anonymous push every user is", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const owned = await pushes.create({ payload: "x", expireAfterViews: 1 }, signedIn(7));
  const anonymous = await pushes.create({ payload: "x", expireAfterViews: 1 }, stranger);
  for (const { urlToken } of [owned, anonymous]) {
    expect(await pushes.claimView(urlToken, countStrangers, signedIn(8))).toMatchObject({
      push: { viewsRemaining: 0 },
    });
    expect(await pushes.claimView(urlToken, countStrangers, signedIn(7))).toMatchObject({ outcome: "gone" });
  }
});

test("a claim that cannot be written is not answered with the secret, and costs no view", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 1 }, stranger);
  const takeWrites = await refuseWrites(db);
  await expect(retrieve(fixture, urlToken)).rejects.toMatchObject({ code: "unavailable" });
  await takeWrites();
  expect(await retrieve(fixture, urlToken)).toMatchObject({ outcome: "revealed", push: { viewsRemaining: 0 } });
});

test("a client that has gone while its passphrase and files were checked uses no view", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const owner = signedIn(7);
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a.txt", "a")], { expireAfterViews: 1 });
  const gone = new Error("The client has gone.");
  const reserved: number[] = [];
  const reserveAnswer = (bytes: number) => {
    reserved.push(bytes);
    if (reserved.length === 2) throw gone;
  };
  await expect(pushes.claimView(urlToken, { ...countEveryone, reserveAnswer }, stranger)).rejects.toBe(gone);
  // The second time with the names and addresses of the files.
  expect(reserved[1]).toBeGreaterThan(reserved[0] ?? 0);
  expect(await pushes.find(urlToken, owner)).toMatchObject({ views: 0, expired: false });
  expect(await retrieve(fixture, urlToken)).toMatchObject({ outcome: "revealed" });
});

test("a wrong passphrase that cannot be recorded is an error, and stays charged", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x", passphrase: "open sesame" }, stranger);
  const guess = () => pushes.claimView(urlToken, { passphrase: "wrong", ...countEveryone }, stranger);
  const takeWrites = await refuseWrites(db);
  for (let asked = 0; asked < 5; asked += 1) await expect(guess()).rejects.toMatchObject({ code: "unavailable" });
  expect(await guess()).toMatchObject({ outcome: "too_many_attempts" });
  await takeWrites();
});

test("a passphrase that could not be tried is not charged", async () => {
  await using fixture = await openTestDomain();
  const full = new AppError("unavailable", "Too many.", { retryAfterSeconds: 1 });
  let refuses = true;
  const { argon2 } = pushDepsOf(fixture);
  const deps = pushDepsOf(fixture, {
    argon2: {
      ...argon2,
      deriveKey: (...given) => (refuses ? Promise.reject(full) : argon2.deriveKey(...given)),
    },
  });
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x", passphrase: "open sesame" }, stranger);
  const ask = () =>
    claimOperations(deps).claimView(urlToken, { passphrase: "open sesame", ...countEveryone }, stranger);
  for (let asked = 0; asked < 20; asked += 1) await expect(ask()).rejects.toBe(full);
  refuses = false;
  expect(await ask()).toMatchObject({ outcome: "revealed" });
});

test("a passphrase that an older version stored decomposed opens as it was typed, for one attempt", async () => {
  await using fixture = await openTestDomain();
  const { argon2 } = pushDepsOf(fixture);
  const typed = "pässphräse".normalize("NFD");
  const older = pushDepsOf(fixture, {
    argon2: { ...argon2, deriveKey: (_, ...rest) => argon2.deriveKey(typed, ...rest) },
  });
  const { urlToken } = await createOperations(older).create({ payload: "x", passphrase: typed }, stranger);
  for (let wrong = 0; wrong < 4; wrong += 1) {
    const answer = await fixture.domain.pushes.claimView(
      urlToken,
      { passphrase: `${typed}!`, ...countEveryone },
      stranger,
    );
    expect(answer.outcome).toBe("wrong_passphrase");
  }
  const opened = await fixture.domain.pushes.claimView(urlToken, { passphrase: typed, ...countEveryone }, stranger);
  expect(opened.outcome).toBe("revealed");
});

test("a push that expires while its passphrase waits in the queue is gone", async () => {
  await using fixture = await openTestDomain();
  const { argon2 } = pushDepsOf(fixture);
  const deps = pushDepsOf(fixture, {
    argon2: {
      ...argon2,
      async deriveKey(...given) {
        fixture.clock.advance(minuteMs);
        return await argon2.deriveKey(...given);
      },
    },
  });
  const request = { payload: "x", passphrase: "open sesame", expireAfterMs: minuteMs };
  const { urlToken } = await fixture.domain.pushes.create(request, stranger);
  const claimed = await claimOperations(deps).claimView(
    urlToken,
    { passphrase: "open sesame", ...countEveryone },
    stranger,
  );
  expect(claimed).toMatchObject({ outcome: "gone", push: { expired: true } });
});

test("a push that is resealed between read and write is read again", async () => {
  await using fixture = await openTestDomain();
  const { store, db } = fixture.domain;
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 1 }, stranger);
  let claims = 0;
  const raise = (by: number) => changeRows(db, "UPDATE pushes SET seal_generation = seal_generation + ?", by);
  const deps = pushDepsOf(fixture, {
    store: {
      ...store,
      async writeView(claim) {
        claims += 1;
        // Does what an edit does; it is undone before the next read.
        if (claims === 1) await raise(1);
        const claimed = await store.writeView(claim);
        if (claims === 1) await raise(-1);
        return claimed;
      },
    },
  });
  expect(await claimOperations(deps).claimView(urlToken, countEveryone, stranger)).toMatchObject({
    outcome: "revealed",
  });
  expect(claims).toBe(2);
});

/** @param before what happens between the read of a claim and its write; gets the number of the write, from 1. */
function claimsAfter(fixture: TestDomain, before: (claim: number) => Promise<void>) {
  const { store } = fixture.domain;
  let claims = 0;
  const deps = pushDepsOf(fixture, {
    store: {
      ...store,
      async writeView(claim) {
        claims += 1;
        await before(claims);
        return await store.writeView(claim);
      },
    },
  });
  return { claimView: claimOperations(deps).claimView, claims: () => claims };
}

test.each([
  [2, "revealed"],
  [3, "unavailable"],
] as const)("a push that is edited between %d reads and their writes is %s", async (edits, result) => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const owner = signedIn(7);
  const { urlToken } = await pushes.create({ payload: "0", expireAfterViews: 3 }, owner);
  const { claimView, claims } = claimsAfter(fixture, async (claim) => {
    if (claim <= edits) await pushes.edit(urlToken, { payload: String(claim) }, owner);
  });
  const claimed = claimView(urlToken, countEveryone, stranger);
  if (result === "revealed") {
    expect(await claimed).toMatchObject({ outcome: result, payload: "2", push: { viewsRemaining: 2 } });
  } else {
    await expect(claimed).rejects.toMatchObject({ code: result });
  }
  expect(claims()).toBe(3);
});

test("an edit in the millisecond of the creation, between read and write, is in the answer", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const owner = signedIn(7);
  const { urlToken, updatedAt } = await pushes.create({ payload: "x", expireAfterViews: 3 }, owner);
  const { claimView, claims } = claimsAfter(fixture, async (claim) => {
    if (claim === 1) await pushes.edit(urlToken, { expireAfterViews: 2 }, owner);
  });
  expect(await claimView(urlToken, countEveryone, stranger)).toMatchObject({
    outcome: "revealed",
    push: { expireAfterViews: 2, viewsRemaining: 1, updatedAt: updatedAt + 1 },
  });
  expect(claims()).toBe(1);
});

test.each([0, 1])(
  "the last view of an anonymous push leaves no trail after %d failed passphrases",
  async (failures) => {
    await using fixture = await openTestDomain();
    const { pushes, db } = fixture.domain;
    const { urlToken } = await pushes.create(
      { payload: "x", passphrase: "open sesame", expireAfterViews: 1 },
      stranger,
    );
    for (let failure = 0; failure < failures; failure += 1) {
      await pushes.claimView(urlToken, { passphrase: "wrong", ...countEveryone }, stranger);
    }
    expect(await countRows(db, "audit_entries")).toBe(failures);
    await pushes.claimView(urlToken, { passphrase: "open sesame", ...countEveryone }, stranger);
    expect(await countRows(db, "audit_entries")).toBe(0);
  },
);

test("a push that ends and loses its files between two reads is gone, not an error", async () => {
  await using fixture = await openTestDomain();
  const { store } = fixture.domain;
  const owner = signedIn(7);
  const { urlToken } = await pushFiles(fixture.domain.pushes, owner, [makeFile("a.txt", "a")]);
  let reads = 0;
  const deps = pushDepsOf(fixture, {
    store: {
      ...store,
      async filesOf(sealed) {
        reads += 1;
        await fixture.domain.pushes.expire(urlToken, owner);
        return listFiles((await store.filesOf(sealed)).slice(1));
      },
    },
  });
  expect(await claimOperations(deps).claimView(urlToken, countEveryone, stranger)).toMatchObject({
    outcome: "gone",
  });
  expect(reads).toBe(1);
});

test("payloads are returned byte for byte", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  for (const payload of [
    "\r\n \t",
    "\u0000",
    "\ufeffbom",
    "e\u0301\u00e9",
    "\u{1F511}".repeat(1_000),
    "x".repeat(1_048_576),
  ]) {
    const { urlToken } = await pushes.create({ payload }, stranger);
    const claim = await retrieve(fixture, urlToken);
    expect(claim.outcome === "revealed" && claim.payload === payload).toBe(true);
  }
});

test("while the clock may be wrong, a refusal by time destroys nothing: with the right clock the push opens", async () => {
  await using fixture = await openTestDomain();
  const push = await fixture.domain.pushes.create({ payload: "x", expireAfterDays: 1 }, stranger);
  const wrong = { now: () => fixture.clock.now() + 400 * dayMs };
  const { claimView } = claimOperations(pushDepsOf(fixture, { clock: wrong, clockTrust: { check: () => false } }));
  expect(await claimView(push.urlToken, countEveryone, stranger)).toMatchObject({ outcome: "unknown" });
  const oneDayLate = { now: () => fixture.clock.now() + 2 * dayMs };
  const late = claimOperations(pushDepsOf(fixture, { clock: oneDayLate, clockTrust: { check: () => false } }));
  expect(await late.claimView(push.urlToken, countEveryone, stranger)).toMatchObject({ outcome: "gone" });
  expect(await fixture.domain.pushes.claimView(push.urlToken, countEveryone, stranger)).toMatchObject({
    outcome: "revealed",
    payload: "x",
  });
});

test("after a view that was counted between read and write, nobody knows when the view before was", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 4 }, stranger);
  await pushes.claimView(urlToken, countEveryone, stranger);
  const { claimView } = claimsAfter(fixture, async (claim) => {
    if (claim === 1) await pushes.claimView(urlToken, countEveryone, stranger);
  });
  const asked = { ...countEveryone, tellsLastView: true };
  expect(await claimView(urlToken, asked, stranger)).toMatchObject({
    outcome: "revealed",
    earlierViews: { count: 2, lastAt: null },
  });
});
