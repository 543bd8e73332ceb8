import type { IncomingHttpHeaders } from "node:http";

/** A browser may fetch a page ahead of its reader and says so in one of these. Such a request must not cost a view. */
const declarations = ["sec-purpose", "purpose", "x-moz", "x-purpose"] as const;

export function isDeclaredPrefetch(headers: IncomingHttpHeaders): boolean {
  for (const name of declarations) {
    const value = headers[name];
    if (value !== undefined && /prefetch|prerender|preview/i.test(String(value))) return true;
  }
  return false;
}
