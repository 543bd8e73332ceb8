import type { S3Settings } from "./config.ts";
import type { ParsedSettings } from "./read-settings.ts";
import type { SettingGroups } from "./settings.ts";

/** The store that is set up, or why it cannot be: an installation never falls back to another place for its files. */
export function s3SettingsOf(storage: ParsedSettings<SettingGroups>["storage"]): {
  readonly s3: S3Settings | undefined;
  readonly mistakes: readonly string[];
  readonly warnings: readonly string[];
} {
  const { kind, endpoint, bucket, region, accessKeyId, secretAccessKey, pathStyle } = storage;
  const address = endpoint.value ?? (kind.value === "amazon" ? `https://s3.${region.value}.amazonaws.com` : undefined);
  const needed = [...(kind.value === "amazon" ? [] : [endpoint]), bucket, accessKeyId, secretAccessKey];
  if (kind.value === "local") {
    const idle = needed.filter(({ given }) => given).map(({ env }) => env);
    const warning = `${listed(idle)} ${idle.length === 1 ? "has" : "have"} no effect while ${kind.env} is local.`;
    return { s3: undefined, mistakes: [], warnings: idle.length === 0 ? [] : [warning] };
  }
  const missing = needed.filter(({ given }) => !given).map(({ env }) => env);
  if (missing.length > 0) {
    const mistake = `${kind.env} is ${kind.value}, so ${listed(missing)} must be given too.`;
    return { s3: undefined, mistakes: [mistake], warnings: [] };
  }
  const s3 =
    address === undefined ||
    bucket.value === undefined ||
    accessKeyId.value === undefined ||
    secretAccessKey.value === undefined
      ? undefined
      : {
          endpoint: address,
          bucket: bucket.value,
          region: region.value,
          accessKeyId: accessKeyId.value,
          secretAccessKey: secretAccessKey.value,
          pathStyle: pathStyle.value,
        };
  return { s3, mistakes: [], warnings: endpoint.value === undefined ? [] : plainHttp(endpoint.env, endpoint.value) };
}

function plainHttp(env: string, endpoint: string): string[] {
  const { protocol, hostname } = new URL(endpoint);
  const local = hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
  if (protocol === "https:" || local) return [];
  return [`${env} is http to another machine: files are sealed all the same, but requests can be read and held up.`];
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
