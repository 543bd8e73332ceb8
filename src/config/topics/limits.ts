import { dayMs, minuteMs } from "../../base/clock.ts";
import { type ParsedGroup, setting, valuesOf } from "../setting.ts";
import { byteSize, duration, oneOf, wholeNumber, wordOr } from "../value-types.ts";

const pebibyte = 1024 ** 5;

const requestsPerTime = wordOr("unlimited", 0, wholeNumber(1, 1_000_000_000));

/** In Password Pusher 0 refuses every request, and an empty value switches the limit off. */
const throttle: typeof requestsPerTime = {
  allowed: requestsPerTime.allowed,
  whenEmpty: "it must be a number, or unlimited to switch the limit off",
  parse(text) {
    if (!/^0+$/.test(text)) return requestsPerTime.parse(text);
    return {
      ok: false,
      reason: "that refuses every request in Password Pusher: write unlimited to switch the limit off",
    };
  },
};

const levels = oneOf({
  trace: "debug",
  debug: "debug",
  info: "info",
  warn: "warn",
  warning: "warn",
  error: "error",
  fatal: "error",
  unknown: "error",
  silent: "silent",
});

export const limitSettings = {
  title: "Limits and retention",
  intro: "How much one client may use of the server, and how long data is kept after a push has ended.",
  settings: {
    throttlingMinute: setting({
      env: "PWP__THROTTLING__MINUTE",
      doc: "Requests per minute from one client address; any more get 429. `unlimited` switches the limit off.",
      type: throttle,
      default: "120",
    }),
    throttlingSecond: setting({
      env: "PWP__THROTTLING__SECOND",
      doc: "Requests per second from one client address; any more get 429. `unlimited` switches the limit off.",
      type: throttle,
      default: "60",
    }),
    /** 0 is off. */
    connectionsPerClientMax: setting({
      env: "PWP__CONNECTIONS__PER_CLIENT",
      doc: "Open connections from one client address. Beyond them, each new one closes the oldest of this client that has been silent for 2 seconds. An IPv6 /56 network may have half as many again, a /48 twice as many. Connections of trusted proxies do not count. 0 switches the limit off.",
      type: wholeNumber(0, 1_000_000),
      default: "256",
    }),
    /** "auto": the smaller of 1 GiB and 5 % of the disk. */
    freeDiskBytesMin: setting({
      env: "PWP__DISK__FREE_MIN_BYTES",
      doc: "Below this much free disk space no new push is accepted; existing ones can still be retrieved. `auto` is the smaller of 1 GiB and 5 % of the disk.",
      type: wordOr("auto", "auto", byteSize({ min: 0, max: pebibyte, allowed: "up to 1024TiB" })),
      default: "auto",
    }),
    /** "auto": as much as `freeDiskBytesMin`. */
    anonymousReserveBytes: setting({
      env: "PWP__DISK__RESERVE_BYTES",
      doc: "Free disk space, beyond `PWP__DISK__FREE_MIN_BYTES`, that is kept for signed-in people: with less, no push of people without an account is accepted. `auto` is as much as `PWP__DISK__FREE_MIN_BYTES`, `0` switches the reserve off.",
      type: wordOr("auto", "auto", byteSize({ min: 0, max: pebibyte, allowed: "up to 1024TiB" })),
      default: "auto",
    }),
    /** Infinite: no limit; "auto": a share of the room (`pushes/create/capacity.ts`). */
    anonymousBytesMax: setting({
      env: "PWP__ANONYMOUS_BYTES_MAX",
      doc: "How much all live pushes of people without an account may contain together; above that, no more of them are accepted. `auto` is half of the disk space that is not used by others and not kept free; where the size of the storage is not known (PostgreSQL, or files in an object store) it is 10 GiB. `unlimited` switches the limit off.",
      type: wordOr(
        "auto",
        "auto",
        wordOr(
          "unlimited",
          Number.POSITIVE_INFINITY,
          byteSize({ min: 1, max: pebibyte, allowed: "from 1 to 1024TiB" }),
        ),
      ),
      default: "auto",
    }),
    clientBytesPerDay: setting({
      env: "PWP__CLIENT_BYTES_PER_DAY",
      doc: "How many bytes of new pushes, files included, one client without an account may create in 24 hours; any more get 429. An IPv6 /56 network may create half as much again, a /48 twice as much. 0 switches the limit off.",
      type: byteSize({ min: 0, max: pebibyte, allowed: "up to 1024TiB" }),
      default: "2GiB",
    }),
    accountBytesPerDay: setting({
      env: "PWP__ACCOUNT_BYTES_PER_DAY",
      doc: "The same for one account, over its sessions and API tokens. Changes of content count too.",
      type: byteSize({ min: 0, max: pebibyte, allowed: "up to 1024TiB" }),
      default: "20GiB",
    }),
    /** undefined: kept. */
    purgeAfterMs: setting({
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
    /** 0 is off. */
    claimRetrySeconds: setting({
      env: "PWP__CLAIM_RETRY_SECONDS",
      doc: "How many seconds a retrieval can be repeated with the same `Idempotency-Key`: its answer is sent again and no view is counted. Opening a link on a page uses this as well, so that reloading the opened page shows the secret again. 0 switches it off. Creations of signed-in users can be repeated for 24 hours, whatever this is.",
      type: wholeNumber(0, 3_600),
      default: "60",
    }),
    logLevel: setting({
      env: "PWP__LOG_LEVEL",
      doc: "The least severe events that are logged. `trace` is read as debug, `warning` as warn, `fatal` and `unknown` as error.",
      // Password Pusher's settings write Ruby's symbols, such as `:warn`.
      type: { ...levels, parse: (text: string) => levels.parse(text.replace(/^:/, "")) },
      default: "info",
    }),
  },
};

export function limitsConfig(rows: ParsedGroup<typeof limitSettings>) {
  const { throttlingMinute, throttlingSecond, clientBytesPerDay, accountBytesPerDay, ...limits } = valuesOf(rows);
  return {
    ...limits,
    /** Requests per client address; 0 is off. */
    throttling: { minute: throttlingMinute, second: throttlingSecond },
    /** Bytes of new content in 24 hours; 0 is off. */
    bytesPerDay: { client: clientBytesPerDay, account: accountBytesPerDay },
  };
}
