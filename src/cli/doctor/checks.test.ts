import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testConfig } from "../../../test/support/domain.ts";
import { makeFolder } from "../../../test/support/folders.ts";
import { startMailSink } from "../../../test/support/mail-sink.ts";
import { always } from "../../../test/support/s3/faults.ts";
import { startForeignStore } from "../../../test/support/s3/foreign-store.ts";
import { environmentOf, startObjectStore } from "../../../test/support/s3/object-store.ts";
import { minuteMs, systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { markerName } from "../../blobs/file-blob-store.ts";
import type { Config } from "../../config/config.ts";
import { loadConfig } from "../../config/load-config.ts";
import { pinnedPrograms } from "../../config/pinned-programs.ts";
import { createSmtpMailer } from "../../mail/smtp.ts";
import {
  checkBlobFolder,
  checkBucket,
  checkClock,
  checkFailedMails,
  checkMail,
  checkNode,
  checkSpace,
  checkWritable,
} from "./checks.ts";
import { check } from "./finding.ts";

const gibibyte = 1024 ** 3;

function configOf(environment: Readonly<Record<string, string>>): Config {
  const loaded = loadConfig(environment, () => "");
  if (!loaded.ok) throw new Error(loaded.mistakes.join(" "));
  return loaded.config;
}

describe("checkNode", () => {
  it("warns of a Node that lacks known fixes", () => {
    expect(checkNode("24.16.0")).toMatchObject({ level: "warn", sentence: expect.stringContaining("24.16.0 lacks") });
    expect(checkNode(pinnedPrograms.node.version)).toMatchObject({ level: "ok" });
  });
});

describe("checkWritable", () => {
  it("leaves no file behind, and checks the database's folder too", () => {
    const [data, other] = [makeFolder(), makeFolder()];
    expect(checkWritable(configOf({ DATA_DIR: data }), systemRandom)).toMatchObject([{ level: "ok" }]);
    const apart = configOf({ DATA_DIR: data, DATABASE_URL: `sqlite:${join(other, "sub", "a.sqlite3")}` });
    expect(checkWritable(apart, systemRandom)).toMatchObject([{ level: "ok" }, { level: "fail" }]);
    expect(readdirSync(data)).toEqual([]);
  });

  it("names the system's reason", () => {
    const file = join(makeFolder(), "file");
    writeFileSync(file, "");
    expect(checkWritable(configOf({ DATA_DIR: file }), systemRandom)).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("(not a folder)") },
    ]);
  });
});

describe("checkSpace", () => {
  const space = async (freeGibibytes: number, totalGibibytes: number, environment = {}) => {
    const measured = { freeBytes: freeGibibytes * gibibyte, totalBytes: totalGibibytes * gibibyte };
    const [finding] = await checkSpace(configOf(environment), async () => measured);
    return finding?.level;
  };

  it("compares the free space with the configured minimum", async () => {
    expect(await space(3, 10)).toBe("ok");
    expect(await space(0.9, 10)).toBe("warn");
    expect(await space(0.4, 10)).toBe("fail");
    expect(await space(1.5, 100)).toBe("warn");
    expect(await space(0.9, 100)).toBe("fail");
    expect(await space(0.4, 10, { PWP__DISK__FREE_MIN_BYTES: "1000" })).toBe("ok");
  });
});

const runBucketCheck = (environment: Readonly<Record<string, string>>, dataDir = makeFolder()) =>
  check("files in S3", () =>
    checkBucket(testConfig(dataDir, environment), {
      clock: systemClock,
      random: systemRandom,
      pause: async () => undefined,
    }),
  );

describe("checkBucket", () => {
  it("reports nothing if files are stored on disk", async () => {
    expect(await runBucketCheck({})).toEqual([]);
  });

  it("stores, reads and deletes, and leaves nothing behind", async () => {
    const remote = await startObjectStore();
    expect(await runBucketCheck(environmentOf(remote))).toMatchObject([{ level: "ok" }]);
    expect(remote.operations).toEqual(expect.arrayContaining(["PutObject", "GetObject", "DeleteObject"]));
    expect([remote.objects.size, remote.uploads.size]).toEqual([0, 0]);
  });

  it("names the missing permission", async () => {
    const needed = [
      "PutObject",
      "GetObject",
      "CreateMultipartUpload",
      "AbortMultipartUpload",
      "ListMultipartUploads",
      "DeleteObject",
    ];
    for (const operation of needed) {
      const remote = await startObjectStore();
      remote.plan = always("denied", operation);
      const sentence = expect.stringContaining(`${operation} with 403 (AccessDenied)`);
      expect(await runBucketCheck(environmentOf(remote))).toMatchObject([{ level: "fail", sentence }]);
    }
  });

  it("warns about a bucket that keeps versions, and about files that are still on disk", async () => {
    const remote = await startObjectStore();
    remote.plan = always("versioned", "PutObject");
    const dataDir = makeFolder();
    mkdirSync(join(dataDir, "blobs", "00"), { recursive: true });
    writeFileSync(join(dataDir, "blobs", "00", "a"), "");
    expect(await runBucketCheck(environmentOf(remote), dataDir)).toMatchObject([
      { level: "ok" },
      { level: "warn", sentence: expect.stringContaining("keeps versions") },
      { level: "warn", sentence: expect.stringContaining("copy them into the bucket") },
    ]);
  });

  it("reports a store that does not abort unfinished uploads", async () => {
    const foreign = await startForeignStore();
    expect(await runBucketCheck(foreign.environment)).toMatchObject([
      { level: "ok" },
      { level: "warn", sentence: expect.stringContaining("lifecycle rule") },
    ]);
  });

  it("fails if the store does not answer", async () => {
    const remote = await startObjectStore();
    await remote.close();
    expect(await runBucketCheck(environmentOf(remote))).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("(connection refused)") },
    ]);
  });
});

const start = Date.UTC(2030, 0, 1);

/** Watches 250 ms of a clock that moves `wallMs` in the meantime. */
async function watch(wallMs: number, newestTime: number | undefined, startedAt = start) {
  const at = { wall: startedAt, monotonic: 0 };
  const [finding] = await checkClock({
    clock: { now: () => at.wall },
    monotonicMs: () => at.monotonic,
    pause: async () => {
      at.wall += wallMs;
      at.monotonic += 250;
    },
    newestTime,
  });
  return finding;
}

describe("checkClock", () => {
  it("accepts a clock that runs steadily and is not behind the database", async () => {
    expect(await watch(250, undefined)).toMatchObject({ level: "ok" });
    expect(await watch(251, start)).toMatchObject({ level: "ok" });
    expect(await watch(250, start + minuteMs)).toMatchObject({ level: "ok" });
  });

  it("fails if the clock is behind the database or set to 1970", async () => {
    expect(await watch(250, start + 2 * minuteMs)).toMatchObject({
      level: "fail",
      sentence: expect.stringContaining("2030-01-01T00:02:00.000Z"),
    });
    expect(await watch(250, undefined, 0)).toMatchObject({ level: "fail", sentence: expect.stringContaining("1970") });
  });

  it("warns if the clock jumps during the check", async () => {
    expect(await watch(-5_000, undefined)).toMatchObject({
      level: "warn",
      sentence: expect.stringContaining("5250 ms"),
    });
  });
});

const runMailCheck = (environment: Readonly<Record<string, string>>) =>
  checkMail(testConfig("/nowhere", environment).mail, createSmtpMailer);

describe("checkMail", () => {
  it("succeeds if no mail server is configured", async () => {
    expect(await runMailCheck({})).toMatchObject([
      { level: "ok", sentence: expect.stringContaining("No mail server is set") },
    ]);
  });

  it("connects and signs in, and sends nothing", async () => {
    const sink = await startMailSink({ signIn: { userName: "push", password: "right" } });
    expect(await runMailCheck(sink.environment)).toMatchObject([
      { level: "ok", sentence: expect.stringContaining("accepts the sign-in") },
    ]);
    const [wrong] = await runMailCheck({ ...sink.environment, PWP__MAIL__SMTP_PASSWORD: "wrong" });
    expect(wrong).toMatchObject({ level: "fail", sentence: expect.stringContaining("refused the sign-in (535") });
    expect(sink.attempts()).toBe(0);
  });

  it("names the problem: no server, no encryption, an untrusted certificate", async () => {
    const gone = await startMailSink();
    await gone.stop();
    expect(await runMailCheck(gone.environment)).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("(connection refused)") },
    ]);
    const plain = await startMailSink();
    expect(await runMailCheck({ ...plain.environment, PWP__MAIL__SMTP_STARTTLS: "required" })).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("could not be encrypted") },
    ]);
    const unknown = await startMailSink({ encryption: "starttls" });
    expect(await runMailCheck(unknown.environment)).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("could not be encrypted (depth zero self signed cert)") },
    ]);
  });
});

describe("checkFailedMails", () => {
  it("reports failed emails only if there are any", () => {
    expect(checkFailedMails(0)).toEqual([]);
    expect(checkFailedMails(2)).toMatchObject([{ level: "warn", sentence: expect.stringContaining("2 email(s)") }]);
  });
});

describe("the folder of the files", () => {
  it("fails without its marker once the database names files", () => {
    const unmounted = testConfig(makeFolder());
    expect(checkBlobFolder(unmounted, false)).toEqual([]);
    expect(checkBlobFolder(unmounted, true)).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("mount the folder") },
    ]);
    mkdirSync(join(unmounted.dataDir, "blobs"));
    writeFileSync(join(unmounted.dataDir, "blobs", markerName), "");
    expect(checkBlobFolder(unmounted, true)).toEqual([]);
  });
});
