/** Return paths: the page that follows after signing in or an action, passed from page to page as `next`. */

/** @param next a result of `ownPath`. */
export function withNext(path: string, next: string | null): string {
  return next === null ? path : `${path}?next=${encodeURIComponent(next)}`;
}

/**
 * @returns the path, or null if it does not lead to a page of this server: an absolute URL, `//evil`, `/\evil`, or a path
 * that becomes one of them when its dots are resolved (`/..//evil`).
 */
export function ownPath(next: string | undefined): string | null {
  if (next === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next)) return null;
  const base = "http://own.invalid";
  const parsed = URL.parse(next, base);
  return parsed?.origin === base && !parsed.pathname.startsWith("//") ? `${parsed.pathname}${parsed.search}` : null;
}
