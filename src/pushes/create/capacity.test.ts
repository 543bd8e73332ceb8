import { describe, expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, testConfig } from "../../../test/support/domain.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { minuteMs } from "../../base/clock.ts";
import { type Capacity, createCapacity } from "./capacity.ts";

const owner = signedIn(7);
const gibibyte = 1024 ** 3;
const full = expect.objectContaining({ code: "unavailable", retryAfterSeconds: 60 });

const s3 = {
  PWP__FILES__STORAGE: "s3",
  PWP__FILES__S3__ENDPOINT: "https://store.example.com",
  PWP__FILES__S3__BUCKET: "files",
  PWP__FILES__S3__ACCESS_KEY_ID: "id",
  PWP__FILES__S3__SECRET_ACCESS_KEY: "key",
};

interface Measured {
  freeBytes: number;
  totalBytes: number;
  anonymousBytes: number;
}

/** @param tookMs how long adding up the bytes of anonymous pushes takes. */
function makeCapacity(environment: Record<string, string>, measured: Measured, tookMs = 0) {
  let monotonicMs = 0;
  let measurings = 0;
  let sums = 0;
  const capacity = createCapacity({
    config: testConfig("/nowhere", environment),
    monotonicMs: () => monotonicMs,
    diskSpace: async () => {
      measurings += 1;
      return { freeBytes: measured.freeBytes, totalBytes: measured.totalBytes };
    },
    anonymousBytes: async () => {
      sums += 1;
      monotonicMs += tookMs;
      return measured.anonymousBytes;
    },
  });
  return {
    capacity,
    measured,
    measurings: () => measurings,
    sums: () => sums,
    advance(ms: number) {
      monotonicMs += ms;
    },
  };
}

const takes = async (capacity: Capacity, bytes: number, actor = owner): Promise<boolean> =>
  capacity.assertRoomFor(actor, bytes).then(
    () => true,
    (error: unknown) => {
      expect(error).toEqual(full);
      return false;
    },
  );

describe("the disk", () => {
  const automatic = { PWP__DISK__FREE_MIN_BYTES: "auto" };

  test("keeps the smaller of 1 GiB and 5 % of itself", async () => {
    const small = { freeBytes: gibibyte / 2 + 100, totalBytes: 10 * gibibyte, anonymousBytes: 0 };
    expect(await takes(makeCapacity(automatic, small).capacity, 100)).toBe(true);
    expect(await takes(makeCapacity(automatic, small).capacity, 101)).toBe(false);
    const large = { freeBytes: gibibyte + 100, totalBytes: 1000 * gibibyte, anonymousBytes: 0 };
    expect(await takes(makeCapacity(automatic, large).capacity, 100)).toBe(true);
    expect(await takes(makeCapacity(automatic, large).capacity, 101)).toBe(false);
  });

  test("keeps free what the operator sets, and is measured once in five seconds", async () => {
    const environment = {
      PWP__DISK__FREE_MIN_BYTES: "1000",
      PWP__DISK__RESERVE_BYTES: "0",
      PWP__ANONYMOUS_BYTES_MAX: "unlimited",
    };
    const { capacity, measured, measurings, advance } = makeCapacity(environment, {
      freeBytes: 1_500,
      totalBytes: 10_000,
      anonymousBytes: 0,
    });
    expect(await takes(capacity, 300)).toBe(true);
    // Bytes accepted since the measurement count, although the disk was not measured again.
    expect(await takes(capacity, 300, stranger)).toBe(false);
    expect(await takes(capacity, 200, stranger)).toBe(true);
    expect(measurings()).toBe(1);
    measured.freeBytes = 5_000;
    advance(4_999);
    expect(await takes(capacity, 300)).toBe(false);
    advance(1);
    expect(await takes(capacity, 300)).toBe(true);
    expect(measurings()).toBe(2);
  });

  test("does not limit files in an object store, but still limits the database", async () => {
    const room = { freeBytes: gibibyte / 2 + 100, totalBytes: 10 * gibibyte, anonymousBytes: 0 };
    await expect(makeCapacity(automatic, room).capacity.assertRoomForFile(owner, 101)).rejects.toEqual(full);
    const { capacity } = makeCapacity({ ...automatic, ...s3 }, room);
    await capacity.assertRoomForFile(owner, 50 * gibibyte);
    expect(await takes(capacity, 101)).toBe(false);
    expect(await takes(capacity, 100)).toBe(true);
  });

  test("is measured again after 64 MiB, because other processes take space too", async () => {
    const { capacity, measured, measurings } = makeCapacity(automatic, {
      freeBytes: 500 * gibibyte,
      totalBytes: 1000 * gibibyte,
      anonymousBytes: 0,
    });
    await takes(capacity, 64 * 1024 ** 2);
    measured.freeBytes = 0;
    expect(await takes(capacity, 1)).toBe(false);
    expect(measurings()).toBe(2);
  });

  test("is measured once for concurrent requests", async () => {
    const { capacity, measurings } = makeCapacity(automatic, {
      freeBytes: 500 * gibibyte,
      totalBytes: 1000 * gibibyte,
      anonymousBytes: 0,
    });
    expect(await Promise.all(Array.from({ length: 50 }, () => takes(capacity, 1)))).toEqual(Array(50).fill(true));
    expect(measurings()).toBe(1);
  });

  test("fails all waiting requests if it cannot be measured, and the next request measures it again", async () => {
    let fails = true;
    const capacity = createCapacity({
      config: testConfig("/nowhere"),
      monotonicMs: () => 0,
      diskSpace: async () => {
        if (fails) throw new Error("no disk");
        return { freeBytes: 1_000, totalBytes: 1_000 };
      },
      anonymousBytes: async () => 0,
    });
    await expect(capacity.assertRoomFor(owner, 1)).rejects.toThrow("no disk");
    fails = false;
    await capacity.assertRoomFor(owner, 1);
  });
});

/** Takes pushes until one is refused. @returns the bytes taken. */
async function fill(capacity: Capacity, bytes: number, actor: typeof owner): Promise<number> {
  let taken = 0;
  while (await takes(capacity, bytes, actor)) taken += bytes;
  return taken;
}

describe("the reserve for signed-in people", () => {
  const room = { freeBytes: 10_000, totalBytes: 100_000, anonymousBytes: 0 };
  const floor = { PWP__DISK__FREE_MIN_BYTES: "1000", PWP__ANONYMOUS_BYTES_MAX: "unlimited" };

  test.each([
    ["as much as the minimum by default", {}, 8_000, 1_000],
    ["set in bytes", { PWP__DISK__RESERVE_BYTES: "4000" }, 5_000, 4_000],
    ["switched off", { PWP__DISK__RESERVE_BYTES: "0" }, 9_000, 0],
  ])("is %s", async (_, more, anonymousBytes, reservedBytes) => {
    const { capacity } = makeCapacity({ ...floor, ...more }, room);
    expect(await fill(capacity, 100, stranger)).toBe(anonymousBytes);
    expect(await fill(capacity, 100, owner)).toBe(reservedBytes);
  });

  test("is not for answers that strangers send to somebody's request", async () => {
    const { capacity } = makeCapacity(floor, room);
    expect(await fill(capacity, 100, { ...owner, answersRequest: { maxMinutes: null } })).toBe(8_000);
  });

  test("also stops anonymous files in an object store: their rows need the disk", async () => {
    const { capacity } = makeCapacity({ ...floor, ...s3 }, { ...room, freeBytes: 1_999 });
    await expect(capacity.assertRoomForFile(stranger, 0)).rejects.toEqual(full);
    await capacity.assertRoomForFile(owner, 5_000);
  });

  test("is not touched by a quota that is larger than the disk", async () => {
    const { capacity } = makeCapacity({ ...floor, PWP__ANONYMOUS_BYTES_MAX: "1TiB" }, room);
    expect(await fill(capacity, 100, stranger)).toBe(8_000);
    expect(await takes(capacity, 1_000, owner)).toBe(true);
  });
});

describe("the anonymous quota by default", () => {
  const floor = { PWP__DISK__FREE_MIN_BYTES: "1000" };

  test("is half of what others do not use, above the floor and the reserve", async () => {
    const { capacity } = makeCapacity(floor, { freeBytes: 10_000, totalBytes: 100_000, anonymousBytes: 0 });
    expect(await fill(capacity, 100, stranger)).toBe(4_000);
    expect(await fill(capacity, 100, owner)).toBe(5_000);
  });

  test("counts the bytes of existing anonymous pushes", async () => {
    const held = { freeBytes: 6_000, totalBytes: 100_000, anonymousBytes: 3_900 };
    expect(await fill(makeCapacity(floor, held).capacity, 10, stranger)).toBe(50);
    const more = { freeBytes: 6_000, totalBytes: 100_000, anonymousBytes: 4_100 };
    expect(await takes(makeCapacity(floor, more).capacity, 1, stranger)).toBe(false);
  });

  test.each([
    ["with files in an object store", s3],
    ["on PostgreSQL", { DATABASE_URL: "postgres://sealpush@127.0.0.1/sealpush" }],
  ])("is 10 GiB %s, where the size of the storage is not known", async (_, elsewhere) => {
    const room = { freeBytes: 900 * gibibyte, totalBytes: 1000 * gibibyte };
    const almost = { ...room, anonymousBytes: 10 * gibibyte - 1 };
    expect(await takes(makeCapacity({ ...floor, ...elsewhere }, almost).capacity, 1, stranger)).toBe(true);
    expect(await takes(makeCapacity({ ...floor, ...elsewhere }, almost).capacity, 2, stranger)).toBe(false);
  });

  test("can be switched off", async () => {
    const environment = { ...floor, PWP__ANONYMOUS_BYTES_MAX: "unlimited" };
    const { capacity, sums } = makeCapacity(environment, { freeBytes: 10_000, totalBytes: 100_000, anonymousBytes: 0 });
    expect(await fill(capacity, 100, stranger)).toBe(8_000);
    expect(sums()).toBe(0);
  });
});

describe("the anonymous quota", () => {
  const environment = { PWP__ANONYMOUS_BYTES_MAX: "1000" };
  const room = { freeBytes: gibibyte, totalBytes: gibibyte };

  test("counts files in an object store", async () => {
    const { capacity } = makeCapacity({ ...environment, ...s3 }, { ...room, anonymousBytes: 0 });
    await capacity.assertRoomForFile(stranger, 900);
    await expect(capacity.assertRoomForFile(stranger, 200)).rejects.toEqual(full);
  });

  test("applies only to anonymous callers, and counts bytes between two measurements", async () => {
    const { capacity, measured, advance } = makeCapacity(environment, { ...room, anonymousBytes: 400 });
    expect(await takes(capacity, 500, stranger)).toBe(true);
    expect(await takes(capacity, 101, stranger)).toBe(false);
    expect(await takes(capacity, 100_000, owner)).toBe(true);
    expect(await takes(capacity, 100, stranger)).toBe(true);
    expect(await takes(capacity, 1, stranger)).toBe(false);
    measured.anonymousBytes = 900;
    advance(5_000);
    expect(await takes(capacity, 100, stranger)).toBe(true);
    expect(await takes(capacity, 1, stranger)).toBe(false);
  });

  test.each([
    ["a fiftieth of the time", 1_000, 50_000],
    ["once a minute, however long it takes", 20_000, minuteMs],
  ])("is recomputed for %s when that is slow", async (_, tookMs, holdsMs) => {
    const { capacity, sums, advance } = makeCapacity(environment, { ...room, anonymousBytes: 0 }, tookMs);
    await takes(capacity, 1, stranger);
    advance(holdsMs - 1);
    await takes(capacity, 1, stranger);
    expect(sums()).toBe(1);
    advance(1);
    await takes(capacity, 1, stranger);
    expect(sums()).toBe(2);
  });

  test("applies in the domain: strangers are refused, claims still work, and ended pushes free space", async () => {
    await using fixture = await openTestDomain({ environment });
    const { pushes, store } = fixture.domain;
    const make = (bytes: number, actor = stranger) => pushes.create({ payload: "x".repeat(bytes) }, actor);
    const first = await make(600);
    await make(300);
    await expect(make(101)).rejects.toEqual(full);
    await make(5_000, owner);
    expect(await store.upkeep.anonymousBytes()).toBe(900);
    expect(await pushes.claimView(first.urlToken, countEveryone, stranger)).toMatchObject({
      outcome: "revealed",
    });
    await pushes.expire(first.urlToken, stranger);
    expect(await store.upkeep.anonymousBytes()).toBe(300);
    fixture.clock.advance(5_000);
    await make(600);
  });
});

test("the anonymous total follows creations, every kind of end, and uploads in progress", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__FILES__ALLOW_ANONYMOUS: "true" } });
  const { pushes, store } = fixture.domain;
  const total = () => store.upkeep.anonymousBytes();
  const viewed = await pushes.create({ payload: "x".repeat(10), expireAfterViews: 1 }, stranger);
  const deleted = await pushes.create({ payload: "x".repeat(200) }, stranger);
  const short = await pushes.create({ payload: "é".repeat(1_000), expireAfterMs: 15 * minuteMs }, stranger);
  await pushes.create({ payload: "x".repeat(40_000) }, owner);
  expect(await total()).toBe(2_210);

  const upload = await pushes.beginUpload(stranger);
  await upload.addFile(makeFile("a.txt", "x".repeat(50_000)));
  expect(await total()).toBe(52_210);
  const gone = await pushes.beginUpload(stranger);
  await gone.addFile(makeFile("b.txt", "x".repeat(70_000)));
  await (await pushes.beginUpload(owner)).addFile(makeFile("c.txt", "x".repeat(90_000)));
  expect(await total()).toBe(122_210);
  await gone.abandon();
  expect(await total()).toBe(52_210);
  const files = await pushes.create({ upload, payload: "with a note" }, stranger);
  expect(await total()).toBe(52_221);
  await pushFiles(pushes, owner, [makeFile("d.txt", "x".repeat(90_000))]);

  await pushes.claimView(viewed.urlToken, countEveryone, stranger);
  expect(await total()).toBe(52_211);
  await pushes.expire(deleted.urlToken, stranger);
  expect(await total()).toBe(52_011);
  fixture.clock.advance(15 * minuteMs);
  await pushes.claimView(short.urlToken, countEveryone, stranger);
  await pushes.claimView(short.urlToken, countEveryone, stranger);
  expect(await total()).toBe(50_011);
  await pushes.expire(files.urlToken, stranger);
  expect(await total()).toBe(0);
});
