import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile, pushFiles } from "../../../test/support/files.ts";
import { systemRandom } from "../../base/random.ts";
import { makePassphraseSalt } from "../../crypto/passphrase.ts";
import type { Value } from "../../database/statement.ts";
import type { Actor } from "../actor.ts";
import type { Push } from "../push.ts";

// An attacker who can write to the database can destroy data. But no value may open at a place where it was not stored,
// and no recipient may lose a view to a secret that did not open.

const owner = signedIn(7);
const passphrase = "open sesame";

interface Row {
  readonly id: number;
  readonly views: number;
  readonly ended_at: number | null;
}

async function rowOf(fixture: TestDomain, push: Push): Promise<Row> {
  const { db, vault } = fixture.domain;
  const query = "SELECT id, views, ended_at FROM pushes WHERE id = ?";
  const [row] = await readRows<Row>(db, query, vault.urlTokens.addressOf(push.urlToken).pushId);
  if (row === undefined) throw new Error("The push is not there.");
  return row;
}

/** A statement with its parameters. */
type Change = readonly [text: string, ...parameters: Value[]];

async function run(fixture: TestDomain, ...changes: readonly Change[]): Promise<void> {
  for (const [text, ...parameters] of changes) await changeRows(fixture.domain.db, text, ...parameters);
}

const claim = (fixture: TestDomain, push: Push, withPassphrase = false) =>
  fixture.domain.pushes.claimView(push.urlToken, { ...countEveryone, ...(withPassphrase && { passphrase }) }, stranger);

/** Swaps a column of two rows. Applying it twice restores them. */
function swap(table: string, column: string, key: string, a: number, b: number): Change {
  return [
    `UPDATE ${table} SET ${column} = held.value
     FROM (SELECT ${key} AS id, ${column} AS value FROM ${table} WHERE ${key} IN (?, ?)) AS held
     WHERE ${table}.${key} IN (?, ?) AND held.id <> ${table}.${key}`,
    a,
    b,
    a,
    b,
  ];
}

const keyOfPush = "(SELECT row_secret_id FROM pushes WHERE id = ?)";

type Swap = (a: number, b: number) => Change;
const swapKeys: Swap = (a, b) => swap("pushes", "row_secret_id", "id", a, b);
const swapPayloads: Swap = (a, b) => swap("payloads", "sealed", "push_id", a, b);
const swapChecks: Swap = (a, b) => swap("pushes", "key_check", "id", a, b);
const swaps: readonly (readonly [string, readonly Swap[]])[] = [
  ["the row secrets", [swapKeys]],
  ["the payloads", [swapPayloads]],
  ["the key checks", [swapChecks]],
  ["row secrets and payloads", [swapKeys, swapPayloads]],
  ["everything that is sealed", [swapKeys, swapPayloads, swapChecks]],
];

test.each(swaps)(
  "with %s of two pushes swapped, neither opens nor loses a view; swapped back, both open",
  async (_, swapped) => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const make = (payload: string) => pushes.create({ payload, expireAfterViews: 1 }, stranger);
    const [a, b] = [await make("the one"), await make("the other")];
    const ids = [(await rowOf(fixture, a)).id, (await rowOf(fixture, b)).id] as const;
    const exchange = swapped.map((swapOf) => swapOf(...ids));
    await run(fixture, ...exchange);
    for (const push of [a, b]) {
      await expect(claim(fixture, push)).rejects.toThrow(/does not open|do not match/);
      expect(await rowOf(fixture, push)).toMatchObject({ views: 0, ended_at: null });
    }
    await run(fixture, ...exchange);
    expect(await claim(fixture, a)).toMatchObject({ outcome: "revealed", payload: "the one" });
    expect(await claim(fixture, b)).toMatchObject({ outcome: "revealed", payload: "the other" });
  },
);

test.each(swaps)(
  "with %s swapped under one passphrase, the passphrase counts as wrong and costs only an attempt",
  async (_, swapped) => {
    await using fixture = await openTestDomain();
    const make = (payload: string) =>
      fixture.domain.pushes.create({ payload, passphrase, expireAfterViews: 1 }, stranger);
    const [a, b] = [await make("the one"), await make("the other")];
    const ids = [(await rowOf(fixture, a)).id, (await rowOf(fixture, b)).id] as const;
    const exchange = swapped.map((swapOf) => swapOf(...ids));
    await run(fixture, ...exchange);
    for (const push of [a, b]) {
      const outcome = await claim(fixture, push, true).then(
        (claimed) => claimed.outcome,
        () => "failed",
      );
      expect(["wrong_passphrase", "failed"]).toContain(outcome);
      expect(await rowOf(fixture, push)).toMatchObject({ views: 0, ended_at: null });
    }
    await run(fixture, ...exchange);
    expect(await claim(fixture, a, true)).toMatchObject({ outcome: "revealed", payload: "the one" });
  },
);

test.each([
  ["its payload is taken away", (id: number): Change => ["DELETE FROM payloads WHERE push_id = ?", id]],
  [
    "its payload is empty",
    (id: number): Change => ["UPDATE payloads SET sealed = ? WHERE push_id = ?", Buffer.alloc(0), id],
  ],
  ["its row secret is taken away", (id: number): Change => [`DELETE FROM row_secrets WHERE id = ${keyOfPush}`, id]],
  [
    "its row secret is overwritten",
    (id: number): Change => [`UPDATE row_secrets SET sealed = ? WHERE id = ${keyOfPush}`, Buffer.alloc(98), id],
  ],
  [
    "its row secret is its payload",
    (id: number): Change => [
      `UPDATE row_secrets SET sealed = (SELECT sealed FROM payloads WHERE push_id = ?) WHERE id = ${keyOfPush}`,
      id,
      id,
    ],
  ],
  [
    "its payload is its row secret",
    (id: number): Change => [
      `UPDATE payloads SET sealed = (SELECT sealed FROM row_secrets WHERE id = ${keyOfPush}) WHERE push_id = ?`,
      id,
      id,
    ],
  ],
  ["its seal generation is raised", (id: number): Change => ["UPDATE pushes SET seal_generation = 2 WHERE id = ?", id]],
  [
    "its seal generation is lowered",
    (id: number): Change => ["UPDATE pushes SET seal_generation = 0 WHERE id = ?", id],
  ],
  ["it becomes a file push", (id: number): Change => ["UPDATE pushes SET kind = 1 WHERE id = ?", id]],
  ["it becomes a web address", (id: number): Change => ["UPDATE pushes SET kind = 2 WHERE id = ?", id]],
  ["it becomes a QR code", (id: number): Change => ["UPDATE pushes SET kind = 3 WHERE id = ?", id]],
  ["it gets an owner", (id: number): Change => ["UPDATE pushes SET owner_id = 7 WHERE id = ?", id]],
  [
    "its key check is overwritten",
    (id: number): Change => ["UPDATE pushes SET key_check = ? WHERE id = ?", randomBytes(32), id],
  ],
  [
    "its key check is removed",
    (id: number): Change => ["UPDATE pushes SET key_check = ? WHERE id = ?", Buffer.alloc(0), id],
  ],
  [
    "it is given a passphrase",
    (id: number): Change => [
      "UPDATE pushes SET passphrase_salt = ? WHERE id = ?",
      makePassphraseSalt(systemRandom, false),
      id,
    ],
  ],
  [
    "it is given a passphrase that demands gigabytes of memory",
    (id: number): Change => [
      "UPDATE pushes SET passphrase_salt = ? WHERE id = ?",
      Buffer.concat([Uint8Array.of(255), randomBytes(16)]),
      id,
    ],
  ],
  [
    "it is given a file",
    (id: number): Change => [
      "INSERT INTO files (id, push_id, position, blob_key, size_bytes, details_sealed, key_sealed) VALUES (900, ?, 1, 'x', 1, ?, ?)",
      id,
      Buffer.alloc(1),
      Buffer.alloc(72),
    ],
  ],
])("when %s, nothing opens and no view is counted", async (_, change) => {
  await using fixture = await openTestDomain();
  const push = await fixture.domain.pushes.create({ payload: "x", expireAfterViews: 1 }, stranger);
  await run(fixture, change((await rowOf(fixture, push)).id));
  const outcome = await claim(fixture, push, true).then(
    (claimed) => claimed.outcome,
    () => "failed",
  );
  expect(["failed", "wrong_passphrase"]).toContain(outcome);
  expect(await rowOf(fixture, push)).toMatchObject({ views: 0, ended_at: null });
});

test("taking the passphrase off a push in the database does not open it", async () => {
  await using fixture = await openTestDomain();
  const push = await fixture.domain.pushes.create({ payload: "x", passphrase, expireAfterViews: 1 }, stranger);
  await run(fixture, ["UPDATE pushes SET passphrase_salt = NULL"]);
  await expect(claim(fixture, push)).rejects.toThrow(/does not open/);
  expect(await rowOf(fixture, push)).toMatchObject({ views: 0, ended_at: null });
});

test("a link whose check is moved to another row opens nothing there", async () => {
  await using fixture = await openTestDomain();
  const { pushes, vault } = fixture.domain;
  const mine = await pushes.create({ payload: "mine" }, stranger);
  const theirs = await pushes.create({ payload: "theirs", expireAfterViews: 1 }, stranger);
  const { pushId, check } = vault.urlTokens.addressOf(mine.urlToken);
  const other = vault.urlTokens.addressOf(theirs.urlToken).pushId;
  await run(
    fixture,
    ["DELETE FROM pushes WHERE id = ?", pushId],
    ["DELETE FROM payloads WHERE push_id = ?", pushId],
    ["UPDATE pushes SET id = ?, link_check = ? WHERE id = ?", pushId, check, other],
    ["UPDATE payloads SET push_id = ? WHERE push_id = ?", pushId, other],
  );
  await expect(claim(fixture, mine)).rejects.toThrow(/does not open/);
  expect(await rowOf(fixture, mine)).toMatchObject({ views: 0, ended_at: null });
});

test("a sealed value with any bit flipped does not open and costs no view", async () => {
  await using fixture = await openTestDomain();
  const { db, pushes } = fixture.domain;
  const push = await pushes.create({ payload: "x", expireAfterViews: 1 }, stranger);
  for (const table of ["row_secrets", "payloads"]) {
    const [{ sealed } = {}] = await readRows<{ sealed?: Buffer }>(db, `SELECT sealed FROM ${table}`);
    if (sealed === undefined) throw new Error("There is nothing sealed.");
    const write = (value: Buffer) => run(fixture, [`UPDATE ${table} SET sealed = ?`, value]);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 << (at % 8)), at);
      await write(changed);
      await expect(claim(fixture, push)).rejects.toThrow();
    }
    await write(sealed);
  }
  expect(await rowOf(fixture, push)).toMatchObject({ views: 0, ended_at: null });
  expect(await claim(fixture, push)).toMatchObject({ outcome: "revealed", payload: "x" });
});

test("a push that the database gives to another user neither opens nor shows its link to that user", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const push = await pushes.create(
    { payload: "x", name: "of 7", expireAfterViews: 1, deletableByViewer: false },
    owner,
  );
  const { id } = await rowOf(fixture, push);
  for (const thief of [8, null]) {
    await run(fixture, ["UPDATE pushes SET owner_id = ? WHERE id = ?", thief, id]);
    if (thief !== null) await expectAbsent(fixture, push.urlToken, signedIn(thief));
    await expect(claim(fixture, push)).rejects.toThrow(/does not open/);
  }
  await run(fixture, ["UPDATE pushes SET owner_id = 7 WHERE id = ?", id]);
  expect(await rowOf(fixture, push)).toMatchObject({ views: 0, ended_at: null });
  expect(await claim(fixture, push)).toMatchObject({ outcome: "revealed", payload: "x" });
});

/** For its new owner, who does not get an error page instead of all their pushes. */
async function expectAbsent({ domain: { pushes }, logLines, clock }: TestDomain, urlToken: string, thief: Actor) {
  const id = thief.user?.id ?? 0;
  const readings: readonly (() => Promise<unknown>)[] = [
    async () => [...(await pushes.list(id, "active", 1))],
    async () => (await pushes.search(id, { text: "", kind: null, state: "all", order: "newest", page: 1 })).pushes,
    async () => {
      const exported: unknown[] = [];
      for await (const push of pushes.exportOwned(id)) exported.push(push);
      return exported;
    },
    async () => [(await pushes.find(urlToken, thief))?.name ?? "no label"].filter((name) => name !== "no label"),
    async () => [await pushes.trail(urlToken, thief, 1)].filter((trail) => trail !== undefined),
  ];
  for (const read of readings) {
    const earlier = logLines.length;
    clock.advance(1_000);
    expect(await read()).toEqual([]);
    expect(logLines.slice(earlier).filter((line) => /"forged_row_refused".*"pushes"/.test(line))).toHaveLength(1);
  }
  await expect(pushes.audit(urlToken, thief, 1)).rejects.toMatchObject({ code: "forbidden" });
  await expect(pushes.expire(urlToken, thief)).rejects.toMatchObject({ code: "forbidden" });
}

test("a push that the database gives to another user, with another kind and a passphrase, is not edited by that user", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const thief = signedIn(9);
  for (const victim of [owner, stranger]) {
    const push = await pushes.create({ payload: "x" }, victim);
    const { id } = await rowOf(fixture, push);
    // A new payload and no passphrase leave nothing of the content, so the edit would open nothing first.
    await run(fixture, [
      "UPDATE pushes SET owner_id = 9, kind = 2, passphrase_salt = ? WHERE id = ?",
      makePassphraseSalt(systemRandom, true),
      id,
    ]);
    const replacement = { payload: "https://phishing.example", passphrase: null };
    expect(await pushes.edit(push.urlToken, replacement, thief)).toEqual({ outcome: "unknown" });
    expect(await pushes.edit(push.urlToken, { expireAfterDays: 1 }, thief)).toEqual({ outcome: "unknown" });
    expect(await pushes.findEditable(push.urlToken, thief)).toBeUndefined();
    const ownerId = victim.user?.id ?? null;
    await run(fixture, ["UPDATE pushes SET owner_id = ?, kind = 0, passphrase_salt = NULL WHERE id = ?", ownerId, id]);
    expect(await claim(fixture, push)).toMatchObject({ outcome: "revealed", payload: "x" });
  }
});

test("a file whose size is changed in the database opens nothing and costs no view", async () => {
  await using fixture = await openTestDomain();
  const push = await pushFiles(fixture.domain.pushes, owner, [makeFile("a.txt", "some text")], { expireAfterViews: 1 });
  for (const change of ["- 1", "+ 1"]) {
    await run(fixture, [`UPDATE files SET size_bytes = size_bytes ${change}`]);
    await expect(claim(fixture, push)).rejects.toThrow(/do not match/);
    await run(fixture, [`UPDATE files SET size_bytes = size_bytes ${change === "- 1" ? "+ 1" : "- 1"}`]);
  }
  expect(await rowOf(fixture, push)).toMatchObject({ views: 0, ended_at: null });
  expect(await claim(fixture, push)).toMatchObject({ outcome: "revealed" });
});

test("file keys swapped between two files or two pushes do not open, and no view is counted", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const make = (name: string) =>
    pushFiles(pushes, owner, [makeFile(`${name}1`, "1"), makeFile(`${name}2`, "2")], { expireAfterViews: 1 });
  const [a, b] = [await make("a"), await make("b")];
  const ids = (await readRows<{ id: number }>(fixture.domain.db, "SELECT id FROM files ORDER BY id")).map(
    ({ id }) => id,
  );
  const [first = 0, second = 0, third = 0] = ids;
  for (const other of [second, third]) {
    const exchange = swap("files", "key_sealed", "id", first, other);
    await run(fixture, exchange);
    await expect(claim(fixture, a)).rejects.toThrow(/do not match/);
    await run(fixture, exchange);
  }
  for (const push of [a, b]) expect(await claim(fixture, push)).toMatchObject({ outcome: "revealed" });
});

test("labels and links moved to another push or column are not shown", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const a = await pushes.create({ payload: "a", name: "name of a", note: "note of a" }, owner);
  const b = await pushes.create({ payload: "b", name: "name of b", note: "note of b" }, owner);
  const ids = [(await rowOf(fixture, a)).id, (await rowOf(fixture, b)).id] as const;
  const labelMoves: readonly Change[] = [
    swap("pushes", "name_sealed", "id", ...ids),
    ["UPDATE pushes SET name_sealed = note_sealed, note_sealed = name_sealed"],
  ];
  const linkMoves: readonly Change[] = [
    swap("pushes", "token_sealed", "id", ...ids),
    ["UPDATE pushes SET note_sealed = token_sealed, token_sealed = note_sealed"],
  ];
  const listed = async () => [...(await pushes.list(7, "active", 1))];
  for (const move of labelMoves) {
    await run(fixture, move);
    await expect(listed()).rejects.toThrow(/does not open/);
    await run(fixture, move);
  }
  for (const move of linkMoves) {
    await run(fixture, move);
    expect(await listed()).toEqual([]);
    await run(fixture, move);
  }
  expect((await listed()).map((push) => push.name)).toEqual(["name of b", "name of a"]);
});

test.each([
  [
    "moved to another push",
    (a: number, b: number): Change[] => [
      ["UPDATE files SET push_id = ?, position = position + 2 WHERE push_id = ?", b, a],
    ],
  ],
  ["taken away", (a: number): Change[] => [["DELETE FROM files WHERE push_id = ?", a]]],
  [
    "partly removed",
    (a: number): Change[] => [["DELETE FROM files WHERE id = (SELECT max(id) FROM files WHERE push_id = ?)", a]],
  ],
  [
    "exchanged",
    (a: number, b: number): Change[] => [
      ["UPDATE files SET position = position + 2 WHERE push_id = ?", a],
      ["UPDATE files SET push_id = ? - push_id", a + b],
      ["UPDATE files SET position = position - 2 WHERE push_id = ?", b],
    ],
  ],
])("when files were %s, the push does not open and loses no view", async (how, change) => {
  await using fixture = await openTestDomain({ environment: { PWP__FILES__ALLOW_ANONYMOUS: "true" } });
  for (const actor of [owner, stranger]) {
    const make = (name: string) =>
      pushFiles(fixture.domain.pushes, actor, [makeFile(`${name}1`, name), makeFile(`${name}2`, name)], {
        expireAfterViews: 1,
      });
    const [a, b] = [await make("a"), await make("b")];
    await run(fixture, ...change((await rowOf(fixture, a)).id, (await rowOf(fixture, b)).id));
    await expect(claim(fixture, a)).rejects.toThrow(/do not match/);
    expect(await rowOf(fixture, a)).toMatchObject({ views: 0, ended_at: null });
    if (how === "moved to another push") await expect(claim(fixture, b)).rejects.toThrow(/do not match/);
    expect(await rowOf(fixture, b)).toMatchObject({ views: 0, ended_at: null });
    await run(fixture, ["DELETE FROM files"]);
  }
});

test("file names or contents swapped within a push do not open, and no view is counted", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const push = await pushFiles(pushes, owner, [makeFile("a.txt", "a"), makeFile("b.txt", "b")], {
    expireAfterViews: 1,
  });
  const query = "SELECT id, blob_key FROM files ORDER BY id";
  const [a, b] = await readRows<{ id: number; blob_key: string }>(fixture.domain.db, query);
  if (a === undefined || b === undefined) throw new Error("There are not two files.");
  const names = swap("files", "details_sealed", "id", a.id, b.id);
  await run(fixture, names);
  await expect(claim(fixture, push)).rejects.toThrow(/details of file/);
  expect(await rowOf(fixture, push)).toMatchObject({ views: 0, ended_at: null });
  await run(fixture, names);
  const setBlob = "UPDATE files SET blob_key = ? WHERE id = ?";
  await run(fixture, [setBlob, "held", a.id], [setBlob, a.blob_key, b.id], [setBlob, b.blob_key, a.id]);
  const damaged = { code: "unavailable", cause: { problem: "damaged" } };
  await expect(claimFiles(pushes, push.urlToken, stranger)).rejects.toMatchObject(damaged);
  expect(await rowOf(fixture, push)).toMatchObject({ views: 0, ended_at: null });
});
