import { type KindDefaults, noDefaults, type PushDefaults } from "../../accounts/accounts.ts";
import { isKindName, type KindName, kindNames } from "../../base/push-kinds.ts";
import { createTokenCookies, findCookie } from "../../http/session-cookie.ts";
import type { PageRequest } from "../request.ts";

/** The settings that a browser remembers for people without an account: they hold no secret and no identity. */

const yearSeconds = 365 * 86_400;

const cookiesOf = ({ services }: PageRequest) =>
  createTokenCookies(services.config.secureCookies, { name: "sealpush_form", seconds: yearSeconds });

/** The form checks the numbers against its limits, which may have changed since. */
export function rememberedDefaults(page: PageRequest): PushDefaults {
  const stored = cookiesOf(page).find(page.request.raw, page.request.client);
  return mergeDefaults(passwordPusherDefaults(page).defaults, stored === undefined ? noDefaults : readDefaults(stored));
}

/** Replaces what the browser remembers for one kind of push. */
export function rememberDefaults(page: PageRequest, kind: KindName, defaults: KindDefaults): void {
  const { kinds } = rememberedDefaults(page);
  setDefaults(page, { kind: null, kinds: { ...kinds, [kind]: defaults } });
}

/** Turns the cookies that Password Pusher left in the browser into ours, once. */
export function adoptOldCookies(page: PageRequest): void {
  const { names } = passwordPusherDefaults(page);
  if (names.length === 0) return;
  setDefaults(page, rememberedDefaults(page));
  for (const name of names) page.setCookie(`${name}=; Max-Age=0; Path=/; SameSite=Lax`);
}

function setDefaults(page: PageRequest, defaults: PushDefaults): void {
  page.setCookie(cookiesOf(page).made(writeDefaults(defaults), page.request.client));
}

/** Password Pusher's first tab has another name than the kind. */
const tabs: Readonly<Record<KindName, string>> = { text: "password", file: "file", url: "url", qr: "qr" };
const oldFields = ["days", "views", "retrieval_step", "deletable_by_viewer"] as const;

function passwordPusherDefaults({ request }: PageRequest) {
  const names: string[] = [];
  const kinds = kindNames.map((kind) => {
    const [days, views, step, deletable] = oldFields.map((field) => {
      const name = `pwpush_${tabs[kind]}_${field}`;
      const value = findCookie(request.raw.headers.cookie, name);
      if (value !== undefined) names.push(name);
      return value;
    });
    return [kind, kindDefaults([days, views, flagOf(step), flagOf(deletable)])] as const;
  });
  return { names, defaults: { kind: null, kinds: Object.fromEntries(kinds) } };
}

function flagOf(value: string | undefined): string | undefined {
  return value === "true" ? "1" : value === "false" ? "0" : undefined;
}

function mergeDefaults(weaker: PushDefaults, stronger: PushDefaults): PushDefaults {
  const kinds = kindNames.map((kind) => [kind, { ...weaker.kinds[kind], ...stronger.kinds[kind] }] as const);
  return { kind: null, kinds: Object.fromEntries(kinds) };
}

/** `text-7-5-1-0_url-1---`: kind, days, views, retrieval step, deletable by viewer. */
function writeDefaults({ kinds }: PushDefaults): string {
  const flag = (value: boolean | undefined) => (value === undefined ? "" : value ? "1" : "0");
  return kindNames
    .flatMap((kind) => {
      const { expireAfterDays = "", expireAfterViews = "", retrievalStep, deletableByViewer } = kinds[kind] ?? {};
      const values = [expireAfterDays, expireAfterViews, flag(retrievalStep), flag(deletableByViewer)];
      return values.every((value) => value === "") ? [] : [[kind, ...values].join("-")];
    })
    .join("_");
}

function readDefaults(text: string): PushDefaults {
  const kinds = text.split("_").flatMap((part) => {
    const [kind, ...values] = part.split("-");
    return isKindName(kind) ? [[kind, kindDefaults(values)] as const] : [];
  });
  return { kind: null, kinds: Object.fromEntries(kinds) };
}

/** Days, views, retrieval step and deletable by viewer. Anything that is not a small number, or `1` or `0`, is absent. */
function kindDefaults([days, views, step, deletable]: readonly (string | undefined)[]): KindDefaults {
  const isNumber = (text: string | undefined) => text !== undefined && /^[1-9]\d{0,3}$/.test(text);
  const isFlag = (text: string | undefined) => text === "1" || text === "0";
  return {
    ...(isNumber(days) && { expireAfterDays: Number(days) }),
    ...(isNumber(views) && { expireAfterViews: Number(views) }),
    ...(isFlag(step) && { retrievalStep: step === "1" }),
    ...(isFlag(deletable) && { deletableByViewer: deletable === "1" }),
  };
}
