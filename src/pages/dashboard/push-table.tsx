import type { PageContext } from "../page.ts";
import { BothTimes } from "../parts/both-times.tsx";
import { Icon } from "../parts/icon.tsx";
import { type ListedPush, noteShown, PushActions, PushMarks, PushName, StateBadge, ViewsUsed } from "./push-parts.tsx";

export interface PushTableProps {
  readonly pushes: readonly ListedPush[];
  readonly nowMs: number;
  readonly returnPath: string;
  readonly page: PageContext;
}

/** A table where there is room for its columns; on a narrow screen each row is a card, whose cells say what they are. */
export function PushTable({ pushes, nowMs, returnPath, page }: PushTableProps) {
  const { dashboard } = page.messages;
  return (
    <table class="push-table">
      <caption class="visually-hidden">{dashboard.caption}</caption>
      <thead>
        <tr>
          <th scope="col">{dashboard.name}</th>
          <th scope="col">{dashboard.kind}</th>
          <th scope="col">{dashboard.made}</th>
          <th scope="col">{dashboard.expiresOrEnded}</th>
          <th scope="col">{dashboard.views}</th>
          <th scope="col">{dashboard.state}</th>
          <th scope="col">{dashboard.actions}</th>
        </tr>
      </thead>
      <tbody>
        {pushes.map((listed) => (
          <Row key={listed.push.urlToken} listed={listed} nowMs={nowMs} returnPath={returnPath} page={page} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps extends Omit<PushTableProps, "pushes"> {
  readonly listed: ListedPush;
}

function Row({ listed, nowMs, returnPath, page }: RowProps) {
  const { push } = listed;
  const { messages } = page;
  const { dashboard, kinds } = messages;
  return (
    <tr class={push.expired ? "push-ended" : undefined}>
      <th scope="row">
        <PushName push={push} messages={messages} />
        {push.note !== null && (
          <span class="push-note" dir="auto" translate={false}>
            {noteShown(push.note)}
          </span>
        )}
        <PushMarks push={push} messages={messages} />
      </th>
      <td data-label={dashboard.kind}>
        <span class="push-kind">
          <Icon name={push.kind} />
          {kinds[push.kind]}
        </span>
      </td>
      <td data-label={dashboard.made}>
        <BothTimes timeMs={push.createdAt} nowMs={nowMs} messages={messages} />
      </td>
      <td data-label={push.expiredOn === null ? dashboard.expires : dashboard.ended}>
        <BothTimes timeMs={push.expiredOn ?? push.expiresAt} nowMs={nowMs} messages={messages} />
      </td>
      <td data-label={dashboard.views}>
        <ViewsUsed push={push} messages={messages} />
      </td>
      <td data-label={dashboard.state}>
        <StateBadge push={push} messages={messages} />
      </td>
      <td>
        <PushActions listed={listed} page={page} returnPath={returnPath} withTrail />
      </td>
    </tr>
  );
}
