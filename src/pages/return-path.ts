/** Where somebody goes on after signing in or pressing a button: carried from page to page as `next`. */

/** @param next as `ownPath` has checked it. */
export function withNext(path: string, next: string | null): string {
  return next === null ? path : `${path}?next=${encodeURIComponent(next)}`;
}

/**
 * A return path leads to a page of this server and nowhere else: `//evil`, `/\evil` and absolute addresses do not, nor
 * does what becomes one of them when its dots are resolved (`/..//evil`).
 */
export function ownPath(next: string | undefined): string | null {
  if (next === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next)) return null;
  const base = "http://own.invalid";
  const parsed = URL.parse(next, base);
  return parsed?.origin === base && !parsed.pathname.startsWith("//") ? `${parsed.pathname}${parsed.search}` : null;
}
