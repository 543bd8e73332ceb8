import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";
import { tokenOf } from "./page-scope.ts";

/** `de`, `pt-BR`: those of the field's servers, more than there are languages here. */
const localeShape = /^[a-z]{2}(?:-[a-z]{2})?$/i;

/** What may stand behind a token in links that people still have. */
const tails = ["", "/r", "/passphrase", "/preview", "/r/preview"] as const;

/**
 * Links once had a locale before them, and each kind of push its own email. They lead to the one address there is now,
 * with their query. Nothing is looked up on the way: an unknown token is told apart only there, if at all.
 */
export function registerLegacyLinks(server: FastifyInstance): void {
  const config = { access: "public", changesState: false } as const;
  for (const tail of tails) {
    for (const kind of ["f", "r"]) server.get(`/${kind}/:token${tail}`, { config }, redirectTo(tail));
    for (const kind of ["p", "f", "r"]) server.get(`/:locale/${kind}/:token${tail}`, { config }, redirectTo(tail));
  }
  // The passphrase had a page of its own there, whose address people copied. Here the push's own page asks for it.
  server.get("/p/:token/passphrase", { config }, redirectTo(""));
}

function redirectTo(tail: (typeof tails)[number]) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const locale: unknown = Reflect.get(Object(request.params), "locale");
    const token = tokenOf(request);
    if (token === undefined || (typeof locale === "string" && !localeShape.test(locale))) {
      throw new AppError("not_found", "not-found");
    }
    return reply.redirect(`/p/${token}${tail}${queryIn(request.raw.url ?? "")}`, 301);
  };
}

/** With its question mark, as it came; "": none. */
function queryIn(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start);
}
