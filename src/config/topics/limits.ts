import { dayMs, minuteMs } from "../../base/clock.ts";
import { optionalSetting, type ParsedGroup, setting } from "../setting.ts";
import { byteSize, duration, oneOf, wholeNumber, wordOr } from "../value-types.ts";

const pebibyte = 1024 ** 5;

export const limitSettings = {
  title: "Limits and retention",
  intro: "How much one client may use of the server, and how long data is kept after a push has ended.",
  settings: {
    throttlingMinute: setting({
      env: "PWP__THROTTLING__MINUTE",
      doc: "Requests per minute from one client address; any more get 429. 0 switches the limit off.",
      type: wholeNumber(0, 1_000_000),
      default: "120",
    }),
    throttlingSecond: setting({
      env: "PWP__THROTTLING__SECOND",
      doc: "Requests per second from one client address; any more get 429. 0 switches the limit off.",
      type: wholeNumber(0, 1_000_000),
      default: "60",
    }),
    freeDiskBytesMin: setting({
      env: "PWP__DISK__FREE_MIN_BYTES",
      doc: "Below this much free disk space no new push is accepted; existing ones can still be retrieved. `auto` is the larger of 1 GiB and 5 % of the disk.",
      type: wordOr("auto", "auto", byteSize({ min: 0, max: pebibyte, allowed: "up to 1024TiB" })),
      default: "auto",
    }),
    anonymousBytesMax: optionalSetting({
      env: "PWP__ANONYMOUS_BYTES_MAX",
      doc: "How much all live pushes of people without an account may contain together; above that, no more of them are accepted.",
      type: byteSize({ min: 1, max: pebibyte, allowed: "from 1 to 1024TiB" }),
      unset: "no limit",
    }),
    purgeAfter: setting({
      env: "PWP__PURGE_AFTER",
      doc: "How long after its end a push with an owner is removed together with its audit trail. A month is 30 days, a year 365.",
      type: wordOr(
        "disabled",
        undefined,
        duration({
          minMs: minuteMs,
          maxMs: 36_500 * dayMs,
          plainNumber: "rejected",
          allowed: "a duration such as 30 days, 3 months or 1 year, from 1 minute to 100 years",
        }),
      ),
      default: "disabled",
    }),
    logLevel: setting({
      env: "PWP__LOG_LEVEL",
      doc: "The least severe events that are logged. `trace` is read as debug, `warning` as warn, `fatal` as error.",
      type: oneOf({
        trace: "debug",
        debug: "debug",
        info: "info",
        warn: "warn",
        warning: "warn",
        error: "error",
        fatal: "error",
        silent: "silent",
      }),
      default: "info",
    }),
  },
};

export function limitsConfig(settings: ParsedGroup<typeof limitSettings>) {
  return {
    /** Requests per client address; 0 is off. */
    throttling: { minute: settings.throttlingMinute.value, second: settings.throttlingSecond.value },
    /** Creating a push answers 503 below this much free disk; "auto": the larger of 1 GiB and 5 % of the disk. */
    freeDiskBytesMin: settings.freeDiskBytesMin.value,
    /** Stored bytes (payloads and files) of live anonymous pushes above which anonymous creation answers 503. */
    anonymousBytesMax: settings.anonymousBytesMax.value,
    /** Ended pushes with an owner are removed this long after their end, with their audit trail; undefined: kept. */
    purgeAfterMs: settings.purgeAfter.value,
    logLevel: settings.logLevel.value,
  };
}
