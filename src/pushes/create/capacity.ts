import { minuteMs } from "../../base/clock.ts";
import { unavailable } from "../../base/errors.ts";
import { freeDiskFloorBytes, type StatFs } from "../../blobs/disk.ts";
import type { Config } from "../../config/config.ts";
import type { Actor } from "../push.ts";

export interface Capacity {
  /** @throws AppError unavailable when the disk is near full or the anonymous quota is used up. */
  assertRoomFor(actor: Actor, bytes: number): Promise<void>;
  /** The same for bytes of files, which take no room on this disk if they are stored in S3. */
  assertRoomForFile(actor: Actor, bytes: number): Promise<void>;
}

interface Measured {
  /** By the monotonic clock. */
  readonly holdsUntil: number;
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly anonymousBytes: number;
}

const remeasureMsMin = 5_000;
const remeasureMsMax = minuteMs;
/** Millions of pushes take a moment to add up: as long as it can be, that is a fiftieth of the time. */
const restShare = 50;
const retryAfterSeconds = 60;

/**
 * Creating stops while there is still room, so that claims, endings and sweeps - which need a little to write - go on.
 * Measured at most every 5 seconds, where it takes long each minute; what this process takes in between is added up here.
 */
export function createCapacity(deps: {
  config: Config;
  monotonicMs: () => number;
  diskSpace: StatFs;
  anonymousBytes: () => Promise<number>;
}): Capacity {
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
    assertRoomFor: (actor, bytes) => assertRoom(actor, bytes, bytes),
    assertRoomForFile: (actor, bytes) => assertRoom(actor, bytes, config.files.s3 === undefined ? bytes : 0),
  };
}
