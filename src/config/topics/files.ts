import { optionalSetting, type ParsedGroup, type SettingReport, setting, switchSetting, valuesOf } from "../setting.ts";
import { accepted, byteSize, converted, oneOf, rejected, type ValueType, wholeNumber } from "../value-types.ts";
import type { accessSettings } from "./access.ts";

const tebibyte = 1024 ** 4;
/** Every retrieval reads the beginning of each file before it counts the view. */
const filesMax = 500;

export const uploadSettings = {
  title: "Files of a push",
  intro: "",
  settings: {
    allowAnonymous: switchSetting({
      env: "PWP__FILES__ALLOW_ANONYMOUS",
      doc: "Whether people without an account may push files too.",
      default: "false",
    }),
    maxFileUploads: setting({
      env: "PWP__FILES__MAX_FILE_UPLOADS",
      doc: `The most files in one push. It has at most ${filesMax}, whatever is set.`,
      type: wholeNumber(1, 1_000_000),
      default: "10",
    }),
    pushBytesMax: setting({
      env: "PWP__FILES__MAX_PUSH_BYTES",
      doc: "The most bytes of all files of one push together.",
      type: byteSize({ min: 1, max: tebibyte, allowed: "from 1 to 1TiB" }),
      default: "2GiB",
    }),
    ticketTtlSeconds: setting({
      env: "PWP__FILES__TICKET_MINUTES",
      doc: "Minutes during which the download links of a retrieval work.",
      type: converted(wholeNumber(1, 1440), (minutes) => minutes * 60),
      default: "15",
    }),
  },
};

const storageWords = oneOf({
  local: "local",
  s3: "s3",
  amazon: "amazon",
  // Password Pusher names the stores that it was tested with; all of them use S3, with the same settings.
  minio: "s3",
  backblaze_b2: "s3",
  cloudflare_r2: "s3",
  digitalocean_spaces: "s3",
  linode_object_storage: "s3",
  wasabi: "s3",
});

const storageKind: typeof storageWords = {
  allowed: storageWords.allowed,
  parse(text) {
    if (!/^(?:google|microsoft)$/i.test(text)) return storageWords.parse(text);
    return {
      ok: false,
      reason: "files are stored in a local folder or an S3-compatible store only: it must be local, s3 or amazon",
    };
  },
};

/** The value has no trailing slash. */
export const s3Endpoint: ValueType<string> = {
  allowed: "an http or https address without user, query and fragment, such as https://s3.eu-central-1.amazonaws.com",
  parse(text) {
    const url = /^https?:\/\/[^\s\p{Cc}\\]+$/iu.test(text) ? URL.parse(text) : null;
    const isBare = url !== null && url.username + url.password + url.search + url.hash === "" && !/[?#]/.test(text);
    return isBare ? accepted(url.href.replace(/\/+$/, "")) : rejected;
  },
};

/** A name that becomes part of a URL or a signature unchanged. */
export function s3Name(allowed: string, charactersMin: number): ValueType<string> {
  return {
    allowed,
    parse(text) {
      const isName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(text) && text.length >= charactersMin;
      return isName ? accepted(text) : rejected;
    },
  };
}

export const s3Credential: ValueType<string> = {
  allowed: "1 to 256 printable ASCII characters without blanks",
  parse: (text) => (/^[\x21-\x7e]{1,256}$/.test(text) ? accepted(text) : rejected),
};

export const storageSettings = {
  title: "File storage",
  intro:
    "Files are encrypted before they are stored, in either storage. With `s3`, endpoint, bucket and both keys are required; a bucket belongs to one installation alone.",
  settings: {
    kind: setting({
      env: "PWP__FILES__STORAGE",
      doc: "The storage of encrypted files: `local` is the folder `blobs` in `DATA_DIR`, `s3` a bucket of an S3-compatible object store. `amazon` is `s3` at Amazon, where the region determines the endpoint. The names of other stores are read as `s3`.",
      type: storageKind,
      default: "local",
    }),
    endpoint: optionalSetting({
      env: "PWP__FILES__S3__ENDPOINT",
      doc: "The address of the object store, without the bucket.",
      type: s3Endpoint,
      unset: "not set",
    }),
    bucket: optionalSetting({
      env: "PWP__FILES__S3__BUCKET",
      doc: "The bucket. It must exist, without versioning.",
      type: s3Name("a bucket's name: 3 to 63 letters, digits, dots, hyphens and underscores", 3),
      unset: "not set",
    }),
    region: setting({
      env: "PWP__FILES__S3__REGION",
      doc: "The region for which requests are signed.",
      type: s3Name("a region's name: letters, digits, hyphens, such as eu-central-1 or auto", 1),
      default: "us-east-1",
    }),
    accessKeyId: optionalSetting({
      env: "PWP__FILES__S3__ACCESS_KEY_ID",
      doc: "The id of the access key.",
      type: s3Credential,
      unset: "not set",
      hidden: "always",
    }),
    secretAccessKey: optionalSetting({
      env: "PWP__FILES__S3__SECRET_ACCESS_KEY",
      doc: "The secret access key.",
      type: s3Credential,
      unset: "not set",
      hidden: "always",
    }),
    pathStyle: switchSetting({
      env: "PWP__FILES__S3__PATH_STYLE",
      doc: "Whether the bucket is in the path of a request (`https://store/bucket/`). When off, it is part of the host name (`https://bucket.store/`), as a few stores require.",
      default: "true",
    }),
  },
};

export function filesConfig(
  uploads: ParsedGroup<typeof uploadSettings>,
  storage: ParsedGroup<typeof storageSettings>,
  access: ParsedGroup<typeof accessSettings>,
  report: SettingReport,
) {
  const off = [access.allowAnonymous, access.filePushes].find(({ value }) => !value);
  if (uploads.allowAnonymous.value && off !== undefined) {
    report.warn(`${uploads.allowAnonymous.env} has no effect while ${off.env} is off.`);
  }
  const { maxFileUploads } = uploads;
  if (maxFileUploads.value > filesMax) {
    report.warn(`${maxFileUploads.env} is ${maxFileUploads.value}, but a push has at most ${filesMax} files here.`);
  }
  return {
    ...valuesOf(uploads),
    allowAnonymous: access.allowAnonymous.value && uploads.allowAnonymous.value,
    maxFileUploads: Math.min(maxFileUploads.value, filesMax),
    /** undefined: encrypted files are stored in the data folder. */
    s3: s3Config(storage, report),
  };
}

/** Incomplete settings are a mistake: an installation never falls back to another storage for its files. */
function s3Config(storage: ParsedGroup<typeof storageSettings>, report: SettingReport) {
  const { kind, ...bucketRows } = storage;
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = bucketRows;
  const isAmazon = kind.value === "amazon";
  const required = [...(isAmazon ? [] : [endpoint]), bucket, accessKeyId, secretAccessKey];
  if (kind.value === "local") {
    const unused = required.filter(({ given }) => given).map(({ env }) => env);
    const has = unused.length === 1 ? "has" : "have";
    if (unused.length > 0) report.warn(`${joinNames(unused)} ${has} no effect while ${kind.env} is local.`);
    return undefined;
  }
  const missing = required.filter(({ given }) => !given).map(({ env }) => env);
  if (missing.length > 0) {
    report.mistake(`${kind.env} is ${kind.value}, so ${joinNames(missing)} must be given too.`, kind.env);
    return undefined;
  }
  if (endpoint.value !== undefined && isPlainHttpElsewhere(endpoint.value)) {
    report.warn(
      `${endpoint.env} is http to another machine: files are encrypted all the same, but requests can be read and blocked.`,
    );
  }
  const address = endpoint.value ?? (isAmazon ? `https://s3.${region.value}.amazonaws.com` : undefined);
  if (
    address === undefined ||
    bucket.value === undefined ||
    accessKeyId.value === undefined ||
    secretAccessKey.value === undefined
  ) {
    // A given value was rejected, and has a mistake of its own.
    return undefined;
  }
  return {
    ...valuesOf(bucketRows),
    endpoint: address,
    bucket: bucket.value,
    accessKeyId: accessKeyId.value,
    secretAccessKey: secretAccessKey.value,
  };
}

function isPlainHttpElsewhere(endpoint: string): boolean {
  const { protocol, hostname } = new URL(endpoint);
  const isLocal = hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
  return protocol !== "https:" && !isLocal;
}

function joinNames(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
