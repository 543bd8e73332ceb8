import type { KindDefaults } from "../../accounts/accounts.ts";
import { dayMs, minuteMs } from "../../base/clock.ts";
import { isKindName, type KindName, kindNames } from "../../base/push-kinds.ts";
import { kindOptions } from "../../config/topics/kinds.ts";
import { wireName } from "../../http/errors.ts";
import { createTokenCookies, findCookie } from "../../http/session-cookie.ts";
import type { CreatePush } from "../../pushes/pushes.ts";
import type { PageRequest } from "../request.ts";

/** The settings that a browser remembers for people without an account: they hold no secret and no identity. */

interface RememberedKind extends KindDefaults {
  /** An expiry of less than a day; it takes precedence over the days. */
  readonly expireAfterMinutes?: number;
}

type Remembered = Readonly<Partial<Record<KindName, RememberedKind>>>;

const yearSeconds = 365 * 86_400;

const cookiesOf = ({ services }: PageRequest) =>
  createTokenCookies(services.config.secureCookies, { name: "sealpush_form", seconds: yearSeconds });

/** The form checks the numbers against its limits, which may have changed since. */
export function rememberedSettings(page: PageRequest): Remembered {
  const stored = cookiesOf(page).find(page.request.raw, page.request.client);
  return merge(passwordPusherSettings(page).remembered, stored === undefined ? {} : readSettings(stored));
}

/** Replaces what the browser remembers for one kind of push. */
export function rememberSettings(page: PageRequest, kind: KindName, wanted: CreatePush): void {
  setRemembered(page, { ...rememberedSettings(page), [kind]: { ...wanted, ...expiryOf(wanted) } });
}

function expiryOf({ expireAfterMs }: CreatePush): RememberedKind {
  if (expireAfterMs === undefined) return {};
  if (expireAfterMs % dayMs === 0) return { expireAfterDays: expireAfterMs / dayMs };
  return { expireAfterMinutes: expireAfterMs / minuteMs };
}

/** Turns the cookies that Password Pusher left in the browser into ours, once. */
export function adoptOldCookies(page: PageRequest): void {
  const { names } = passwordPusherSettings(page);
  if (names.length === 0) return;
  setRemembered(page, rememberedSettings(page));
  for (const name of names) page.setCookie(`${name}=; Max-Age=0; Path=/; SameSite=Lax`);
}

function setRemembered(page: PageRequest, remembered: Remembered): void {
  page.setCookie(cookiesOf(page).made(writeSettings(remembered), page.request.client));
}

/** Password Pusher's first tab has another name than the kind. */
const tabs: Readonly<Record<KindName, string>> = { text: "password", file: "file", url: "url", qr: "qr" };
const oldFields = ["days", "views", ...kindOptions.map(wireName)];

function passwordPusherSettings({ request }: PageRequest) {
  const names: string[] = [];
  const kinds = kindNames.map((kind) => {
    const [days, views, ...options] = oldFields.map((field) => {
      const name = `pwpush_${tabs[kind]}_${field}`;
      const value = findCookie(request.raw.headers.cookie, name);
      if (value !== undefined) names.push(name);
      return value;
    });
    return [kind, kindSettings([days, views, ...options.map(flagOf)])] as const;
  });
  return { names, remembered: Object.fromEntries(kinds) };
}

function flagOf(value: string | undefined): string | undefined {
  return value === "true" ? "1" : value === "false" ? "0" : undefined;
}

function merge(weaker: Remembered, stronger: Remembered): Remembered {
  return Object.fromEntries(kindNames.map((kind) => [kind, { ...weaker[kind], ...stronger[kind] }]));
}

/** `text-7-5-1-0_url-15m-1--`: kind, days or minutes, views, and its options in the order of `kindOptions`. */
function writeSettings(remembered: Remembered): string {
  const flag = (value: boolean | undefined) => (value === undefined ? "" : value ? "1" : "0");
  return kindNames
    .flatMap((kind) => {
      const { expireAfterMinutes, expireAfterDays = "", expireAfterViews = "", ...options } = remembered[kind] ?? {};
      const expiry = expireAfterMinutes === undefined ? expireAfterDays : `${expireAfterMinutes}m`;
      const values = [expiry, expireAfterViews, ...kindOptions.map((option) => flag(options[option]))];
      return values.every((value) => value === "") ? [] : [[kind, ...values].join("-")];
    })
    .join("_");
}

function readSettings(text: string): Remembered {
  const kinds = text.split("_").flatMap((part) => {
    const [kind, ...values] = part.split("-");
    return isKindName(kind) ? [[kind, kindSettings(values)] as const] : [];
  });
  return Object.fromEntries(kinds);
}

/** As `writeSettings` writes them. Anything that is not a small number, or `1` or `0`, is absent. */
function kindSettings([days, views, ...flags]: readonly (string | undefined)[]): RememberedKind {
  const isNumber = (text: string | undefined) => text !== undefined && /^[1-9]\d{0,3}$/.test(text);
  const isFlag = (text: string | undefined) => text === "1" || text === "0";
  const minutes = days?.endsWith("m") ? days.slice(0, -1) : undefined;
  return {
    ...(isNumber(minutes) && { expireAfterMinutes: Number(minutes) }),
    ...(isNumber(days) && { expireAfterDays: Number(days) }),
    ...(isNumber(views) && { expireAfterViews: Number(views) }),
    ...Object.fromEntries(
      kindOptions.flatMap((option, at) => (isFlag(flags[at]) ? [[option, flags[at] === "1"] as const] : [])),
    ),
  };
}
