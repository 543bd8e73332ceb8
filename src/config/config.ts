import type { PostgresAddress } from "./database-url.ts";
import type { SettingOrigin } from "./describe-settings.ts";

export type { SettingOrigin } from "./describe-settings.ts";

/** What the settings table (settings.ts) parses into. Every other room reads settings from here and nowhere else. */
export type KindName = "text" | "file" | "url" | "qr";

export interface Range {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

export interface KindSettings {
  readonly enabled: boolean;
  readonly days: Range;
  readonly views: Range;
  /** `offered` false: the option is off for every push of this kind, whatever the caller asks. */
  readonly retrievalStep: { readonly offered: boolean; readonly default: boolean };
  readonly deletableByViewer: { readonly offered: boolean; readonly default: boolean };
  /** Pages show the secret blurred until it is clicked. */
  readonly blur: boolean;
}

export interface MailSettings {
  readonly host: string;
  readonly port: number;
  readonly startTls: "required" | "auto" | "off";
  /** What the server is greeted by; undefined: the machine's name. */
  readonly greetingName: string | undefined;
  readonly signIn: { readonly userName: string; readonly password: string } | undefined;
  /** `Name <address>` or an address. */
  readonly sender: string;
  /** What links in mails begin with: never taken from a request. */
  readonly baseUrl: string;
  /** Of readers whose language is not known; undefined: English. */
  readonly defaultLocale: string | undefined;
}

export interface S3Settings {
  /** Absolute, without a slash at its end. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** false: the bucket is a part of the host's name. */
  readonly pathStyle: boolean;
}

export interface SingleSignOnSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** undefined: a public client. */
  readonly clientSecret: string | undefined;
  /** What the button calls the provider. */
  readonly name: string;
  /** Where the provider sends people back to begins with it. */
  readonly baseUrl: string;
}

export interface TracingSettings {
  /** Where spans are posted to, `/v1/traces` included. */
  readonly url: string;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /** As OTEL_TRACES_SAMPLER names it. */
  readonly sampler:
    | "always_on"
    | "always_off"
    | "traceidratio"
    | "parentbased_always_on"
    | "parentbased_always_off"
    | "parentbased_traceidratio";
  /** From 0 to 1, for samplers by ratio. */
  readonly samplerShare: number;
}

export type DatabaseSettings =
  /** Absolute path of the file. */
  { readonly engine: "sqlite"; readonly path: string } | ({ readonly engine: "postgres" } & PostgresSettings);

export interface PostgresSettings extends PostgresAddress {
  /** Connections of one process. */
  readonly poolMax: number;
  /** Requests that may wait for a connection; beyond it they are refused. */
  readonly waitingMax: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  /** Off behind a pooler that hands every transaction another connection: then nothing is left on one. */
  readonly preparedStatements: boolean;
}

export interface Config {
  /** Every setting as it may be shown: where it came from, and secrets masked. */
  readonly origins: readonly SettingOrigin[];
  readonly host: string;
  readonly port: number;
  /** Processes that answer on this machine. */
  readonly workers: number;
  /** How long a server that is told to stop takes connections although it says that it is not ready. */
  readonly shutdownGraceMs: number;
  /** How long it keeps a connection then on which nothing is asked. */
  readonly shutdownIdleMs: number;
  /** Absolute path. */
  readonly dataDir: string;
  readonly database: DatabaseSettings;
  /** Master keys given by the environment or files, 32 bytes each, active first. Empty: `<dataDir>/master.key` is used or made. */
  readonly masterKeys: readonly Buffer[];
  readonly allowAnonymous: boolean;
  readonly kinds: Readonly<Record<KindName, KindSettings>>;
  readonly files: {
    readonly allowAnonymous: boolean;
    readonly maxFileUploads: number;
    /** All files of one push together, decoded. */
    readonly pushBytesMax: number;
    readonly ticketTtlSeconds: number;
    /** undefined: sealed files lie in the data folder. */
    readonly s3: S3Settings | undefined;
  };
  /** Origin without a trailing slash, e.g. `https://push.example.com`; undefined: taken from the request. */
  readonly overrideBaseUrl: string | undefined;
  /** Host names (and `.suffix` entries) that requests may ask for; empty: any. */
  readonly allowedHosts: readonly string[];
  /** Addresses and CIDR networks whose X-Forwarded-* headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Requests per client address; 0 is off. */
  readonly throttling: { readonly minute: number; readonly second: number };
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  /** undefined: requests are not logged. `addresses`: the client's stands in each line. */
  readonly requestLog: { readonly addresses: boolean } | undefined;
  /** undefined: there is no /metrics. `token` undefined: whoever asks may read it. */
  readonly metrics: { readonly token: string | undefined } | undefined;
  /** undefined: no traces. */
  readonly tracing: TracingSettings | undefined;
  /** Ended owned pushes and their audit trail are removed this long after their end; undefined: kept. */
  readonly purgeAfterMs: number | undefined;
  /** Creating answers 503 below this much free disk; "auto": the larger of 1 GiB and 5 % of the disk. */
  readonly freeDiskBytesMin: number | "auto";
  /** Stored bytes (payloads and files) of live anonymous pushes above which anonymous creation answers 503. */
  readonly anonymousBytesMax: number | undefined;
  readonly accounts: {
    readonly signupsDisabled: boolean;
    readonly loginsDisabled: boolean;
    /** Which e-mail addresses may sign up; undefined: any. */
    readonly signupEmailPattern: RegExp | undefined;
    /** Accounts are confirmed, reset and told of changes by mail. Never true without `mail`. */
    readonly emails: boolean;
    readonly requireSecondFactor: boolean;
    readonly sessionTimeoutSeconds: number;
  };
  /** undefined: no mail leaves. */
  readonly mail: MailSettings | undefined;
  readonly linkDeliveries: {
    /** Owners may have the links of their pushes mailed. Never true without `mail`. */
    readonly enabled: boolean;
    /** To so many addresses one owner on one day. */
    readonly dailyMax: number;
  };
  /** undefined: nobody signs in elsewhere. */
  readonly singleSignOn: SingleSignOnSettings | undefined;
  /** Plain HTTP is redirected to HTTPS. */
  readonly forceHttps: boolean;
  /** What pages call the installation, until an administrator calls it otherwise; undefined: as the product. */
  readonly brandTitle: string | undefined;
  /** A language tag, perhaps of a language that is not spoken here; undefined: English. */
  readonly defaultLocale: string | undefined;
  /** Cookie `Secure` and `__Host-`: on, off, or as the request came ("auto"). */
  readonly secureCookies: boolean | "auto";
}
