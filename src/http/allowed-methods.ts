import type { RouteEntry } from "./route-access.ts";

/** @returns the methods that stand at this path, for `Allow`; none: nothing stands there. */
export function allowedMethods(path: string, routes: readonly RouteEntry[]): readonly string[] {
  const segments = path.split("/");
  const methods = routes.filter((route) => isAt(segments, route.pattern.split("/"))).map((route) => route.method);
  return [...new Set(methods)].sort();
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
