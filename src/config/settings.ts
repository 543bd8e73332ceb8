import { dayMs, minuteMs } from "../base/clock.ts";
import { accountSettings } from "./account-settings.ts";
import { databaseSettings } from "./database-settings.ts";
import { databaseUrl } from "./database-url.ts";
import { kindRows } from "./kind-rows.ts";
import { lookSettings } from "./look-settings.ts";
import { networkSettings } from "./network-settings.ts";
import { listenAddress } from "./network-types.ts";
import { processSettings } from "./process-settings.ts";
import { byteSize, duration } from "./quantity-types.ts";
import { optionalSetting, setting } from "./setting.ts";
import { storageSettings } from "./storage-settings.ts";
import { telemetrySettings } from "./telemetry-settings.ts";
import { anyText, filePath, oneWordOf, truth, wholeNumber, wordOr } from "./value-type.ts";

const tebibyte = 1024 ** 4;
const pebibyte = 1024 ** 5;
const masterKeyText = "64 hex digits (32 bytes), as `npm run -s sealpush -- keys generate` prints them";

/**
 * The settings table: every setting there is, in the order of the documentation. What is parsed, what is documented and
 * which names are known all come from here.
 */
export const settingGroups = {
  server: {
    title: "Server and data",
    intro: "Where the server listens and where everything it keeps lies.",
    settings: {
      port: setting({
        env: "PORT",
        doc: "The TCP port to listen on. 0 takes any free one.",
        type: wholeNumber(0, 65535),
        default: "5100",
      }),
      host: setting({
        env: "HOST",
        doc: "The address to listen on.",
        type: listenAddress,
        default: "127.0.0.1",
      }),
      dataDir: setting({
        env: "DATA_DIR",
        doc: "The folder of the database, the sealed files and `master.key`. A relative path starts at the working directory.",
        type: filePath,
        default: "./data",
      }),
      databaseUrl: optionalSetting({
        env: "DATABASE_URL",
        doc: "The database: a SQLite file, or a PostgreSQL server (13 or newer). `sqlite:` alone is the file in `DATA_DIR`; a relative path starts at the working directory. After PostgreSQL's database may follow `?sslmode=` `disable` (the default), `require`, `verify-ca` or `verify-full`, `&sslrootcert=` a file of certificate authorities, and `host=` the folder of a Unix socket.",
        type: databaseUrl,
        unset: "sealpush.sqlite3 in DATA_DIR",
        hidden: "when_refused",
      }),
    },
  },
  ...processSettings,
  ...databaseSettings,
  keys: {
    title: "Master keys",
    intro:
      "The master key is one of the two keys of every push; the other is its link. When none is given, the server makes one on its first start and keeps it as `master.key` in `DATA_DIR`.",
    settings: {
      active: optionalSetting({
        env: "PWPUSH_MASTER_KEY",
        doc: "The master key under which everything new is sealed.",
        type: anyText(masterKeyText),
        unset: "`master.key` in DATA_DIR",
        hidden: "always",
      }),
      activeFile: optionalSetting({
        env: "PWPUSH_MASTER_KEY_FILE",
        doc: "A file that holds the master key, instead of the variable above.",
        type: filePath,
        unset: "not set",
      }),
      previous: optionalSetting({
        env: "PWPUSH_MASTER_KEY_PREVIOUS",
        doc: "Older master keys, which still open what was sealed under them, separated by commas.",
        type: anyText(`${masterKeyText}; several are separated by commas`),
        unset: "none",
        hidden: "always",
      }),
      previousFile: optionalSetting({
        env: "PWPUSH_MASTER_KEY_PREVIOUS_FILE",
        doc: "A file that holds the older master keys, separated by commas or line ends, instead of the variable above.",
        type: filePath,
        unset: "not set",
      }),
    },
  },
  access: {
    title: "Who may push what",
    intro: "A recipient never needs an account: these settings are about making pushes.",
    settings: {
      anonymous: setting({
        env: "PWP__ALLOW_ANONYMOUS",
        doc: "Whether people without an account may push. When off, every API endpoint but the version asks for a token.",
        type: truth,
        default: "true",
      }),
      filePushes: setting({
        env: "PWP__ENABLE_FILE_PUSHES",
        doc: "Whether files can be pushed.",
        type: truth,
        default: "true",
      }),
      urlPushes: setting({
        env: "PWP__ENABLE_URL_PUSHES",
        doc: "Whether web addresses can be pushed.",
        type: truth,
        default: "true",
      }),
      qrPushes: setting({
        env: "PWP__ENABLE_QR_PUSHES",
        doc: "Whether QR codes can be pushed.",
        type: truth,
        default: "true",
      }),
    },
  },
  ...accountSettings,
  ...networkSettings,
  protection: {
    title: "Limits and retention",
    intro: "What keeps one client from using up the server, and how long what has ended stays.",
    settings: {
      throttlingMinute: setting({
        env: "PWP__THROTTLING__MINUTE",
        doc: "Requests a minute from one client address; above that it gets 429. 0 switches it off.",
        type: wholeNumber(0, 1_000_000),
        default: "120",
      }),
      throttlingSecond: setting({
        env: "PWP__THROTTLING__SECOND",
        doc: "Requests a second from one client address; above that it gets 429. 0 switches it off.",
        type: wholeNumber(0, 1_000_000),
        default: "60",
      }),
      freeDiskBytesMin: setting({
        env: "PWP__DISK__FREE_MIN_BYTES",
        doc: "Below this much free disk nothing new is taken, while what is there can still be retrieved. `auto` is the larger of 1 GiB and 5 % of the disk.",
        type: wordOr("auto", "auto", byteSize({ min: 0, max: pebibyte, allowed: "up to 1024TiB" })),
        default: "auto",
      }),
      anonymousBytesMax: optionalSetting({
        env: "PWP__ANONYMOUS_BYTES_MAX",
        doc: "How much all live pushes of people without an account may hold together; above that they cannot push more.",
        type: byteSize({ min: 1, max: pebibyte, allowed: "from 1 to 1024TiB" }),
        unset: "no such limit",
      }),
      purgeAfter: setting({
        env: "PWP__PURGE_AFTER",
        doc: "How long after its end an owned push and its audit trail are removed. A month is 30 days, a year 365.",
        type: wordOr(
          "disabled",
          undefined,
          duration({
            minMs: minuteMs,
            maxMs: 36_500 * dayMs,
            plainNumber: "refused",
            allowed: "a duration such as 30 days, 3 months or 1 year, from 1 minute to 100 years",
          }),
        ),
        default: "disabled",
      }),
      logLevel: setting({
        env: "PWP__LOG_LEVEL",
        doc: "The least severe events that are logged. `trace` is read as debug, `warning` as warn, `fatal` as error.",
        type: oneWordOf({
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
  },
  ...telemetrySettings,
  ...lookSettings,
  uploads: {
    title: "Files of a push",
    intro: "",
    settings: {
      anonymous: setting({
        env: "PWP__FILES__ALLOW_ANONYMOUS",
        doc: "Whether people without an account may push files too.",
        type: truth,
        default: "false",
      }),
      maxFileUploads: setting({
        env: "PWP__FILES__MAX_FILE_UPLOADS",
        doc: "Files in one push.",
        type: wholeNumber(1, 100),
        default: "10",
      }),
      pushBytesMax: setting({
        env: "PWP__FILES__MAX_PUSH_BYTES",
        doc: "Bytes of all files of one push together.",
        type: byteSize({ min: 1, max: tebibyte, allowed: "from 1 to 1TiB" }),
        default: "2GiB",
      }),
      ticketMinutes: setting({
        env: "PWP__FILES__TICKET_MINUTES",
        doc: "Minutes during which the download addresses work that a retrieval gave out.",
        type: wholeNumber(1, 1440),
        default: "15",
      }),
    },
  },
  ...storageSettings,
  text: {
    title: "Text pushes",
    intro: "",
    settings: kindRows("PW", "a text push", { deletableDefault: "true" }),
  },
  file: {
    title: "File pushes",
    intro: "",
    settings: kindRows("FILES", "a file push", { deletableDefault: "true" }),
  },
  url: {
    title: "URL pushes",
    intro: "",
    settings: kindRows("URL", "a URL push", { deletableDefault: "false" }),
  },
  qr: {
    title: "QR code pushes",
    intro: "",
    settings: kindRows("QR", "a QR code push", { deletableDefault: "true" }),
  },
};

export type SettingGroups = typeof settingGroups;
