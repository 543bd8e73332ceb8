import { oldLocales } from "../base/old-locales.ts";
import { factorsPath, secondFactorPath, signInPath } from "../http/authentication.ts";
import { isJsonPath } from "../http/errors.ts";
import type { FindOldAddress } from "../http/not-found.ts";
import { languages } from "../i18n/i18n.ts";
import { aboutPath } from "./about/path.ts";
import { accountPath } from "./account/path.ts";
import { adminPaths } from "./admin/frame.tsx";
import { dashboardPath } from "./dashboard/filter.ts";
import { renderOldFile } from "./gone.tsx";
import { findMangledLink } from "./mangled-links.ts";
import type { PageHandler, PageRequest, PageRoute } from "./request.ts";
import { requestResetPath, resetPasswordPath } from "./reset-password.tsx";
import { signUpPath } from "./sign-up.tsx";
import { tokensPath } from "./tokens/model.ts";

/** An address of Password Pusher, and the page here with the same purpose. */
interface OldAddress {
  /** `:token` and `:id` are one segment, `*` at the end one or more. */
  readonly from: string;
  /** May have a query; `:token` is the one of `from`. */
  readonly to: string;
}

type MethodsOf = Parameters<FindOldAddress>[2];

const formPath = "/p/new";

/** In Password Pusher, files and URLs have addresses of their own. */
const letters = [
  { letter: "p", form: formPath },
  { letter: "f", form: `${formPath}?kind=file` },
  { letter: "r", form: `${formPath}?kind=url` },
] as const;

/**
 * The addresses that people have in bookmarks, emails and wikis. Each redirects with its query, and exists in front of a
 * locale as well (`/de/f/new`). No push is looked up, so a redirect does not reveal whether it exists.
 */
export const oldAddresses: readonly OldAddress[] = [
  ...letters.flatMap(({ letter }) => [
    { from: `/${letter}/active`, to: `${dashboardPath}?state=active` },
    { from: `/${letter}/expired`, to: `${dashboardPath}?state=expired` },
    { from: `/${letter}/:token/passphrase`, to: "/p/:token" },
    { from: `/${letter}/:token/print_preview`, to: "/p/:token/preview" },
  ]),
  ...letters.slice(1).flatMap(({ letter, form }) => [
    { from: `/${letter}`, to: dashboardPath },
    { from: `/${letter}/new`, to: form },
    ...["", "/r", "/preview", "/r/preview", "/audit", "/edit"].map((tail) => ({
      from: `/${letter}/:token${tail}`,
      to: `/p/:token${tail}`,
    })),
  ]),
  { from: "/pages/api", to: "/help/api" },
  { from: "/pages/about", to: aboutPath },
  { from: "/pages/:page", to: "/" },
  { from: "/feedbacks", to: "/" },
  { from: "/feedbacks/new", to: "/" },
  { from: "/users", to: signUpPath },
  { from: "/users/cancel", to: signUpPath },
  { from: "/users/password", to: requestResetPath },
  { from: "/users/unlock", to: signInPath },
  { from: "/users/unlock/new", to: signInPath },
  { from: "/user/two_factor", to: factorsPath },
  { from: "/user/two_factor/backup_codes", to: factorsPath },
  { from: "/user/two_factor/verify", to: secondFactorPath },
  { from: "/api_tokens", to: tokensPath },
  { from: "/admin/custom_css", to: adminPaths.theme },
  { from: "/admin/custom_css/edit", to: adminPaths.theme },
  { from: "/admin/users/new", to: adminPaths.users },
  { from: "/admin/users/:id/edit", to: adminPaths.users },
  { from: "/admin/passwords", to: adminPaths.pushes },
  { from: "/admin/file_pushes", to: adminPaths.pushes },
  { from: "/admin/urls", to: adminPaths.pushes },
  { from: "/admin/audit_logs", to: adminPaths.pushes },
  { from: "/admin/views", to: adminPaths.pushes },
  { from: "/admin/jobs/*", to: adminPaths.jobs },
  ...["/admin/dbexplore", "/madmin"].flatMap((explorer) => [
    { from: explorer, to: adminPaths.overview },
    { from: `${explorer}/users`, to: adminPaths.users },
    { from: `${explorer}/users/*`, to: adminPaths.users },
    { from: `${explorer}/*`, to: adminPaths.pushes },
  ]),
];

const kindByTab = { text: "text", files: "file", url: "url", qr: "qr" };

/** Query parameters with another name or other values in Password Pusher. */
export const oldParameters = [
  { path: "/", from: "tab", to: "kind", values: kindByTab },
  { path: formPath, from: "tab", to: "kind", values: kindByTab },
  { path: dashboardPath, from: "filter", to: "state", values: { active: "active", expired: "expired" } },
] as const;

const localeByWord = new Map(
  [...oldLocales, ...languages.map(({ locale }) => locale.tag)].map((tag) => [tag.toLowerCase(), tag]),
);

/**
 * The second words of translated addresses are the same in every language, except the word for "new" and "edit":
 * `/de/Benutzer/password/neu`.
 */
const accountPages: Readonly<Record<string, string>> = {
  sign_in: signInPath,
  sign_up: signUpPath,
  cancel: signUpPath,
  token: tokensPath,
  unlock: signInPath,
  password: requestResetPath,
  confirmation: "/users/confirmation/new",
};

/** "edit" in the languages of Password Pusher, as the second word of the address of an account: `/de/Benutzer/bearbeiten`. */
const editWords: ReadonlySet<string> = new Set(
  `edit bearbeiten breyta Bewerk editar editatu editează edytować modificare modifier muokata redigera redigere rediģēt
  sunting szerkeszteni Upravit upraviť редагувати редактировать Уредити ترمیم แก้ไข 編集 编辑 편집하다`.split(/\s+/),
).add("संपादन करना");

/** Links have at least 11 characters, and no translation of "new" in ASCII letters has more than 7. */
const tokenShape = /^[\w-]{8,64}$/;
const plainPath = /^(?:\/[\w.~-]+)+$/;

/**
 * Where Password Pusher has the files of pushes. Such an address does not name its push, and worked for five minutes. It
 * may end with `.json`, so it is no page.
 */
const oldFilePaths = ["/pfb/*", "/rails/active_storage/*"];

/** Forms that have an address of their own, and are on a page that is not above it. `:token` is one segment. */
const formPages: readonly OldAddress[] = [
  // Its page above would count a view.
  { from: "/p/:token/expire", to: "/p/:token/r" },
  { from: "/p/:token/notify_emails", to: "/p/:token/preview" },
  { from: "/pushes/delete", to: dashboardPath },
  { from: "/requests/:token/close", to: "/requests/:token/answers" },
  { from: "/requests/:token/delete", to: "/requests/:token/answers" },
  { from: "/users/auth/oidc", to: signInPath },
];

/** The rows of the table, and the addresses of files, as routes. */
export const oldAddressRoutes: readonly PageRoute[] = [
  ...oldFilePaths.map(
    (path): PageRoute => ({ method: "GET", path, group: "recipient", access: "public", handler: renderOldFile }),
  ),
  ...oldAddresses.map(({ from, to }): PageRoute => {
    const handler = (page: PageRequest) => {
      if (from.includes(":token") && page.urlToken === undefined) page.notFound();
      return page.redirectToUrl(addressOf(to.replace(":token", page.urlToken ?? ""), queryOf(page)), 301);
    };
    const group = to === "/p/:token" || to === "/p/:token/r" ? "recipient" : "internal";
    const route = { method: "GET", path: from, group, handler } as const;
    // These do not exist for other people, like the pages themselves.
    return to.startsWith(adminPaths.overview) ? { ...route, access: "page_admin" } : { ...route, access: "public" };
  }),
];

/** A handler that first redirects a query of Password Pusher to ours. */
export function withOldParameters<Request extends PageRequest>(handler: PageHandler<Request>): PageHandler<Request> {
  return (page) => {
    const path = page.request.routeOptions.url ?? "";
    const query = queryOf(page);
    const renamed = renameParameters(path, query);
    return renamed === query ? handler(page) : page.redirectToUrl(`${path}${renamed}`, 301);
  };
}

/**
 * The address for a path that no page has.
 * - One that begins with a locale: the locale becomes `?locale=`. Password Pusher translates the words of its paths
 *   (`/de/p/neu`), so an unknown path leads to the page that its shape suggests, and otherwise to the start page.
 * - One that only a form is sent to: the page with the form. The browser shows such an address after a refused form.
 * - A link with something behind it: the link.
 */
export const findOldAddress: FindOldAddress = (path, query, methodsOf) => {
  if (!path.startsWith("/")) return undefined;
  const [word = "", ...rest] = path.split("/").filter((segment) => segment !== "");
  const locale = localeByWord.get(word.toLowerCase());
  // Other parameters of a form's address may be secrets that a program has sent by mistake.
  if (locale === undefined) return findMangledLink(path + query) ?? findFormPage(path, methodsOf);
  return addressOf(pageBehindLocale(rest, query, methodsOf), query, locale);
};

/** @returns undefined: no form is sent to the path, or its page is not known. */
function findFormPage(path: string, methodsOf: MethodsOf): string | undefined {
  if (!methodsOf(path).includes("POST")) return undefined;
  const words = path.slice(1).split("/");
  const row = findRow(formPages, words);
  if (row !== undefined) return row;
  for (let length = words.length - 1; length > 0; length -= 1) {
    const above = `/${words.slice(0, length).join("/")}`;
    if (methodsOf(above).includes("GET")) return above;
  }
  return undefined;
}

function pageBehindLocale(words: readonly string[], query: string, methodsOf: MethodsOf): string {
  const [first, second] = words;
  const row = findRow(oldAddresses, words);
  if (row !== undefined) return row;
  const kind = letters.find(({ letter }) => letter === first);
  if (kind !== undefined && words.length === 2 && !tokenShape.test(second ?? "")) return kind.form;
  const path = `/${words.join("/")}`;
  if (plainPath.test(path) && (path === "/api" || !isJsonPath(path))) {
    const page = methodsOf(path).includes("GET") ? path : findFormPage(path, methodsOf);
    if (page !== undefined) return page;
  }
  if (second === "password" && query.includes("reset_password_token=")) return resetPasswordPath;
  if (first === "api") return "/api";
  if (second === "api") return "/help/api";
  if (second === "about") return aboutPath;
  if (kind !== undefined) return "/";
  // The router has refused malformed escapes.
  const isEdit = words.length === 2 && editWords.has(decodeURIComponent(second ?? ""));
  return accountPages[second ?? ""] ?? (isEdit ? accountPath : "/");
}

/** @returns the target of the row of the table that matches, with the token. */
function findRow(rows: readonly OldAddress[], words: readonly string[]): string | undefined {
  for (const { from, to } of rows) {
    const pattern = from.slice(1).split("/");
    const isPrefix = pattern.at(-1) === "*";
    if (isPrefix ? pattern.length > words.length : pattern.length !== words.length) continue;
    const matches = pattern.every((part, at) => {
      if (part === ":token") return tokenShape.test(words[at] ?? "");
      return part === ":id" || part === "*" || part === words[at];
    });
    if (matches) return to.replace(":token", words[pattern.indexOf(":token")] ?? "");
  }
  return undefined;
}

/** @param target a path of ours, which may have a query. @param locale replaces the one of the query. */
function addressOf(target: string, query: string, locale?: string): string {
  const [path = "/", own] = target.split("?");
  const asked = renameParameters(path, query).slice(1).split("&");
  const parameters = [
    own,
    ...(locale === undefined ? asked : asked.filter((parameter) => !parameter.startsWith("locale="))),
    locale === undefined ? undefined : `locale=${locale}`,
  ].filter((parameter) => parameter !== undefined && parameter !== "");
  return parameters.length === 0 ? path : `${path}?${parameters.join("&")}`;
}

/** Everything else in the query stays unchanged. A query that has our parameter keeps it. */
function renameParameters(path: string, query: string): string {
  const row = oldParameters.find((candidate) => candidate.path === path);
  const given = query.slice(1).split("&");
  if (row === undefined || given.some((parameter) => parameter.startsWith(`${row.to}=`))) return query;
  const renamed = given.map((parameter) => {
    const value = parameter.startsWith(`${row.from}=`) ? parameter.slice(row.from.length + 1) : "";
    return Object.hasOwn(row.values, value) ? `${row.to}=${Reflect.get(row.values, value)}` : parameter;
  });
  return query === "" ? "" : `?${renamed.join("&")}`;
}

/** With its question mark, unchanged; "": none. */
function queryOf({ request }: PageRequest): string {
  const url = request.raw.url ?? "";
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
}
