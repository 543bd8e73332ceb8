import type { FastifyReply } from "fastify";
import type { PageRequest, PageRoute } from "./request.ts";

/** `de`, `pt-BR`: Password Pusher has more languages than there are here. */
const localeShape = /^[a-z]{2}(?:-[a-z]{2})?$/i;

/** The paths after the token in old links. */
const tails = ["", "/r", "/passphrase", "/preview", "/r/preview"] as const;

/**
 * Old links begin with a locale, and have a letter for each kind of push. They redirect to the current address and keep
 * their query. The push is not looked up, so the redirect does not reveal whether it exists.
 */
export const legacyLinks: readonly PageRoute[] = [
  ...tails.flatMap((tail) => [
    ...["f", "r"].map((kind) => legacyLink(`/${kind}/:token${tail}`, tail)),
    ...["p", "f", "r"].map((kind) => legacyLink(`/:locale/${kind}/:token${tail}`, tail)),
  ]),
  // In earlier versions, the passphrase had its own page. Now the push's page asks for it.
  legacyLink("/p/:token/passphrase", ""),
];

function legacyLink(path: string, tail: string): PageRoute {
  return { method: "GET", path, access: "public", handler: (page) => redirectTo(tail, page) };
}

function redirectTo(tail: string, page: PageRequest): FastifyReply {
  const { params, raw } = page.request;
  const locale: unknown = Reflect.get(Object(params), "locale");
  if (page.urlToken === undefined || (typeof locale === "string" && !localeShape.test(locale))) page.notFound();
  return page.redirectToUrl(`/p/${page.urlToken}${tail}${queryIn(raw.url ?? "")}`, 301);
}

/** With its question mark, unchanged; "": none. */
function queryIn(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
}
