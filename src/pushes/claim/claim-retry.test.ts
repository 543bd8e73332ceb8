import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, countRows, readRows } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles, readDownload } from "../../../test/support/files.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { clockSpreadMs, dayMs, hourMs, minuteMs, secondMs } from "../../base/clock.ts";
import { nothingElse } from "../../database/database.ts";
import { endOperations } from "../edit/end-push.ts";
import type { Actor, CreatePush } from "../pushes.ts";
import { claimOperations } from "./claim-view.ts";

const key = "a-random-key-of-the-client";
const otherKey = "another-key-of-a-client";
const owner = signedIn(7);

interface Claim {
  readonly key?: string;
  readonly passphrase?: string;
  readonly actor?: Actor;
}

const claim = ({ domain }: TestDomain, urlToken: string, { key: idempotencyKey, passphrase, actor }: Claim = {}) =>
  domain.pushes.claimView(
    urlToken,
    { ...countEveryone, idempotencyKey, ...(passphrase !== undefined && { passphrase }) },
    actor ?? stranger,
  );

const create = ({ domain }: TestDomain, push: Partial<CreatePush> = {}, actor: Actor = stranger) =>
  domain.pushes.create({ payload: "hunter2", expireAfterViews: 1, ...push }, actor);

const first = { outcome: "revealed", payload: "hunter2", repeated: false };
const again = { outcome: "revealed", payload: "hunter2", repeated: true };

async function viewsOf(fixture: TestDomain, urlToken: string): Promise<number | undefined> {
  return (await fixture.domain.pushes.find(urlToken, stranger))?.viewsRemaining;
}

test("for a minute the same key gets the same answer again, not counted; every other request is refused", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture);
  const answer = await claim(fixture, urlToken, { key });
  expect(answer).toMatchObject(first);
  fixture.clock.advance(59 * secondMs);
  expect(await claim(fixture, urlToken, { key })).toEqual({ ...answer, repeated: true });
  expect(await claim(fixture, urlToken, { key: otherKey })).toMatchObject({ outcome: "gone" });
  expect(await claim(fixture, urlToken)).toMatchObject({ outcome: "gone" });
  fixture.clock.advance(secondMs);
  expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "gone" });
});

test("an answer whose minute ends while it is prepared is not given again", async () => {
  await using fixture = await openTestDomain();
  const { clock } = fixture;
  const { urlToken } = await create(fixture);
  await claim(fixture, urlToken, { key });
  clock.advance(59 * secondMs);
  let isPrepared = false;
  const prepared = {
    reserveAnswer() {
      if (!isPrepared) clock.advance(secondMs);
      isPrepared = true;
    },
  };
  const request = { ...countEveryone, ...prepared, idempotencyKey: key };
  expect(await fixture.domain.pushes.claimView(urlToken, request, stranger)).toMatchObject({ outcome: "gone" });
});

test.each([stranger, owner])("the last view without a key leaves what an earlier key repeats", async (creator) => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture, { expireAfterViews: 2 }, creator);
  expect(await claim(fixture, urlToken, { key })).toMatchObject(first);
  expect(await claim(fixture, urlToken)).toMatchObject(first);
  await makeSweeper(fixture).sweep();
  expect(await claim(fixture, urlToken, { key })).toMatchObject(again);
});

const copies = "row_secret_id IS NOT NULL";

test("after the minute a key counts no other view while the push can be opened, whatever happens to copy and clock", async () => {
  await using fixture = await openTestDomain();
  const { db } = fixture.domain;
  const { urlToken } = await create(fixture, { expireAfterViews: 5 });
  expect(await claim(fixture, urlToken, { key })).toMatchObject(first);
  const used = { outcome: "key_used", push: { urlToken, viewsRemaining: 4 } };
  fixture.clock.advance(minuteMs);
  const answers = await Promise.all(Array.from({ length: 10 }, () => claim(fixture, urlToken, { key })));
  for (const answer of answers) expect(answer).toMatchObject(used);
  expect(await makeSweeper(fixture).removeExpiredRetries()).toBe(1);
  expect([await countRows(db, "claim_retries"), await countRows(db, "claim_retries", copies)]).toEqual([1, 0]);
  for (const ms of [0, -hourMs, 2 * hourMs]) {
    fixture.clock.advance(ms);
    expect(await claim(fixture, urlToken, { key })).toMatchObject(used);
  }
  expect(await claim(fixture, urlToken, { key: otherKey })).toMatchObject(first);
});

test("a claim that stood still until another one under its key was counted, and its copy was gone, counts nothing", async () => {
  await using fixture = await openTestDomain();
  const { store } = fixture.domain;
  const { urlToken } = await create(fixture, { expireAfterViews: 5 });
  let writes = 0;
  const late: typeof store = {
    ...store,
    async writeView(view) {
      writes += 1;
      expect(await claim(fixture, urlToken, { key })).toMatchObject(first);
      fixture.clock.advance(minuteMs);
      expect(await makeSweeper(fixture).removeExpiredRetries()).toBe(1);
      return await store.writeView(view);
    },
  };
  const { claimView } = claimOperations(pushDepsOf(fixture, { store: late }));
  const answer = await claimView(urlToken, { ...countEveryone, idempotencyKey: key }, stranger);
  expect(answer).toMatchObject({ outcome: "key_used" });
  expect(writes).toBe(1);
  expect(await viewsOf(fixture, urlToken)).toBe(4);
});

test("a claim whose request arrived more than an hour ago by the database's clock writes nothing", async () => {
  await using fixture = await openTestDomain();
  const { store, db } = fixture.domain;
  const { urlToken } = await create(fixture, { expireAfterViews: 5 }, owner);
  const after = (ms: number) => {
    const late: typeof store = {
      ...store,
      claimRetries: {
        ...store.claimRetries,
        async find(...use) {
          const found = await store.claimRetries.find(...use);
          return { ...found, databaseTime: found.databaseTime - ms };
        },
      },
    };
    const { claimView } = claimOperations(pushDepsOf(fixture, { store: late }));
    return claimView(urlToken, { ...countEveryone, idempotencyKey: key }, stranger);
  };
  const secrets = await countRows(db, "row_secrets");
  await expect(after(hourMs + secondMs)).rejects.toMatchObject({ code: "unavailable" });
  expect(await viewsOf(fixture, urlToken)).toBe(5);
  expect([await countRows(db, "claim_retries"), await countRows(db, "row_secrets")]).toEqual([0, secrets]);
  expect(await after(hourMs - minuteMs)).toMatchObject(first);
});

test.each(["time", "views"] as const)(
  "when a push ends by %s, its keys are forgotten with their copies",
  async (how) => {
    await using fixture = await openTestDomain();
    const { db } = fixture.domain;
    const { urlToken } = await create(fixture, { expireAfterViews: 2, expireAfterDays: 1 });
    await claim(fixture, urlToken, { key });
    const sweeper = makeSweeper(fixture);
    fixture.clock.advance(minuteMs);
    await sweeper.removeExpiredRetries();
    if (how === "views") await claim(fixture, urlToken, { key: otherKey });
    fixture.clock.advance(dayMs);
    await sweeper.sweep();
    await sweeper.removeExpiredRetries();
    expect(await countRows(db, "claim_retries")).toBe(0);
    expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "gone" });
  },
);

test("each key counts one view, and a repetition of an earlier one counts none", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture, { expireAfterViews: 5 });
  for (const used of [key, otherKey, key, key, otherKey]) await claim(fixture, urlToken, { key: used });
  expect(await viewsOf(fixture, urlToken)).toBe(3);
});

test.each([
  ["an anonymous push", stranger],
  ["a push of a list", owner],
])("the last view of %s by a request without a key leaves what an earlier key repeats", async (_what, actor) => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture, { expireAfterViews: 2 }, actor);
  expect(await claim(fixture, urlToken, { key })).toMatchObject(first);
  expect(await claim(fixture, urlToken)).toMatchObject(first);
  expect(await claim(fixture, urlToken, { key })).toMatchObject(again);
  expect(await claim(fixture, urlToken)).toMatchObject({ outcome: "gone" });
});

test("the key opens only the push that it was used for", async () => {
  await using fixture = await openTestDomain();
  const one = await create(fixture);
  const other = await create(fixture, { payload: "other" });
  await claim(fixture, one.urlToken, { key });
  expect(await claim(fixture, other.urlToken, { key })).toMatchObject({ payload: "other", repeated: false });
});

test("a repetition needs the passphrase, and a wrong one is charged", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture, { passphrase: "open sesame" });
  expect(await claim(fixture, urlToken, { key, passphrase: "open sesame" })).toMatchObject(first);
  expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "passphrase_required" });
  for (let guess = 0; guess < 5; guess += 1) {
    expect(await claim(fixture, urlToken, { key, passphrase: "guess" })).toMatchObject({ outcome: "wrong_passphrase" });
  }
  expect(await claim(fixture, urlToken, { key, passphrase: "guess" })).toMatchObject({ outcome: "too_many_attempts" });
  fixture.clock.advance(30 * secondMs);
  const elsewhere = { ...stranger, client: "elsewhere" };
  const right = { key, passphrase: "open sesame", actor: elsewhere };
  expect(await claim(fixture, urlToken, right)).toMatchObject(again);
});

test("files can be downloaded again with the tickets of a repetition", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await pushFiles(fixture.domain.pushes, owner, [makeFile("plan.txt", "the plan")]);
  await changeRows(fixture.domain.db, "UPDATE pushes SET expire_after_views = 1");
  expect(await claim(fixture, urlToken, { key })).toMatchObject({ repeated: false });
  const repeated = await claim(fixture, urlToken, { key });
  if (repeated.outcome !== "revealed") throw new Error("It was not repeated.");
  const download = await fixture.domain.pushes.openTicket(repeated.files[0]?.ticket ?? "", stranger);
  expect(download && (await readDownload(download)).toString()).toBe("the plan");
});

test("each repetition is in the audit trail as such", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture, { expireAfterViews: 2 }, owner);
  await claim(fixture, urlToken, { key });
  await claim(fixture, urlToken, { key });
  const trail = await fixture.domain.pushes.audit(urlToken, owner, 1);
  expect(trail.map(({ kind }) => kind)).toEqual(["creation", "view", "repeated_view"]);
});

test.each(["owner", "viewer"] as const)(
  "a deletion by the %s, even after the last view, voids all keys",
  async (who) => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    for (const expireAfterViews of [1, 2]) {
      const { urlToken } = await create(fixture, { expireAfterViews, deletableByViewer: true }, owner);
      await claim(fixture, urlToken, { key });
      await pushes.expire(urlToken, who === "owner" ? owner : stranger);
      expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "gone" });
    }
    expect(await countRows(fixture.domain.db, "claim_retries")).toBe(0);
    expect(await countRows(fixture.domain.db, "payloads")).toBe(0);
  },
);

test("a deletion of a push whose time has just passed voids all keys, and the push keeps its end", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const { urlToken } = await create(fixture, { expireAfterViews: 5 }, owner);
  const expiresAt = fixture.clock.now() + secondMs;
  await changeRows(db, "UPDATE pushes SET expires_at = ?", expiresAt);
  await claim(fixture, urlToken, { key });
  fixture.clock.advance(2 * secondMs);
  const { expire } = endOperations(pushDepsOf(fixture, { clockTrust: { check: () => true } }));
  expect(await expire(urlToken, owner)).toMatchObject({ deleted: false, expiredOn: expiresAt });
  expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "gone" });
  expect(await countRows(db, "claim_retries")).toBe(0);
  expect(await countRows(db, "payloads")).toBe(0);
  expect((await pushes.find(urlToken, owner))?.deleted).toBe(false);
});

test("a deletion that the last view overtakes voids its key", async () => {
  await using fixture = await openTestDomain();
  const { store, db } = fixture.domain;
  const { urlToken } = await create(fixture, {}, owner);
  const overtaken: typeof store = {
    ...store,
    async find(link) {
      const row = await store.find(link);
      expect(await claim(fixture, urlToken, { key })).toMatchObject(first);
      return row;
    },
  };
  await endOperations(pushDepsOf(fixture, { store: overtaken })).expire(urlToken, owner);
  expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "gone" });
  expect(await countRows(db, "payloads")).toBe(0);
});

test("an end by an administrator after the last view voids all keys", async () => {
  await using fixture = await openTestDomain();
  const { pushes, vault, db } = fixture.domain;
  const { urlToken } = await create(fixture);
  await claim(fixture, urlToken, { key });
  const { pushId } = vault.urlTokens.addressOf(urlToken);
  expect(await pushes.endAsAdministrator(pushId, signedIn(9, true), nothingElse)).toBe("had_ended");
  expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "gone" });
  expect(await countRows(db, "payloads")).toBe(0);
});

test("an edit of the content voids all copies: a key gets neither the old content nor the new one", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture, { expireAfterViews: 3 }, owner);
  await claim(fixture, urlToken, { key });
  await fixture.domain.pushes.edit(urlToken, { payload: "changed" }, owner);
  expect(await countRows(fixture.domain.db, "claim_retries", copies)).toBe(0);
  expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "key_used" });
  expect(await viewsOf(fixture, urlToken)).toBe(2);
  expect(await claim(fixture, urlToken, { key: otherKey })).toMatchObject({ payload: "changed", repeated: false });
});

test("a push whose time is over can still be repeated within the minute", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture, { expireAfterViews: 5 });
  await changeRows(fixture.domain.db, "UPDATE pushes SET expires_at = ?", fixture.clock.now() + secondMs);
  await claim(fixture, urlToken, { key });
  fixture.clock.advance(2 * secondMs);
  await makeSweeper(fixture).sweep();
  expect(await claim(fixture, urlToken)).toMatchObject({ outcome: "gone" });
  expect(await claim(fixture, urlToken, { key })).toMatchObject(again);
});

test("a job that read its clock before the claim leaves the copy", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture, { expireAfterViews: 2 });
  const readAt = fixture.clock.now();
  fixture.clock.advance(clockSpreadMs);
  await claim(fixture, urlToken, { key });
  const sweeper = makeSweeper(fixture, { clock: { now: () => readAt } });
  expect(await sweeper.removeExpiredRetries()).toBe(0);
  expect(await claim(fixture, urlToken, { key })).toMatchObject(again);
  expect(await viewsOf(fixture, urlToken)).toBe(1);
});

test("after the minute, a job overwrites the copy and removes the payload, whatever the clock did", async () => {
  await using fixture = await openTestDomain();
  const { db } = fixture.domain;
  const sweeper = makeSweeper(fixture);
  for (const step of [minuteMs, -60 * minuteMs]) {
    const { urlToken } = await create(fixture);
    await claim(fixture, urlToken, { key });
    expect(await sweeper.removeExpiredRetries()).toBe(0);
    const [copy] = await readRows<{ id: number }>(db, "SELECT row_secret_id AS id FROM claim_retries");
    fixture.clock.advance(step);
    expect(await sweeper.removeExpiredRetries()).toBe(1);
    expect(await countRows(db, "claim_retries")).toBe(0);
    expect(await countRows(db, "payloads")).toBe(0);
    const left = await readRows<{ sealed: Buffer }>(db, "SELECT sealed FROM row_secrets WHERE id = ?", copy?.id ?? 0);
    expect(left.every(({ sealed }) => sealed.every((byte) => byte === 0))).toBe(true);
    expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "gone" });
  }
});

test("the database holds no idempotency key, and a copy opens with no other key, push or owner", async () => {
  await using fixture = await openTestDomain();
  const { db } = fixture.domain;
  const [one, other] = [await create(fixture), await create(fixture)];
  await claim(fixture, one.urlToken, { key });
  await claim(fixture, other.urlToken, { key });
  const rows = await readRows<{ digest: Buffer; id: number }>(
    db,
    "SELECT digest, row_secret_id AS id FROM claim_retries",
  );
  expect(new Set(rows.map(({ digest }) => digest.toString("hex"))).size).toBe(2);
  for (const { digest } of rows) expect(digest.includes(key)).toBe(false);
  const [left, right] = rows;
  await changeRows(db, "UPDATE claim_retries SET row_secret_id = ? WHERE row_secret_id = ?", -1, left?.id ?? 0);
  await changeRows(
    db,
    "UPDATE claim_retries SET row_secret_id = ? WHERE row_secret_id = ?",
    left?.id ?? 0,
    right?.id ?? 0,
  );
  await changeRows(db, "UPDATE claim_retries SET row_secret_id = ? WHERE row_secret_id = ?", right?.id ?? 0, -1);
  for (const { urlToken } of [one, other])
    await expect(claim(fixture, urlToken, { key })).rejects.toThrow("does not open");
});

test("0 seconds switch it off", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__CLAIM_RETRY_SECONDS: "0" } });
  const { urlToken } = await create(fixture);
  expect(await claim(fixture, urlToken, { key })).toMatchObject(first);
  expect(await claim(fixture, urlToken, { key })).toMatchObject({ outcome: "gone" });
  expect(await countRows(fixture.domain.db, "claim_retries")).toBe(0);
});

test.each([1, 5])("50 racers with one key get the secret and count one of %i views", async (expireAfterViews) => {
  await using fixture = await openTestDomain();
  for (let round = 0; round < 10; round += 1) {
    const { urlToken } = await create(fixture, { expireAfterViews });
    const answers = await Promise.all(Array.from({ length: 50 }, () => claim(fixture, urlToken, { key })));
    expect(answers.every((answer) => answer.outcome === "revealed" && answer.payload === "hunter2")).toBe(true);
    expect(answers.filter((answer) => answer.outcome === "revealed" && !answer.repeated)).toHaveLength(1);
    expect(await viewsOf(fixture, urlToken)).toBe(expireAfterViews - 1);
  }
});

test("50 racers with different keys get exactly the limit", async () => {
  await using fixture = await openTestDomain();
  for (let round = 0; round < 10; round += 1) {
    const { urlToken } = await create(fixture, { expireAfterViews: 5 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, racer) => claim(fixture, urlToken, { key: `${key}-${racer}` })),
    );
    expect(answers.filter((answer) => answer.outcome === "revealed")).toHaveLength(5);
  }
});
