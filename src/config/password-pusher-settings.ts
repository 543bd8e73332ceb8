import type { Environment } from "./setting.ts";

/** A setting that Password Pusher documents, or once did, and that has no effect here. */
export interface UnusedSetting {
  readonly name: string;
  /** A clause that follows "because". */
  readonly because: string;
}

/** Names by the reason why they are not used. A name that ends in `*` covers all names that start with it. */
const reasons: readonly {
  readonly because: string;
  readonly names: readonly string[];
  /** Values with which the server does what the setting asks for. */
  readonly fits?: readonly string[];
}[] = [
  {
    because: "accounts are always enabled; PWP__DISABLE_LOGINS and PWP__DISABLE_SIGNUPS switch them off",
    names: ["PWP__ENABLE_LOGINS"],
  },
  {
    because: "the server runs at the root of its host name only",
    names: ["PWP__RELATIVE_ROOT", "RAILS_RELATIVE_URL_ROOT"],
  },
  {
    because: "the only cookies are those that sign-in and forms need, so no consent is required",
    names: ["PWP__SHOW_GDPR_CONSENT_BANNER"],
  },
  { because: "times are shown in UTC, and labelled as such", names: ["PWP__TIMEZONE"] },
  {
    because: "the languages and their names are part of the program; PWP__ENABLED_LANGUAGE_CODES selects among them",
    names: ["PWP__LANGUAGE_CODES__*", "PWP__COUNTRY_CODES__*"],
  },
  {
    because: "pages have one icon, which is part of the program; the setting for a logo is PWP__BRAND__LIGHT_LOGO",
    names: ["PWP__BRAND__ICON_*", "PWP__BRAND__MS_ICON_*"],
  },
  {
    because:
      "pages have one design; a style sheet can be set at /admin/look, and PWP__THEME_MODE selects light or dark",
    names: ["PWP__THEME", "PWP_THEME", "PWP_PRECOMPILE"],
  },
  {
    because: "the setting is PWP__GEN__SYLLABLES_COUNT",
    names: ["PWP__GEN__SYLLABLE_COUNT"],
  },
  {
    because: "only the generator's pronounceable passwords have settings; the user can change the rest in the form",
    names: [
      "PWP__GEN__DEFAULT_TYPE",
      "PWP__GEN__LANGUAGE",
      "PWP__GEN__PIN__*",
      "PWP__GEN__PASSWORD__*",
      "PWP__GEN__PASSPHRASE__*",
    ],
  },
  {
    because: "emails are queued in the database and retried; failed ones are listed at /admin",
    names: ["PWP__MAIL__RAISE_DELIVERY_ERRORS"],
  },
  {
    because: "the setting is PWP__MAIL__SMTP_STARTTLS",
    names: ["PWP__MAIL__SMTP_ENABLE_STARTTLS"],
  },
  {
    because: "the settings are PWP__MAIL__SMTP_OPEN_TIMEOUT and PWP__MAIL__SMTP_READ_TIMEOUT",
    names: ["PWP__MAIL__OPEN_TIMEOUT", "PWP__MAIL__READ_TIMEOUT"],
  },
  { because: "there is no feedback form", names: ["PWP__FEEDBACK__EMAIL"] },
  {
    because: "files are stored in a local folder or an S3-compatible store only",
    names: ["PWP__FILES__GCS__*", "PWP__FILES__AS__*"],
  },
  {
    because: "requests are limited per minute and per second only",
    names: ["PWP__THROTTLING__DAILY", "PWP__THROTTLING__HOURLY"],
  },
  { because: "the log is always written to standard output", names: ["PWP__LOG_TO_STDOUT", "RAILS_LOG_TO_STDOUT"] },
  {
    because: "the server runs its background jobs itself",
    names: ["PWP__NO_WORKER", "PWP_WORKER"],
  },
  {
    because:
      "only the container image starts Caddy itself. Here, two commands of root do the same: `apt-get install caddy && " +
      "systemctl disable --now caddy`, and `SEALPUSH_URL=https://$TLS_DOMAIN SEALPUSH_UPSTREAMS=127.0.0.1:5100 caddy run --adapter caddyfile --config " +
      "deploy/compose/Caddyfile`",
    names: ["TLS_DOMAIN"],
  },
  {
    because: "sessions are stored in the database",
    names: ["SECRET_KEY_BASE", "SECRET_KEY_BASE_FILE"],
  },
  {
    because: "it configures Rails, which this server does not use",
    names: [
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
  },
  { because: "the setting is PWP__DATABASE__POOL_SIZE", names: ["DB_POOL"] },
  {
    because: "metrics are at /metrics of the server itself; see PWP__METRICS__ENABLED",
    names: ["PROMETHEUS_EXPORTER_HOST", "PROMETHEUS_EXPORTER_PORT"],
  },
  {
    because: "pages use no analytics service",
    names: ["GA_ENABLE", "GA_ACCOUNT", "GA_DOMAIN", "PLAUSIBLE_DOMAIN"],
  },
  {
    because: "errors are only in the log, on standard output",
    names: ["ROLLBAR_ACCESS_TOKEN", "ROLLBAR_ENV"],
  },
  {
    because:
      "one process is one service; with PostgreSQL, run a service for each process, each on a port of its own behind the same proxy (docs/scaling.md)",
    names: ["WEB_CONCURRENCY"],
    fits: ["0", "1"],
  },
  {
    because: "each process runs its background jobs itself",
    names: ["JOB_CONCURRENCY"],
  },
  { because: "nothing is stored in Redis", names: ["REDIS_URL"] },
  { because: "translations are part of the program", names: ["TRANSLATION_IO_API_KEY"] },
  {
    because: "only the container image uses it, together with TLS_DOMAIN (docs/deployment.md)",
    names: ["HTTP_PORT", "HTTPS_PORT", "ACME_DIRECTORY", "EAB_KID", "EAB_HMAC_KEY"],
  },
  {
    because: "the server listens on PORT only; a proxy in front of it serves 80 and 443 (docs/deployment.md)",
    names: ["TARGET_PORT", "THRUSTER_*"],
  },
  {
    because: "it configures Thruster, which this server does not use; limits of slow clients are fixed",
    names: ["HTTP_READ_TIMEOUT", "HTTP_WRITE_TIMEOUT", "HTTP_IDLE_TIMEOUT"],
  },
  {
    because: "it configures Thruster, which this server does not use",
    names: [
      "BAD_GATEWAY_PAGE",
      "CACHE_SIZE",
      "GZIP_COMPRESSION_*",
      "H2C_ENABLED",
      "MAX_CACHE_ITEM_SIZE",
      "X_SENDFILE_ENABLED",
    ],
  },
  { because: "the setting is PWP__FILES__MAX_PUSH_BYTES", names: ["MAX_REQUEST_BODY"] },
  { because: "the setting is PWP__LOG_REQUESTS", names: ["LOG_REQUESTS"] },
  { because: "the folder of data is DATA_DIR", names: ["STORAGE_PATH"] },
  { because: "the setting is PWP__TRUSTED_PROXIES", names: ["FORWARD_HEADERS"] },
  {
    because: "it only appears in a comment of Password Pusher; the setting is PWP__PW__ENABLE_BLUR",
    names: ["PWP__PW__BLUR"],
  },
  {
    because: "it only appears in a comment of Password Pusher; the setting is PWP__FILES__ENABLE_BLUR",
    names: ["PWP__FILES__BLUR"],
  },
  {
    because: "it only appears in a comment of Password Pusher; the setting is PWP__FILES__STORAGE",
    names: ["PWP__FILES_STORAGE"],
  },
  {
    because: "it is a name from old versions; the settings now start with PWP__PW__",
    names: [
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
  },
  {
    because: "it is a setting of versions that encrypted in another way",
    names: ["CRYPT_KEY", "CRYPT_SALT", "PAYLOAD_INITIAL_TEXT"],
  },
];

/** For the documentation, in the order of the table. */
export const unusedSettings: readonly UnusedSetting[] = reasons.flatMap(({ because, names }) =>
  names.map((name) => ({ name, because })),
);

/** More than all names of the table; a name that ends in `*` could match any number. */
const givenMax = 300;

const byName = new Map(unusedSettings.map(({ name, because }) => [name, because]));
const fittingValues = new Map(reasons.flatMap(({ names, fits = [] }) => names.map((name) => [name, fits])));
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
const notToCopy: readonly { readonly because: string; readonly names: readonly string[] }[] = [
  {
    because: "it names Password Pusher's database, and this server needs its own",
    names: ["DATABASE_URL", "DATABASE_URL_FILE"],
  },
  {
    because:
      "the import reads the old keys from here, and this server needs a key that opens no backup of Password Pusher",
    names: [
      "PWPUSH_MASTER_KEY",
      "PWPUSH_MASTER_KEY_FILE",
      "PWPUSH_MASTER_KEY_PREVIOUS",
      "PWPUSH_MASTER_KEY_PREVIOUS_FILE",
    ],
  },
  {
    because: "it names Password Pusher's bucket, and this server deletes files that it does not know from its own",
    names: ["PWP__FILES__S3__BUCKET"],
  },
];

/** Names that only the environment of a Password Pusher contains. */
const marks = ["RAILS_ENV", "RACK_ENV", "SECRET_KEY_BASE", "SECRET_KEY_BASE_FILE"];

/** The settings of a Password Pusher's environment that must not be copied to this server; none for other environments. */
export function settingsNotToCopy(environment: Environment): readonly UnusedSetting[] {
  const isGiven = (name: string) => (environment[name] ?? "").trim() !== "";
  if (!marks.some(isGiven) || isGiven("SEALPUSH_MOVE_IN")) return [];
  return notToCopy.flatMap(({ because, names }) => names.filter(isGiven).map((name) => ({ name, because })));
}
