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
  /** The path of the list. */
  readonly path: string;
}

const nameCharactersShown = 100;

/** Pushes of somebody else. Threat: a list of a colleague's links opens them. It shows names, states and numbers, and no note. */
export function ActivityList({ caption, empty, model, pathOf, path }: ActivityProps) {
  const page = usePage();
  const { messages } = page;
  const columns = pushColumns(page, "administrator");
  return (
    <List<ListedPush>
      nowMs={model.nowMs}
      caption={caption}
      rows={model.pushes}
      empty={<p>{empty}</p>}
      at={{ path }}
      paging={{ number: model.page, hasMore: model.hasMore }}
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
