import type { FoundPushes, ListedPush } from "../../pushes/pushes.ts";
import { beginningOf, shownName } from "../dashboard/push-parts.tsx";
import { List } from "../lists/list.tsx";
import { pushColumns } from "../lists/push-columns.tsx";
import { pageHref, untranslated, usePage } from "../page.ts";

export interface ActivityModel extends Pick<FoundPushes, "pushes" | "hasMore"> {
  /** From 1. */
  readonly page: number;
  readonly nowMs: number;
}

interface ActivityProps {
  readonly caption: string;
  readonly empty: string;
  readonly model: ActivityModel;
  /** The page with the trail of a push. */
  readonly pathOf: (pushId: number) => string;
  /** The address of a page of the list. */
  readonly pagePath: (number: number) => string;
}

const nameCharactersShown = 100;

/** Pushes of somebody else. Threat: a list of a colleague's links opens them. It shows names, states and numbers, and no note. */
export function ActivityList({ caption, empty, model, pathOf, pagePath }: ActivityProps) {
  const page = usePage();
  const { messages } = page;
  const columns = pushColumns(page, "administrator");
  return (
    <List<ListedPush>
      nowMs={model.nowMs}
      caption={caption}
      rows={model.pushes}
      empty={<p>{empty}</p>}
      paging={{ number: model.page, hasMore: model.hasMore, path: pagePath }}
      columns={[
        {
          label: messages.dashboard.name,
          long: true,
          value: (push) => (
            <a href={pageHref(page, pathOf(push.id))}>
              <bdi translate={untranslated}>{beginningOf(shownName(push, messages), nameCharactersShown)}</bdi>
            </a>
          ),
        },
        ...[columns.kind, columns.made, columns.end, columns.views, columns.state],
      ]}
    />
  );
}
