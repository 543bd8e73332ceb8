import { minuteMs } from "../../base/clock.ts";
import { unavailable } from "../../base/errors.ts";
import { freeDiskFloorBytes, type StatFs } from "../../blobs/disk.ts";
import type { Config } from "../../config/config.ts";
import type { Actor } from "../actor.ts";

export type Capacity = ReturnType<typeof createCapacity>;

const remeasureMsMin = 5_000;
const remeasureMsMax = minuteMs;
/** Adding up millions of pushes is slow, so this work is limited to a fiftieth of the time. */
const restShare = 50;
/** Other processes take space as well, so a process that has taken this much looks at the disk again. */
const diskBytesUnmeasuredMax = 64 * 1024 ** 2;
const retryAfterSeconds = 60;
/** The default quota of anonymous pushes, as a share of the disk space that nothing else uses. */
const anonymousShare = 0.5;
/** The default quota where the size of the storage is not known: on PostgreSQL, and with files in an object store. */
const anonymousBytesElsewhere = 10 * 1024 ** 3;

/**
 * Creation stops while some space is left, so that claims, ends and sweeps, which write a little, still work. Anonymous
 * creation stops earlier: the reserve is for signed-in people.
 * The disk is measured at most every 5 seconds, or after 64 MiB. The bytes of anonymous pushes are added up at most every 5
 * seconds, and at most once a minute where that is slow. Bytes that this process accepts in between are added here.
 */
export function createCapacity(deps: {
  config: Config;
  monotonicMs: () => number;
  diskSpace: StatFs;
  anonymousBytes: () => Promise<number>;
}) {
  const { config, monotonicMs } = deps;
  const disk = createMeasured(deps.diskSpace, monotonicMs, diskBytesUnmeasuredMax);
  const anonymous = createMeasured(deps.anonymousBytes, monotonicMs, Number.POSITIVE_INFINITY);
  const isOnDisk = config.database.engine === "sqlite" && config.files.s3 === undefined;

  function anonymousQuota(freeBytes: number, heldBytes: number): number {
    if (config.anonymousBytesMax !== "auto") return config.anonymousBytesMax;
    return isOnDisk ? anonymousShare * (Math.max(0, freeBytes) + heldBytes) : anonymousBytesElsewhere;
  }

  async function assertRoom(actor: Actor, bytes: number, diskBytes: number): Promise<void> {
    const isAnonymous = actor.user === null;
    const hasQuota = isAnonymous && config.anonymousBytesMax !== Number.POSITIVE_INFINITY;
    const { freeBytes, totalBytes } = await disk.current();
    const heldBytes = hasQuota ? await anonymous.current() : 0;
    // Nothing is awaited from here on, so that parallel requests do not all see the same space.
    const floor = freeDiskFloorBytes(config.freeDiskBytesMin, totalBytes);
    const left = freeBytes - disk.takenSince - floor;
    if (left < diskBytes) {
      throw unavailable("The server's disk is nearly full: no new pushes are taken for now.", retryAfterSeconds);
    }
    if (isAnonymous || actor.answersRequest !== undefined) {
      const reserve = config.anonymousReserveBytes === "auto" ? floor : config.anonymousReserveBytes;
      if (left - reserve < diskBytes) {
        throw unavailable(
          "The server has little disk space left and keeps it for signed-in people.",
          retryAfterSeconds,
        );
      }
      const held = heldBytes + anonymous.takenSince;
      if (hasQuota && held + bytes > anonymousQuota(left - reserve, held)) {
        throw unavailable("The server holds as many anonymous pushes as it may. Try again later.", retryAfterSeconds);
      }
      anonymous.takenSince += bytes;
    }
    disk.takenSince += diskBytes;
  }

  return {
    /** @throws AppError unavailable when the disk is near full or the anonymous quota is used up. */
    assertRoomFor: (actor: Actor, bytes: number): Promise<void> => assertRoom(actor, bytes, bytes),
    /** The same for bytes of files, which need no disk space if they are stored in S3. */
    assertRoomForFile: (actor: Actor, bytes: number): Promise<void> =>
      assertRoom(actor, bytes, config.files.s3 === undefined ? bytes : 0),
  };
}

/** A value that is measured again when it is old, or after taking `unmeasuredMax` bytes. */
function createMeasured<T>(measure: () => Promise<T>, monotonicMs: () => number, unmeasuredMax: number) {
  let known: { readonly value: T; readonly holdsUntil: number } | undefined;
  let measuring: Promise<T> | undefined;

  async function remeasure(): Promise<T> {
    const startedAt = monotonicMs();
    const value = await measure();
    const measuredAt = monotonicMs();
    const restMs = Math.min(remeasureMsMax, Math.max(remeasureMsMin, restShare * (measuredAt - startedAt)));
    measured.takenSince = 0;
    known = { value, holdsUntil: measuredAt + restMs };
    return value;
  }

  const measured = {
    /** Bytes that this process has accepted since the measurement. */
    takenSince: 0,
    current(): T | Promise<T> {
      if (known !== undefined && monotonicMs() < known.holdsUntil && measured.takenSince < unmeasuredMax) {
        return known.value;
      }
      measuring ??= remeasure().finally(() => {
        measuring = undefined;
      });
      return measuring;
    },
  };
  return measured;
}
