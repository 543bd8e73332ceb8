import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger } from "../../../test/support/domain.ts";
import { makeFile } from "../../../test/support/files.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { dayMs, hourMs } from "../../base/clock.ts";
import { createPushes } from "../pushes.ts";

const owner = signedIn(7);
const elsewhere = { ...stranger, client: "198.51.100.1", address: "198.51.100.1" };
const environment = {
  PWP__CLIENT_BYTES_PER_DAY: "1000",
  PWP__ACCOUNT_BYTES_PER_DAY: "3000000",
  PWP__FILES__ALLOW_ANONYMOUS: "true",
};

async function openBudgets(more: Record<string, string> = {}) {
  const fixture = await openTestDomain({ environment: { ...environment, ...more } });
  const { pushes } = fixture.domain;
  const make = (bytes: number, actor = stranger) => pushes.create({ payload: "x".repeat(bytes) }, actor);
  const upload = async (bytes: number, actor = stranger) => {
    const begun = await pushes.beginUpload(actor);
    return { begun, added: begun.addFile(makeFile("a.bin", "x".repeat(bytes))) };
  };
  return { fixture, pushes, make, upload, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

const refused = (retryAfterSeconds: number) =>
  expect.objectContaining({ code: "bytes_used_up", retryAfterSeconds, message: expect.stringContaining("bytes") });

test("a client without an account has its bytes for a day, and other clients and accounts are unaffected", async () => {
  await using budgets = await openBudgets();
  const { make, fixture } = budgets;
  await make(600);
  fixture.clock.advance(hourMs);
  await expect(make(401)).rejects.toEqual(refused(23 * 3600));
  await make(400);
  await expect(make(1)).rejects.toEqual(refused(23 * 3600));
  await make(1_000, elsewhere);
  await make(100_000, owner);
  fixture.clock.advance(dayMs - hourMs);
  await make(1_000);
});

test("an IPv6 /56 has one and a half times the bytes of a client, a /48 twice as many", async () => {
  await using budgets = await openBudgets();
  const from = (network: string, bytes: number) =>
    budgets.make(bytes, { ...stranger, client: `2001:db8:${network}::/64` });
  await from("1:1200", 1_000);
  await expect(from("1:1201", 501)).rejects.toEqual(refused(86_400));
  await from("1:1201", 500);
  await expect(from("1:1202", 1)).rejects.toEqual(refused(86_400));
  await from("1:3400", 500);
  await expect(from("1:5600", 1)).rejects.toEqual(refused(86_400));
  await from("2:1200", 1_000);
});

test("an account has its bytes at every address", async () => {
  await using budgets = await openBudgets({ PWP__ACCOUNT_BYTES_PER_DAY: "1000" });
  await budgets.make(600, owner);
  await expect(budgets.make(600, { ...elsewhere, user: owner.user })).rejects.toEqual(refused(24 * 3600));
  await budgets.make(600, signedIn(8));
});

test("files count as they arrive, and are refused before all of a file is stored", async () => {
  await using budgets = await openBudgets();
  const { upload, pushes, make } = budgets;
  const first = await upload(900);
  await first.added;
  await expect(make(101)).rejects.toEqual(refused(24 * 3600));
  const { begun, added } = await upload(500);
  await expect(added).rejects.toEqual(refused(24 * 3600));
  await begun.abandon();
  await pushes.create({ upload: first.begun, payload: "x".repeat(100) }, stranger);
  await expect(make(1)).rejects.toEqual(refused(24 * 3600));

  const large = await pushes.beginUpload(owner);
  const read: number[] = [];
  const chunks = async function* () {
    for (let at = 0; at < 100; at += 1) {
      read.push(at);
      yield new Uint8Array(100_000);
    }
  };
  const file = { filename: "large.bin", contentType: "application/octet-stream", content: chunks() };
  await expect(large.addFile(file)).rejects.toEqual(refused(24 * 3600));
  // At most one mebibyte beyond the budget of 3 MB.
  expect(read.length).toBeLessThanOrEqual(42);
});

test("a creation that is refused is refunded", async () => {
  await using budgets = await openBudgets();
  const { make, upload, pushes } = budgets;
  await expect(pushes.create({ payload: "x".repeat(900), expireAfterViews: 0 }, stranger)).rejects.toThrow();
  const gone = await upload(900);
  await gone.added;
  await gone.begun.abandon();
  const kept = await upload(900);
  await kept.added;
  await expect(pushes.create({ upload: kept.begun, payload: "x".repeat(200) }, stranger)).rejects.toEqual(
    refused(86_400),
  );
  await make(1_000);
});

test("a failed insert is refunded", async () => {
  await using budgets = await openBudgets();
  const { store } = budgets.fixture.domain;
  const deps = pushDepsOf(budgets.fixture);
  const broken = createPushes({ ...deps, store: { ...store, insertPush: () => Promise.reject(new Error("no disk")) } });
  for (let at = 0; at < 3; at += 1) {
    await expect(broken.create({ payload: "x".repeat(900) }, stranger)).rejects.toThrow("no disk");
  }
  await createPushes(deps).create({ payload: "x".repeat(1_000) }, stranger);
});

test("an edit counts its new content, and is refunded when it changes nothing", async () => {
  await using budgets = await openBudgets({ PWP__ACCOUNT_BYTES_PER_DAY: "1000" });
  const { make, pushes } = budgets;
  const { urlToken } = await make(400, owner);
  const edit = (bytes: number) => pushes.edit(urlToken, { payload: "y".repeat(bytes) }, owner);
  await expect(edit(700)).rejects.toEqual(refused(86_400));
  expect(await pushes.edit("unknown-token", { payload: "y".repeat(500) }, owner)).toEqual({ outcome: "unknown" });
  expect(await edit(600)).toMatchObject({ outcome: "edited" });
  expect(await pushes.edit(urlToken, { expireAfterViews: 9 }, owner)).toMatchObject({ outcome: "edited" });
  await expect(make(1, owner)).rejects.toEqual(refused(86_400));
});

test("0 switches a budget off", async () => {
  await using budgets = await openBudgets({ PWP__CLIENT_BYTES_PER_DAY: "0", PWP__ACCOUNT_BYTES_PER_DAY: "0" });
  for (let at = 0; at < 3; at += 1) await budgets.make(1_000_000);
  for (let at = 0; at < 4; at += 1) await budgets.make(1_000_000, owner);
});
