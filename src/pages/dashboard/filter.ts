import { AppError } from "../../base/errors.ts";
import { pageOf } from "../../http/parameters.ts";
import type { PushOrder, PushSearch } from "../../pushes/pushes.ts";
import { listPath } from "../lists/filters.tsx";
import { queryOfFilters, readPushFilters } from "../lists/push-columns.tsx";
import type { PageRequest } from "../request.ts";

export const dashboardPath = "/p";
/** In UTF-16 code units; longer texts are refused. */
export const searchTextMax = 255;
const orders: readonly PushOrder[] = ["newest", "oldest", "soonest", "latest"];

/**
 * The search that the query describes; an unknown order is ignored.
 * @throws AppError invalid_request for a page outside 1..200 and a text that is too long.
 */
export function searchOf(page: PageRequest): PushSearch {
  const text = (page.query("q") ?? "").trim();
  if (text.length > searchTextMax) throw new AppError("invalid_request", "The search text is too long.");
  return {
    text,
    ...readPushFilters((name) => page.query(name)),
    order: orders.find((order) => order === page.query("sort")) ?? "newest",
    page: pageOf(page.request),
  };
}

/** The address of a search; the inverse of `searchOf`. */
export function searchPath({ text, order, page, ...filters }: PushSearch): string {
  return listPath(dashboardPath, {
    q: text,
    ...queryOfFilters(filters),
    sort: order === "newest" ? null : order,
    page,
  });
}
