import { expect, test } from "vitest";
import { countEveryone, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { readRows } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile, pushFiles, readDownload } from "../../../test/support/files.ts";
import { makeFolder } from "../../../test/support/folders.ts";
import { overrideWrite } from "../../../test/support/override-write.ts";
import { clock, open, rotate } from "../../../test/support/rotation.ts";
import { minuteMs } from "../../base/clock.ts";
import { envelopeKeyId } from "../../crypto/keyring.ts";
import { createProcessRegistry, type RunningProcess } from "../../database/processes.ts";
import { keysInUse, WrongMasterKeyError } from "../vault.ts";

const owner = signedIn(7);

const activeId = (fixture: TestDomain) => fixture.domain.keyring.ids[0] ?? "?";

function asProcess(fixture: TestDomain, id: string): RunningProcess {
  return { id, activeKeyId: activeId(fixture), keyIds: fixture.domain.keyring.ids };
}

const registryOf = (fixture: TestDomain) => createProcessRegistry(fixture.domain.db);

/** Counts the sealed values in the database by the id of their master key. */
async function keyIdsInDatabase(fixture: TestDomain): Promise<Record<string, number>> {
  const found = await readRows<{ sealed: Buffer }>(
    fixture.domain.db,
    `SELECT value AS sealed FROM meta WHERE name IN ('index_secret', 'access_secret')
     UNION ALL SELECT sealed FROM row_secrets
     UNION ALL SELECT sealed FROM link_secrets
     UNION ALL SELECT name_sealed FROM pushes WHERE name_sealed IS NOT NULL
     UNION ALL SELECT note_sealed FROM pushes WHERE note_sealed IS NOT NULL
     UNION ALL SELECT details_sealed FROM files WHERE push_id IN (SELECT id FROM pushes WHERE owner_id IS NOT NULL)`,
  );
  // SQLite keeps a destroyed key as zeros of the same length.
  const sealed = found.filter((row) => row.sealed.some((byte) => byte !== 0));
  const ids: Record<string, number> = {};
  for (const row of sealed) {
    const id = envelopeKeyId(row.sealed) ?? "?";
    ids[id] = (ids[id] ?? 0) + 1;
  }
  return ids;
}

async function fill(fixture: TestDomain) {
  const { pushes } = fixture.domain;
  const anonymous = await pushes.create({ payload: "nobody's" }, stranger);
  const locked = await pushes.create({ payload: "locked", passphrase: "open sesame" }, stranger);
  const owned = await pushes.create({ payload: "owned", name: "VPN", note: "for Jo" }, owner);
  const ended = await pushes.create({ payload: "ended", name: "old" }, owner);
  await pushes.expire(ended.urlToken, owner);
  const files = await pushFiles(pushes, owner, [makeFile("plan.txt", "the plan")]);
  return { anonymous, locked, owned, ended, files };
}

async function expectAllOpen(fixture: TestDomain, made: Awaited<ReturnType<typeof fill>>): Promise<void> {
  const { pushes } = fixture.domain;
  const claim = async (urlToken: string, passphrase?: string) =>
    pushes.claimView(urlToken, { ...countEveryone, ...(passphrase && { passphrase }) }, stranger);
  expect(await claim(made.anonymous.urlToken)).toMatchObject({ outcome: "revealed", payload: "nobody's" });
  expect(await claim(made.locked.urlToken, "open sesame")).toMatchObject({ outcome: "revealed", payload: "locked" });
  expect(await claim(made.owned.urlToken)).toMatchObject({ outcome: "revealed", payload: "owned" });
  expect(await claim(made.ended.urlToken)).toMatchObject({ outcome: "gone" });
  const [file] = await claimFiles(pushes, made.files.urlToken, stranger);
  expect(file).toMatchObject({ filename: "plan.txt" });
  const download = await pushes.openTicket(file?.ticket ?? "", stranger);
  expect(download && (await readDownload(download)).toString()).toBe("the plan");
  const listed = [...(await pushes.list(7, "active", 1)), ...(await pushes.list(7, "expired", 1))];
  expect(listed.map((push) => push.name)).toEqual([null, "VPN", "old"]);
  expect(listed.map((push) => push.urlToken)).toEqual(
    [made.files, made.owned, made.ended].map((push) => push.urlToken),
  );
}

test("after a rotation everything is sealed under the new key, the old one can be removed, and everything opens", async () => {
  const dataDir = makeFolder();
  let made: Awaited<ReturnType<typeof fill>>;
  let old = "";
  {
    await using fixture = await open(dataDir, "first");
    made = await fill(fixture);
    old = activeId(fixture);
  }
  {
    await using fixture = await open(dataDir, "second", "first");
    const report = await rotate(fixture);
    // Two secrets, five row secrets but the ended one's, the link secret of the account, names and note, and the file's name.
    expect(report).toEqual({ resealed: 2 + 4 + 1 + 3 + 1, retiredKeyIds: [old] });
    expect(await keyIdsInDatabase(fixture)).toEqual({ [activeId(fixture)]: 11 });
    expect(await keysInUse(fixture.domain.db)).toEqual([activeId(fixture)]);
    // A second run changes nothing.
    expect(await rotate(fixture)).toEqual({ resealed: 0, retiredKeyIds: [] });
  }
  await expect(open(dataDir, "first")).rejects.toBeInstanceOf(WrongMasterKeyError);
  await using fixture = await open(dataDir, "second");
  await expectAllOpen(fixture, made);
});

test("a rotation that was interrupted is finished by the next, which then retires the key", async () => {
  const dataDir = makeFolder();
  let made: Awaited<ReturnType<typeof fill>>;
  {
    await using fixture = await open(dataDir, "first");
    made = await fill(fixture);
    const more = Array.from({ length: 450 }, () => fixture.domain.pushes.create({ payload: "x" }, stranger));
    await Promise.all(more);
  }
  await using fixture = await open(dataDir, "second", "first");
  const { db } = fixture.domain;
  let writes = 0;
  const dying = overrideWrite(db, (work) => {
    writes += 1;
    return writes > 2 ? Promise.reject(new Error("killed")) : db.write(work);
  });
  await expect(rotate(fixture, dying)).rejects.toThrow("killed");
  expect(Object.keys(await keyIdsInDatabase(fixture))).toHaveLength(2);
  expect(await keysInUse(db)).toHaveLength(2);
  const report = await rotate(fixture);
  expect(report.resealed).toBeGreaterThan(300);
  expect(report.retiredKeyIds).toHaveLength(1);
  expect(Object.keys(await keyIdsInDatabase(fixture))).toEqual([activeId(fixture)]);
  await expectAllOpen(fixture, made);
});

test("claims and creations go on while keys rotate, in two processes", async () => {
  const dataDir = makeFolder();
  {
    await using fixture = await open(dataDir, "first");
    await fixture.domain.pushes.create({ payload: "x" }, stranger);
  }
  await using fixture = await open(dataDir, "second", "first");
  await using server = await open(dataDir, "second", "first");
  await registryOf(server).beat(asProcess(server, "server"), clock.now());
  const { pushes } = server.domain;
  const made = await Promise.all(
    Array.from({ length: 600 }, () => pushes.create({ payload: "x", expireAfterViews: 2 }, stranger)),
  );
  const claimAll = () => Promise.all(made.map((push) => pushes.claimView(push.urlToken, countEveryone, stranger)));
  const [report, outcomes] = await Promise.all([
    rotate(fixture),
    claimAll(),
    ...Array.from({ length: 100 }, () => pushes.create({ payload: "y" }, stranger)),
  ]);
  expect(report.retiredKeyIds).toHaveLength(1);
  expect(new Set(outcomes.map((claim) => claim.outcome))).toEqual(new Set(["revealed"]));
  expect((await claimAll()).every((claim) => claim.outcome === "revealed")).toBe(true);
  expect(Object.keys(await keyIdsInDatabase(fixture))).toEqual([activeId(fixture)]);
});

test("nothing is rotated while a running process seals under another key", async () => {
  const dataDir = makeFolder();
  await using old = await open(dataDir, "first", "second");
  await old.domain.pushes.create({ payload: "x" }, stranger);
  await registryOf(old).beat(asProcess(old, "old"), clock.now());
  await using fixture = await open(dataDir, "second", "first");
  await expect(rotate(fixture)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringMatching(/1 running process.*put it first/s),
  });
  expect(Object.keys(await keyIdsInDatabase(fixture))).toEqual([activeId(old)]);
  await registryOf(old).remove("old");
  expect((await rotate(fixture)).retiredKeyIds).toEqual([activeId(old)]);
});

test("a process that uses the old key for part of a rotation keeps that key from being retired", async () => {
  const dataDir = makeFolder();
  await using old = await open(dataDir, "first");
  const made = Array.from({ length: 299 }, () => old.domain.pushes.create({ payload: "x" }, stranger));
  await Promise.all([...made, old.domain.pushes.create({ payload: "x" }, owner)]);
  await using fixture = await open(dataDir, "second", "first");
  const { db } = fixture.domain;
  let late = "";
  let batches = 0;
  const visited = overrideWrite(db, async (work) => {
    const done = await db.write(work);
    batches += 1;
    // One batch of the domain's secrets, three of row secrets, and then the link of the owned push.
    if (batches === 5) {
      clock.advance(1);
      await registryOf(old).beat(asProcess(old, "old"), clock.now());
      late = (await old.domain.pushes.create({ payload: "sealed behind" }, stranger)).urlToken;
      await registryOf(old).remove("old");
    }
    return done;
  });
  await expect(rotate(fixture, visited)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringMatching(/once more/),
  });
  expect(await keysInUse(db)).toHaveLength(2);
  expect(await rotate(fixture)).toMatchObject({ resealed: 1, retiredKeyIds: [activeId(old)] });
  expect(await fixture.domain.pushes.claimView(late, countEveryone, stranger)).toMatchObject({
    outcome: "revealed",
    payload: "sealed behind",
  });
});

test("a process that was considered stopped and returns un-retires its key", async () => {
  const dataDir = makeFolder();
  await using old = await open(dataDir, "first");
  await registryOf(old).beat(asProcess(old, "old"), clock.now());
  clock.advance(minuteMs);
  await using fixture = await open(dataDir, "second", "first");
  await rotate(fixture);
  expect(await keysInUse(fixture.domain.db)).toEqual([activeId(fixture)]);
  await registryOf(old).beat(asProcess(old, "old"), clock.now());
  await old.domain.pushes.create({ payload: "x" }, stranger);
  await registryOf(old).remove("old");
  // So a start without the key is refused before it meets rows that it cannot open.
  await expect(open(dataDir, "second")).rejects.toBeInstanceOf(WrongMasterKeyError);
  expect(await rotate(fixture)).toMatchObject({ resealed: 1, retiredKeyIds: [activeId(old)] });
  await (await open(dataDir, "second")).domain.close();
});

test("tickets from before a rotation work as long as the old key is known", async () => {
  const dataDir = makeFolder();
  let ticket = "";
  {
    await using fixture = await open(dataDir, "first");
    const { pushes } = fixture.domain;
    const { urlToken } = await pushFiles(pushes, owner, [makeFile("a.txt", "a")]);
    ticket = (await claimFiles(pushes, urlToken, stranger))[0]?.ticket ?? "";
  }
  {
    await using fixture = await open(dataDir, "second", "first");
    await rotate(fixture);
    expect(await fixture.domain.pushes.openTicket(ticket, stranger)).toBeDefined();
  }
  await using fixture = await open(dataDir, "second");
  expect(await fixture.domain.pushes.openTicket(ticket, stranger)).toBeUndefined();
});
