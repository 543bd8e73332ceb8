import type { Environment } from "./setting.ts";

/** A setting that Password Pusher documents, or once did, and that has no effect here. */
export interface UnusedSetting {
  readonly name: string;
  /** A clause that follows "because". */
  readonly because: string;
}

/** Names by a clause that follows "because". A name that ends in `*` covers all names that start with it. */
type NamesByReason = readonly (readonly [because: string, names: readonly string[]])[];

const unused: NamesByReason = [
  ["accounts are always enabled; PWP__DISABLE_LOGINS and PWP__DISABLE_SIGNUPS switch them off", ["PWP__ENABLE_LOGINS"]],
  ["the server runs at the root of its host name only", ["PWP__RELATIVE_ROOT", "RAILS_RELATIVE_URL_ROOT"]],
  [
    "the only cookies are those that sign-in and forms need, so no consent is required",
    ["PWP__SHOW_GDPR_CONSENT_BANNER"],
  ],
  ["times are shown in UTC, and labelled as such", ["PWP__TIMEZONE"]],
  [
    "the languages and their names are part of the program; PWP__ENABLED_LANGUAGE_CODES selects among them",
    ["PWP__LANGUAGE_CODES__*", "PWP__COUNTRY_CODES__*"],
  ],
  [
    "pages have one icon, which is part of the program; the setting for a logo is PWP__BRAND__LIGHT_LOGO",
    ["PWP__BRAND__ICON_*", "PWP__BRAND__MS_ICON_*"],
  ],
  [
    "pages have one design; a style sheet can be set at /admin/look, and PWP__THEME_MODE selects light or dark",
    ["PWP__THEME", "PWP_THEME", "PWP_PRECOMPILE"],
  ],
  ["the setting is PWP__GEN__SYLLABLES_COUNT", ["PWP__GEN__SYLLABLE_COUNT"]],
  [
    "only the generator's pronounceable passwords have settings; the user can change the rest in the form",
    [
      "PWP__GEN__DEFAULT_TYPE",
      "PWP__GEN__LANGUAGE",
      "PWP__GEN__PIN__*",
      "PWP__GEN__PASSWORD__*",
      "PWP__GEN__PASSPHRASE__*",
    ],
  ],
  [
    "emails are queued in the database and retried; failed ones are listed at /admin",
    ["PWP__MAIL__RAISE_DELIVERY_ERRORS"],
  ],
  ["the setting is PWP__MAIL__SMTP_STARTTLS", ["PWP__MAIL__SMTP_ENABLE_STARTTLS"]],
  [
    "the settings are PWP__MAIL__SMTP_OPEN_TIMEOUT and PWP__MAIL__SMTP_READ_TIMEOUT",
    ["PWP__MAIL__OPEN_TIMEOUT", "PWP__MAIL__READ_TIMEOUT"],
  ],
  ["there is no feedback form", ["PWP__FEEDBACK__EMAIL"]],
  ["files are stored in a local folder or an S3-compatible store only", ["PWP__FILES__GCS__*", "PWP__FILES__AS__*"]],
  ["requests are limited per minute and per second only", ["PWP__THROTTLING__DAILY", "PWP__THROTTLING__HOURLY"]],
  ["the log is always written to standard output", ["PWP__LOG_TO_STDOUT", "RAILS_LOG_TO_STDOUT"]],
  ["the server runs its background jobs itself", ["PWP__NO_WORKER", "PWP_WORKER"]],
  [
    "only the container image starts Caddy itself. Here, two commands of root do the same: `apt-get install caddy && " +
      "systemctl disable --now caddy`, and `SEALPUSH_URL=https://$TLS_DOMAIN SEALPUSH_UPSTREAMS=127.0.0.1:5100 caddy run --adapter caddyfile --config " +
      "deploy/compose/Caddyfile`",
    ["TLS_DOMAIN"],
  ],
  ["sessions are stored in the database", ["SECRET_KEY_BASE", "SECRET_KEY_BASE_FILE"]],
  [
    "it configures Rails, which this server does not use",
    [
      "RAILS_ENV",
      "RACK_ENV",
      "RAILS_MASTER_KEY",
      "RAILS_MAX_THREADS",
      "RAILS_MIN_THREADS",
      "RAILS_SERVE_STATIC_FILES",
      "RAILS_LOG_LEVEL",
      "TURBO_DRIVE_ENABLED",
      "SKIP_CSS_BUILD",
      "BUILD_CSS_SINGLE",
      "BUNDLE_WITHOUT",
      "SECRET_KEY_BASE_DUMMY",
    ],
  ],
  ["the setting is PWP__DATABASE__POOL_SIZE", ["DB_POOL"]],
  [
    "metrics are at /metrics of the server itself; see PWP__METRICS__ENABLED",
    ["PROMETHEUS_EXPORTER_HOST", "PROMETHEUS_EXPORTER_PORT"],
  ],
  ["pages use no analytics service", ["GA_ENABLE", "GA_ACCOUNT", "GA_DOMAIN", "PLAUSIBLE_DOMAIN"]],
  ["errors are only in the log, on standard output", ["ROLLBAR_ACCESS_TOKEN", "ROLLBAR_ENV"]],
  [
    "one process is one service; with PostgreSQL, run a service for each process, each on a port of its own behind the same proxy (docs/scaling.md)",
    ["WEB_CONCURRENCY"],
  ],
  ["each process runs its background jobs itself", ["JOB_CONCURRENCY"]],
  ["nothing is stored in Redis", ["REDIS_URL"]],
  ["translations are part of the program", ["TRANSLATION_IO_API_KEY"]],
  [
    "only the container image uses it, together with TLS_DOMAIN (docs/deployment.md)",
    ["HTTP_PORT", "HTTPS_PORT", "ACME_DIRECTORY", "EAB_KID", "EAB_HMAC_KEY"],
  ],
  [
    "the server listens on PORT only; a proxy in front of it serves 80 and 443 (docs/deployment.md)",
    ["TARGET_PORT", "THRUSTER_*"],
  ],
  [
    "it configures Thruster, which this server does not use; limits of slow clients are fixed",
    ["HTTP_READ_TIMEOUT", "HTTP_WRITE_TIMEOUT", "HTTP_IDLE_TIMEOUT"],
  ],
  [
    "it configures Thruster, which this server does not use",
    [
      "BAD_GATEWAY_PAGE",
      "CACHE_SIZE",
      "GZIP_COMPRESSION_*",
      "H2C_ENABLED",
      "MAX_CACHE_ITEM_SIZE",
      "X_SENDFILE_ENABLED",
    ],
  ],
  ["the setting is PWP__FILES__MAX_PUSH_BYTES", ["MAX_REQUEST_BODY"]],
  ["the setting is PWP__LOG_REQUESTS", ["LOG_REQUESTS"]],
  ["the folder of data is DATA_DIR", ["STORAGE_PATH"]],
  ["the setting is PWP__TRUSTED_PROXIES", ["FORWARD_HEADERS"]],
  ["it only appears in a comment of Password Pusher; the setting is PWP__PW__ENABLE_BLUR", ["PWP__PW__BLUR"]],
  ["it only appears in a comment of Password Pusher; the setting is PWP__FILES__ENABLE_BLUR", ["PWP__FILES__BLUR"]],
  ["it only appears in a comment of Password Pusher; the setting is PWP__FILES__STORAGE", ["PWP__FILES_STORAGE"]],
  [
    "it is a name from old versions; the settings now start with PWP__PW__",
    [
      ...["", "PWP__"].flatMap((prefix) => [
        `${prefix}EXPIRE_AFTER_DAYS_DEFAULT`,
        `${prefix}EXPIRE_AFTER_DAYS_MIN`,
        `${prefix}EXPIRE_AFTER_DAYS_MAX`,
        `${prefix}EXPIRE_AFTER_VIEWS_DEFAULT`,
        `${prefix}EXPIRE_AFTER_VIEWS_MIN`,
        `${prefix}EXPIRE_AFTER_VIEWS_MAX`,
        `${prefix}RETRIEVAL_STEP_DEFAULT`,
      ]),
      "PWP__ENABLE_RETRIEVAL_STEP",
      "PWP__ENABLE_DELETABLE_PUSHES",
      "PWP__DELETABLE_PUSHES_DEFAULT",
      "RETRIEVAL_STEP_ENABLED",
      "DELETABLE_PASSWORDS_ENABLED",
      "DELETABLE_PASSWORDS_DEFAULT",
      "DELETABLE_BY_VIEWER_PASSWORDS",
      "DELETABLE_BY_VIEWER_DEFAULT",
    ],
  ],
  ["it is a setting of versions that encrypted in another way", ["CRYPT_KEY", "CRYPT_SALT", "PAYLOAD_INITIAL_TEXT"]],
];

/** Values with which the server does what the setting asks for. */
const fittingValues: ReadonlyMap<string, readonly string[]> = new Map([["WEB_CONCURRENCY", ["0", "1"]]]);

/** For the documentation, in the order of the table. */
export const unusedSettings: readonly UnusedSetting[] = unused.flatMap(([because, names]) =>
  names.map((name) => ({ name, because })),
);

/** More than all names of the table; a name that ends in `*` could match any number. */
const givenMax = 300;

const byName = new Map(unusedSettings.map(({ name, because }) => [name, because]));
const byPrefix = unusedSettings.filter(({ name }) => name.endsWith("*"));

/** @returns why a setting of Password Pusher is not used here, or undefined if the name is not in the table. */
export function reasonAgainst(name: string): string | undefined {
  return byName.get(name) ?? byPrefix.find((prefix) => name.startsWith(prefix.name.slice(0, -1)))?.because;
}

/** The settings that are set to a value that asks for something else than what the server does, sorted by name. */
export function givenUnusedSettings(environment: Environment): readonly UnusedSetting[] {
  return Object.keys(environment)
    .filter((name) => {
      const value = environment[name]?.trim() ?? "";
      return value !== "" && !fittingValues.get(name)?.includes(value);
    })
    .sort()
    .flatMap((name) => {
      const because = reasonAgainst(name);
      return because === undefined ? [] : [{ name, because }];
    })
    .slice(0, givenMax);
}

/** Settings that Password Pusher has as well, and whose values must not be copied from there. */
const notToCopy: NamesByReason = [
  ["it names Password Pusher's database, and this server needs its own", ["DATABASE_URL", "DATABASE_URL_FILE"]],
  [
    "the import reads the old keys from here, and this server needs a key that opens no backup of Password Pusher",
    ["PWPUSH_MASTER_KEY", "PWPUSH_MASTER_KEY_FILE", "PWPUSH_MASTER_KEY_PREVIOUS", "PWPUSH_MASTER_KEY_PREVIOUS_FILE"],
  ],
  [
    "it names Password Pusher's bucket, and this server deletes files that it does not know from its own",
    ["PWP__FILES__S3__BUCKET"],
  ],
];

/** Names that only the environment of a Password Pusher contains. */
const marks = ["RAILS_ENV", "RACK_ENV", "SECRET_KEY_BASE", "SECRET_KEY_BASE_FILE"];

/** The settings of a Password Pusher's environment that must not be copied to this server; none for other environments. */
export function settingsNotToCopy(environment: Environment): readonly UnusedSetting[] {
  const isGiven = (name: string) => (environment[name] ?? "").trim() !== "";
  if (!marks.some(isGiven) || isGiven("SEALPUSH_MOVE_IN")) return [];
  return notToCopy.flatMap(([because, names]) => names.filter(isGiven).map((name) => ({ name, because })));
}
