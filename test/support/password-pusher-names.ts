const limits = ["EXPIRE_AFTER_DAYS", "EXPIRE_AFTER_VIEWS"].flatMap((limit) => [
  `${limit}_DEFAULT`,
  `${limit}_MIN`,
  `${limit}_MAX`,
]);
const options = [
  "ENABLE_RETRIEVAL_STEP",
  "RETRIEVAL_STEP_DEFAULT",
  "ENABLE_DELETABLE_PUSHES",
  "DELETABLE_PUSHES_DEFAULT",
  "ENABLE_BLUR",
];
const iconSizes = [16, 32, 57, 60, 72, 76, 96, 114, 120, 144, 152, 180, 192];

const below = (prefix: string, names: readonly string[]) => names.map((name) => `PWP__${prefix}${name}`);

/** Names of settings that Password Pusher documents, in its settings file, its compose files and its documentation. */
export const documentedSettings: readonly string[] = [
  ...["PORT", "DATABASE_URL", "WEB_CONCURRENCY", "FORCE_SSL", "TLS_DOMAIN", "SECRET_KEY_BASE", "SECRET_KEY_BASE_FILE"],
  ...["PWPUSH_MASTER_KEY", "PWPUSH_MASTER_KEY_FILE", "PWPUSH_MASTER_KEY_PREVIOUS", "PWPUSH_MASTER_KEY_PREVIOUS_FILE"],
  ...["RAILS_ENV", "RACK_ENV", "RAILS_MAX_THREADS", "RAILS_SERVE_STATIC_FILES", "RAILS_LOG_TO_STDOUT", "DB_POOL"],
  ...["PWP_PRECOMPILE", "PWP_WORKER", "PWP_PUBLIC_GATEWAY", "GA_ENABLE", "GA_ACCOUNT", "GA_DOMAIN"],
  ...["PROMETHEUS_EXPORTER_HOST", "PROMETHEUS_EXPORTER_PORT"],
  ...below("ENABLE_", ["LOGINS", "URL_PUSHES", "FILE_PUSHES", "QR_PUSHES", "USER_ACCOUNT_EMAILS"]),
  ...below("", ["ALLOW_ANONYMOUS", "DISABLE_SIGNUPS", "DISABLE_LOGINS", "SIGNUP_EMAIL_REGEXP", "REQUIRE_MFA"]),
  ...below("", ["LOGIN_SESSION_TIMEOUT", "HOST_DOMAIN", "HOST_PROTOCOL", "OVERRIDE_BASE_URL", "ALLOWED_HOSTS"]),
  ...below("", ["TRUSTED_PROXIES", "CLOUDFLARE_PROXY", "SECURE_COOKIES", "PURGE_AFTER", "RELATIVE_ROOT", "NO_WORKER"]),
  ...below("", ["SHOW_VERSION", "SHOW_GDPR_CONSENT_BANNER", "TIMEZONE", "DEFAULT_LOCALE", "THEME", "THEME_MODE"]),
  ...below("", ["LOG_LEVEL", "LOG_TO_STDOUT", "FEEDBACK__EMAIL", "LANGUAGE_CODES__DE", "COUNTRY_CODES__DE"]),
  ...below("THROTTLING__", ["DAILY", "HOURLY", "MINUTE", "SECOND"]),
  ...below("NOTIFY_BY_EMAIL__", ["ENABLED", "DAILY_LIMIT"]),
  ...["PW", "URL", "FILES", "QR"].flatMap((kind) => below(`${kind}__`, [...limits, ...options])),
  ...below("PW__", ["BLUR"]),
  ...below("FILES__", ["BLUR", "MAX_FILE_UPLOADS", "STORAGE"]),
  ...below("", ["FILES_STORAGE"]),
  ...below("FILES__S3__", ["ENDPOINT", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "REGION", "BUCKET"]),
  ...below("FILES__GCS__", ["PROJECT", "CREDENTIALS", "BUCKET", "IAM", "GSA_EMAIL"]),
  ...below("FILES__AS__", ["STORAGE_ACCOUNT_NAME", "STORAGE_ACCESS_KEY", "CONTAINER"]),
  ...below("GEN__", ["HAS_NUMBERS", "TITLE_CASED", "USE_SEPARATORS", "CONSONANTS", "VOWELS", "SEPARATORS"]),
  ...below("GEN__", ["MAX_SYLLABLE_LENGTH", "MIN_SYLLABLE_LENGTH", "SYLLABLES_COUNT", "SYLLABLE_COUNT"]),
  ...below("GEN__", ["DEFAULT_TYPE", "LANGUAGE", "PIN__DIGIT_COUNT"]),
  ...below("GEN__PASSWORD__", ["CHARACTER_LENGTH", "UPPERCASE", "LOWERCASE", "DIGITS", "SYMBOLS", "AVOID_AMBIGUOUS"]),
  ...below("GEN__PASSWORD__", ["CHARSET"]),
  ...below("GEN__PASSPHRASE__", ["WORD_COUNT", "SEPARATOR", "CAPITALIZE", "NUMBER", "SYMBOL"]),
  ...below("BRAND__", ["TITLE", "TAGLINE", "DISCLAIMER", "SHOW_FOOTER_MENU", "LIGHT_LOGO", "DARK_LOGO"]),
  ...below(
    "BRAND__",
    iconSizes.map((size) => `ICON_${size}x${size}`),
  ),
  ...below("BRAND__", ["MS_ICON_144x144"]),
  ...below("MAIL__", ["RAISE_DELIVERY_ERRORS", "MAILER_SENDER", "OPEN_TIMEOUT", "READ_TIMEOUT"]),
  ...below("MAIL__SMTP_", ["ADDRESS", "PORT", "DOMAIN", "USER_NAME", "PASSWORD", "AUTHENTICATION", "STARTTLS"]),
  ...below("MAIL__SMTP_", ["ENABLE_STARTTLS", "ENABLE_STARTTLS_AUTO", "OPEN_TIMEOUT", "READ_TIMEOUT"]),
  ...below("MAIL__SMTP_", ["OPENSSL_VERIFY_MODE"]),
  ...["", "PWP__"].flatMap((prefix) => [...limits, "RETRIEVAL_STEP_DEFAULT"].map((name) => `${prefix}${name}`)),
  ...below("", ["ENABLE_RETRIEVAL_STEP", "ENABLE_DELETABLE_PUSHES", "DELETABLE_PUSHES_DEFAULT"]),
  ...["RETRIEVAL_STEP_ENABLED", "DELETABLE_PASSWORDS_ENABLED", "DELETABLE_PASSWORDS_DEFAULT"],
  ...[
    "DELETABLE_BY_VIEWER_PASSWORDS",
    "DELETABLE_BY_VIEWER_DEFAULT",
    "CRYPT_KEY",
    "CRYPT_SALT",
    "PAYLOAD_INITIAL_TEXT",
  ],
];
