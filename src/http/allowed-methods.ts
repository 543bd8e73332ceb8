import { isProgramAddress } from "./errors.ts";

interface StandingRoute {
  readonly method: string;
  /** With parameters, e.g. `/p/:token`. */
  readonly pattern: string;
}

/**
 * The methods that stand at this path, for `Allow`; none: nothing stands there. What a path spelled out is for is not
 * what one with parameters in its place is for: of `/p/active.json`, `/p/:url_token.json` does not speak.
 */
export function allowedMethods(path: string, routes: readonly StandingRoute[]): readonly string[] {
  const segments = path.split("/");
  const standing = routes.filter(({ pattern }) => isAt(segments, pattern.split("/")) && !isPageOver(path, pattern));
  const spelledOut = standing.filter(({ pattern }) => pattern === path);
  const methods = (spelledOut.length > 0 ? spelledOut : standing).map(({ method }) => method);
  return [...new Set(methods)].sort();
}

/** A parameter takes any text, endings too, and still no page stands at an address that is a program's. */
export function isPageOver(path: string, pattern: string): boolean {
  return pattern.includes(":") && !isProgramAddress(pattern) && isProgramAddress(path);
}

function isAt(segments: readonly string[], pattern: readonly string[]): boolean {
  if (pattern.at(-1) === "*") return segments.length >= pattern.length && startsAt(segments, pattern.slice(0, -1));
  return segments.length === pattern.length && startsAt(segments, pattern);
}

function startsAt(segments: readonly string[], pattern: readonly string[]): boolean {
  return pattern.every((part, index) => {
    const segment = segments[index] ?? "";
    if (!part.startsWith(":")) return part === segment;
    const dot = part.indexOf(".");
    const ending = dot === -1 ? "" : part.slice(dot);
    return segment.length > ending.length && segment.endsWith(ending);
  });
}
