import { AppError } from "../../base/errors.ts";
import { isKindName } from "../../base/push-kinds.ts";
import { pageOf } from "../../http/parameters.ts";
import type { PushSearch } from "../../pushes/pushes.ts";
import type { PageRequest } from "../request.ts";

export const dashboardPath = "/p";
/** In UTF-16 code units; the longest name has as many characters. */
export const searchTextMax = 255;
export const states: readonly PushSearch["state"][] = ["all", "active", "expired"];

/**
 * The search that the query describes; an unknown state or kind is ignored.
 * @throws AppError invalid_request for a page outside 1..200 and a text that is longer than any name.
 */
export function searchOf(page: PageRequest): PushSearch {
  const text = (page.query("q") ?? "").trim();
  if (text.length > searchTextMax) throw new AppError("invalid_request", "The search text is too long.");
  const kind = page.query("kind");
  return {
    text,
    state: states.find((state) => state === page.query("state")) ?? "all",
    kind: isKindName(kind) ? kind : null,
    page: pageOf(page.request),
  };
}

/** The address of a search; the inverse of `searchOf`. */
export function searchPath({ text, state, kind, page }: PushSearch): string {
  const query = new URLSearchParams();
  if (text !== "") query.set("q", text);
  if (state !== "all") query.set("state", state);
  if (kind !== null) query.set("kind", kind);
  if (page !== 1) query.set("page", String(page));
  const written = query.toString();
  return written === "" ? dashboardPath : `${dashboardPath}?${written}`;
}
