import { isKindName, type KindName, kindNames } from "../../base/push-kinds.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { EndReason, ListedPush, PushSearch } from "../../pushes/pushes.ts";
import { type PageContext, useMessages } from "../page.ts";
import type { Filter } from "./filters.tsx";
import type { Column } from "./list.tsx";

type ShownPush = Pick<
  ListedPush,
  "kind" | "createdAt" | "expiresAt" | "expired" | "expiredOn" | "endReason" | "views" | "expireAfterViews"
>;

/** The sentences about what the owner did differ by who reads them. */
export type PushReader = "owner" | "administrator";

/** What every list of pushes, and every page about one push, says of a push. */
export function pushColumns({ messages }: Pick<PageContext, "messages">, reader: PushReader) {
  const { dashboard, kinds } = messages;
  return {
    kind: { label: dashboard.kind, narrow: "unlabelled", value: ({ kind }) => kinds[kind] },
    state: {
      label: dashboard.state,
      narrow: "unlabelled",
      value: (push) => <StateBadge push={push} reader={reader} />,
    },
    made: { label: dashboard.made, narrow: "hidden", time: ({ createdAt }) => createdAt },
    end: {
      label: dashboard.expiresOrEnded,
      narrow: ({ expired }) => (expired ? dashboard.ended : dashboard.expires),
      time: ({ expiredOn, expiresAt }) => expiredOn ?? expiresAt,
    },
    views: {
      label: dashboard.views,
      value: ({ views, expireAfterViews }) => dashboard.viewsOf({ used: views, allowed: expireAfterViews }),
    },
  } as const satisfies Record<string, Column<ShownPush>>;
}

interface StateBadgeProps {
  readonly push: Pick<ShownPush, "endReason" | "expired">;
  readonly reader: PushReader;
}

export function StateBadge({ push: { endReason, expired }, reader }: StateBadgeProps) {
  const { admin, dashboard } = useMessages();
  const names: Readonly<Record<EndReason, string>> = {
    views: dashboard.endedByViews,
    time: dashboard.endedByTime,
    owner: reader === "owner" ? dashboard.endedByOwner : admin.endedByOwner,
    viewer: dashboard.endedByViewer,
    administrator: dashboard.endedByAdministrator,
  };
  return (
    <span class={expired ? "badge" : "badge badge-active"}>
      {endReason === null ? dashboard.active : names[endReason]}
    </span>
  );
}

const states: readonly PushSearch["state"][] = ["all", "active", "expired"];

/** The filters of a list of pushes. An unknown kind or state does not filter. */
export function readPushFilters(value: (name: string) => string | undefined): Pick<PushSearch, "kind" | "state"> {
  const kind = value("kind");
  return {
    kind: isKindName(kind) ? kind : null,
    state: states.find((state) => state === value("state")) ?? "all",
  };
}

/** They are left out of an address if they do not filter. */
export function queryOfFilters({ kind, state }: Pick<PushSearch, "kind" | "state">) {
  return { state: state === "all" ? null : state, kind };
}

export function kindFilter(kind: KindName | null, { dashboard, kinds }: Messages): Filter {
  return {
    name: "kind",
    label: dashboard.kind,
    value: kind ?? "",
    options: [
      { value: "", label: dashboard.anyKind },
      ...kindNames.map((name) => ({ value: name, label: kinds[name] })),
    ],
  };
}

/** @param all the label of the first one: in a menu, it says what is not filtered. */
export function stateOptions({ dashboard }: Messages, all = dashboard.all) {
  const labels = { all, active: dashboard.active, expired: dashboard.ended };
  return states.map((state) => ({ value: state, label: labels[state] }));
}
