import { minuteMs } from "../../base/clock.ts";
import { unavailable } from "../../base/errors.ts";
import { freeDiskFloorBytes, type StatFs } from "../../blobs/disk.ts";
import type { Config } from "../../config/config.ts";
import type { Actor } from "../push.ts";

export type Capacity = ReturnType<typeof createCapacity>;

interface Measured {
  /** On the monotonic clock. */
  readonly holdsUntil: number;
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly anonymousBytes: number;
}

const remeasureMsMin = 5_000;
const remeasureMsMax = minuteMs;
/** Adding up millions of pushes is slow, so it takes at most a fiftieth of the time. */
const restShare = 50;
const retryAfterSeconds = 60;

/**
 * Creation stops while some space is left, so that claims, ends and sweeps, which write a little, still work.
 * The disk is measured at most every 5 seconds, and at most once a minute where measuring is slow. Bytes that this process
 * accepts in between are added here.
 */
export function createCapacity(deps: {
  config: Config;
  monotonicMs: () => number;
  diskSpace: StatFs;
  anonymousBytes: () => Promise<number>;
}) {
  const { config } = deps;
  let measured: Measured | undefined;
  let measuring: Promise<Measured> | undefined;
  let takenSince = 0;
  let anonymousSince = 0;

  async function measure(): Promise<Measured> {
    const startedAt = deps.monotonicMs();
    const disk = await deps.diskSpace();
    const anonymousBytes = config.anonymousBytesMax === undefined ? 0 : await deps.anonymousBytes();
    takenSince = 0;
    anonymousSince = 0;
    const measuredAt = deps.monotonicMs();
    const restMs = Math.min(remeasureMsMax, Math.max(remeasureMsMin, restShare * (measuredAt - startedAt)));
    const holdsUntil = measuredAt + restMs;
    measured = { holdsUntil, ...disk, anonymousBytes };
    return measured;
  }

  async function current(): Promise<Measured> {
    if (measured !== undefined && deps.monotonicMs() < measured.holdsUntil) return measured;
    measuring ??= measure().finally(() => {
      measuring = undefined;
    });
    return await measuring;
  }

  async function assertRoom(actor: Actor, bytes: number, diskBytes: number): Promise<void> {
    const now = await current();
    const floor = freeDiskFloorBytes(config.freeDiskBytesMin, now.totalBytes);
    if (now.freeBytes - takenSince - diskBytes < floor) {
      throw unavailable("The server's disk is nearly full: no new pushes are taken for now.", retryAfterSeconds);
    }
    if (actor.user === null && config.anonymousBytesMax !== undefined) {
      if (now.anonymousBytes + anonymousSince + bytes > config.anonymousBytesMax) {
        throw unavailable("The server holds as many anonymous pushes as it may. Try again later.", retryAfterSeconds);
      }
      anonymousSince += bytes;
    }
    takenSince += diskBytes;
  }

  return {
    /** @throws AppError unavailable when the disk is near full or the anonymous quota is used up. */
    assertRoomFor: (actor: Actor, bytes: number): Promise<void> => assertRoom(actor, bytes, bytes),
    /** The same for bytes of files, which need no disk space if they are stored in S3. */
    assertRoomForFile: (actor: Actor, bytes: number): Promise<void> =>
      assertRoom(actor, bytes, config.files.s3 === undefined ? bytes : 0),
  };
}
