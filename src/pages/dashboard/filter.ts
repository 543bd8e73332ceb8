import { AppError } from "../../base/errors.ts";
import { isKindName } from "../../base/push-kinds.ts";
import { pageOf } from "../../http/parameters.ts";
import type { PushOrder, PushSearch } from "../../pushes/pushes.ts";
import type { PageRequest } from "../request.ts";

export const dashboardPath = "/p";
/** In UTF-16 code units; longer texts are refused. */
export const searchTextMax = 255;
export const states: readonly PushSearch["state"][] = ["all", "active", "expired"];
const orders: readonly PushOrder[] = ["newest", "oldest", "soonest", "latest"];

/**
 * The search that the query describes; an unknown state, kind or order is ignored.
 * @throws AppError invalid_request for a page outside 1..200 and a text that is too long.
 */
export function searchOf(page: PageRequest): PushSearch {
  const text = (page.query("q") ?? "").trim();
  if (text.length > searchTextMax) throw new AppError("invalid_request", "The search text is too long.");
  const kind = page.query("kind");
  return {
    text,
    state: states.find((state) => state === page.query("state")) ?? "all",
    kind: isKindName(kind) ? kind : null,
    order: orders.find((order) => order === page.query("sort")) ?? "newest",
    page: pageOf(page.request),
  };
}

/** The address of a search; the inverse of `searchOf`. */
export function searchPath({ text, state, kind, order, page }: PushSearch): string {
  const query = new URLSearchParams();
  if (text !== "") query.set("q", text);
  if (state !== "all") query.set("state", state);
  if (kind !== null) query.set("kind", kind);
  if (order !== "newest") query.set("sort", order);
  if (page !== 1) query.set("page", String(page));
  const written = query.toString();
  return written === "" ? dashboardPath : `${dashboardPath}?${written}`;
}
