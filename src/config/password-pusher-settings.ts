import type { Environment } from "./read-settings.ts";

/** A setting that Password Pusher documents, or once did, and that has no effect here. */
export interface UnusedSetting {
  readonly name: string;
  /** A clause that goes on after "because". */
  readonly because: string;
}

/** Names by the reason for which they are not used. A name that ends in `*` stands for all that begin so. */
const reasons: readonly { readonly because: string; readonly names: readonly string[] }[] = [
  {
    because: "accounts are always there; PWP__DISABLE_LOGINS and PWP__DISABLE_SIGNUPS switch them off",
    names: ["PWP__ENABLE_LOGINS"],
  },
  {
    because: "the server answers at the root of its host name only",
    names: ["PWP__RELATIVE_ROOT", "RAILS_RELATIVE_URL_ROOT"],
  },
  { because: "pages never tell the version to visitors", names: ["PWP__SHOW_VERSION"] },
  {
    because: "there are no cookies but those a sign-in or a form needs, so there is nothing to consent to",
    names: ["PWP__SHOW_GDPR_CONSENT_BANNER"],
  },
  { because: "times are shown in UTC, and say so", names: ["PWP__TIMEZONE"] },
  {
    because: "every language that the pages speak is on offer",
    names: ["PWP__LANGUAGE_CODES__*", "PWP__COUNTRY_CODES__*", "PWP__ENABLED_LANGUAGES"],
  },
  {
    because: "pages have no such line; name, logo and style sheet are set at /admin/look",
    names: ["PWP__BRAND__TAGLINE", "PWP__BRAND__DISCLAIMER", "PWP__BRAND__SHOW_FOOTER_MENU"],
  },
  {
    because: "a logo is uploaded at /admin/look: pages load nothing from elsewhere",
    names: ["PWP__BRAND__LIGHT_LOGO", "PWP__BRAND__DARK_LOGO", "PWP__BRAND__ICON_*", "PWP__BRAND__MS_ICON_*"],
  },
  {
    because: "pages have one design, light and dark as the reader's system is; a style sheet can be set at /admin/look",
    names: ["PWP__THEME", "PWP_THEME", "PWP__THEME_MODE", "PWP_PRECOMPILE"],
  },
  {
    because: "the generator runs in the browser, and starts with choices of its own that the reader can change",
    names: ["PWP__GEN__*"],
  },
  {
    because: "mails wait in the database and are tried again; those that failed are listed at /admin",
    names: ["PWP__MAIL__RAISE_DELIVERY_ERRORS"],
  },
  {
    because: "the way to sign in is chosen from those that the mail server offers",
    names: ["PWP__MAIL__SMTP_AUTHENTICATION"],
  },
  {
    because: "the setting is PWP__MAIL__SMTP_STARTTLS",
    names: ["PWP__MAIL__SMTP_ENABLE_STARTTLS"],
  },
  {
    because: "the mail server gets fixed times, and the mail is tried again",
    names: [
      "PWP__MAIL__SMTP_OPEN_TIMEOUT",
      "PWP__MAIL__SMTP_READ_TIMEOUT",
      "PWP__MAIL__OPEN_TIMEOUT",
      "PWP__MAIL__READ_TIMEOUT",
    ],
  },
  {
    because: "the mail server's certificate must always hold; NODE_EXTRA_CA_CERTS names further authorities",
    names: ["PWP__MAIL__SMTP_OPENSSL_VERIFY_MODE"],
  },
  { because: "there is no form for feedback", names: ["PWP__FEEDBACK__EMAIL"] },
  {
    because: "files lie in a local folder or an S3-compatible store only",
    names: ["PWP__FILES__GCS__*", "PWP__FILES__AS__*"],
  },
  {
    because: "requests are limited by the minute and by the second only",
    names: ["PWP__THROTTLING__DAILY", "PWP__THROTTLING__HOURLY"],
  },
  { because: "the log always goes to the standard output", names: ["PWP__LOG_TO_STDOUT", "RAILS_LOG_TO_STDOUT"] },
  {
    because: "the server does its background work itself",
    names: ["PWP__NO_WORKER", "PWP_WORKER"],
  },
  { because: "one server has all pages; a proxy can close some of them", names: ["PWP_PUBLIC_GATEWAY"] },
  { because: "a proxy in front of the server ends TLS", names: ["TLS_DOMAIN"] },
  {
    because: "sessions lie in the database; only the import reads it, for backup codes",
    names: ["SECRET_KEY_BASE", "SECRET_KEY_BASE_FILE"],
  },
  {
    because: "it sets up Rails, which this server does not use",
    names: [
      "RAILS_ENV",
      "RACK_ENV",
      "RAILS_MASTER_KEY",
      "RAILS_MAX_THREADS",
      "RAILS_MIN_THREADS",
      "RAILS_SERVE_STATIC_FILES",
      "TURBO_DRIVE_ENABLED",
    ],
  },
  { because: "PWP__DATABASE__POOL_SIZE sets the pool", names: ["DB_POOL"] },
  {
    because: "metrics stand at /metrics of the server itself; see PWP__METRICS__ENABLED",
    names: ["PROMETHEUS_EXPORTER_HOST", "PROMETHEUS_EXPORTER_PORT"],
  },
  {
    because: "pages call no service that counts visitors",
    names: ["GA_ENABLE", "GA_ACCOUNT", "GA_DOMAIN"],
  },
  {
    because: "it is the name of a comment there; the setting is PWP__PW__ENABLE_BLUR",
    names: ["PWP__PW__BLUR"],
  },
  {
    because: "it is the name of a comment there; the setting is PWP__FILES__ENABLE_BLUR",
    names: ["PWP__FILES__BLUR"],
  },
  {
    because: "it is the name of a comment there; the setting is PWP__FILES__STORAGE",
    names: ["PWP__FILES_STORAGE"],
  },
  {
    because: "it is the name of old versions; the settings are now those that begin with PWP__PW__",
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
    because: "it is a setting of versions that sealed in another way",
    names: ["CRYPT_KEY", "CRYPT_SALT", "PAYLOAD_INITIAL_TEXT"],
  },
];

/** For the documentation, in the order of the table. */
export const unusedSettings: readonly UnusedSetting[] = reasons.flatMap(({ because, names }) =>
  names.map((name) => ({ name, because })),
);

/** More than all names of the table; families could hold any number. */
const givenMax = 300;

const byName = new Map(unusedSettings.map(({ name, because }) => [name, because]));
const byPrefix = unusedSettings.filter(({ name }) => name.endsWith("*"));

/** @returns why a setting of Password Pusher is not used here, or undefined when the name is none of these. */
export function reasonAgainst(name: string): string | undefined {
  return byName.get(name) ?? byPrefix.find((family) => name.startsWith(family.name.slice(0, -1)))?.because;
}

/** Those that are given and not empty, in the order of their names. */
export function givenUnusedSettings(environment: Environment): readonly UnusedSetting[] {
  return Object.keys(environment)
    .filter((name) => (environment[name]?.trim() ?? "") !== "")
    .sort()
    .flatMap((name) => {
      const because = reasonAgainst(name);
      return because === undefined ? [] : [{ name, because }];
    })
    .slice(0, givenMax);
}
