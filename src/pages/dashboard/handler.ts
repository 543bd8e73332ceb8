import type { FastifyReply } from "fastify";
import type { Push } from "../../pushes/pushes.ts";
import type { SignedInRequest } from "../request.ts";
import { deleted } from "./deletion.tsx";
import { searchOf, searchPath } from "./filter.ts";
import { dashboardView } from "./view.tsx";

/** `GET /p`: the pushes of the signed-in account. */
export async function showDashboard(page: SignedInRequest): Promise<FastifyReply> {
  const { pushes, groups, clock } = page.services;
  const search = searchOf(page);
  const found = await pushes.search(page.user.id, search);
  const model = {
    search,
    groups: await groups.findSharing(page.user.id),
    pushes: found.pushes,
    lastViews: await pushes.lastViews(found.pushes.filter(({ expired, views }) => !expired && views > 0)),
    pushBaseUrl: page.pushBaseUrl,
    hasMore: found.hasMore,
    stopped: found.stopped,
    metSealedLabel: found.metSealedLabel,
    isDeleted: page.query("done") === deleted,
    nowMs: clock.now(),
  };
  return page.render(dashboardView, model, { selfPath: searchPath(search) });
}

/** The address that the owner hands out. */
export function linkOf(push: Pick<Push, "urlToken" | "retrievalStep">, baseUrl: string): string {
  return `${baseUrl}/p/${push.urlToken}${push.retrievalStep ? "/r" : ""}`;
}
