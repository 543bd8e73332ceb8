import type { IncomingMessage } from "node:http";
import { oldLocales } from "../base/old-locales.ts";
import { isRobot } from "./robots.ts";

/**
 * The address by which a request is routed. Repeated slashes count as one and a slash at the end as none: clients join
 * `https://host/` and `/p.json`. Password Pusher has each page with `.html` at the end as well, and API v1 behind a locale
 * (`/de/p/token.json`). With `.html`, a link opens nothing, nor does its address in the API: programs that check files of this name must not spend a view. A client that asks for JSON at an address of API v1 without its `.json` gets API v1, which reads
 * tokens but no cookies. Recognised robots get the page, which never counts a view.
 */
export function addressOf({ method, url = "", headers }: IncomingMessage): string {
  if (!url.startsWith("/")) return url;
  const queryStart = url.indexOf("?");
  const given = queryStart === -1 ? url : url.slice(0, queryStart);
  const path = given.includes("//") || given.endsWith("/") ? withSingleSlashes(given) : given;
  const query = url.slice(given.length);
  const withoutLocale = pathBehindLocale(path);
  if (withoutLocale.endsWith(".json") || linkWithEnding.test(withoutLocale)) return `${withoutLocale}${query}`;
  const jsonPath = jsonPathOf(method, withoutLocale);
  const isForJson = jsonPath !== undefined && prefersJson(headers.accept ?? "") && !isRobot(headers["user-agent"]);
  return `${isForJson ? jsonPath : withoutEnding(path)}${query}`;
}

const localizedPath = /^\/([a-z]{2}(?:-[a-z]{2})?)(\/[pfr](?:\/.+|\.json)?)$/i;
const oldLocaleWords: ReadonlySet<string> = new Set(oldLocales.map((locale) => locale.toLowerCase()));

/** @returns the path without a locale of Password Pusher in front of an address of API v1; otherwise the path. */
function pathBehindLocale(path: string): string {
  const [, locale = "", rest = path] = localizedPath.exec(path) ?? [];
  return oldLocaleWords.has(locale.toLowerCase()) ? rest : path;
}

/** A link, and the page of its retrieval step. No route has this address; words such as `/p/new` are shorter than a token. */
const linkWithEnding = /^\/[pfr]\/[\w-]{8,64}(?:\/r)?\.html$/;
const pageEnding = /(?<=[^/])\.html$/;
const apiPath = /^\/api\/|\.json\.html$/;

function withoutEnding(path: string): string {
  return path.endsWith(".html") && !apiPath.test(path) ? path.replace(pageEnding, "") : path;
}

function withSingleSlashes(path: string): string {
  const single = path.replace(/\/{2,}/g, "/");
  return single.length > 1 && single.endsWith("/") ? single.slice(0, -1) : single;
}

/** A link and what is below it, at each prefix of API v1; the form at `/p/new` is no link. */
const pushPath = /^(\/[pfr]\/(?!new$)[A-Za-z0-9_-]{1,64})(\/r|\/preview|\/audit)?$/;
const createPath = /^\/[pfr]$/;

/** The path of API v1 for a request that a page may have too; undefined: none. */
function jsonPathOf(method: string | undefined, path: string): string | undefined {
  if (method === "POST") return createPath.test(path) ? `${path}.json` : undefined;
  const [, push, tail] = pushPath.exec(path) ?? [];
  if (push === undefined) return undefined;
  if (method === "DELETE") return tail === undefined ? `${push}.json` : undefined;
  if (method !== "GET" && method !== "HEAD") return undefined;
  return tail === undefined || tail === "/r" ? `${push}.json` : `${path}.json`;
}

const acceptCharactersMax = 1_000;

/** Whether `Accept` (RFC 9110, 12.5.1) names JSON, and before HTML and every wildcard. */
function prefersJson(accept: string): boolean {
  const ranges = accept
    .slice(0, acceptCharactersMax)
    .split(",")
    .map((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith("q="));
      return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    });
  const json = ranges.find(({ type }) => type === "application/json");
  if (json === undefined || !(json.quality > 0)) return false;
  // If the qualities are equal, the first one counts.
  return ranges
    .filter(({ type }) => type === "text/html" || type === "application/xhtml+xml" || type.endsWith("/*"))
    .every(
      (other) => json.quality > other.quality || (json.quality === other.quality && isBefore(ranges, json, other)),
    );
}

function isBefore<T>(list: readonly T[], first: T, second: T): boolean {
  return list.indexOf(first) < list.indexOf(second);
}
