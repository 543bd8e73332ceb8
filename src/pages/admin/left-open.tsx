import type { User } from "../../accounts/accounts.ts";
import { useMessages } from "../page.ts";
import { Card } from "../parts/card.tsx";
import { Fact } from "../parts/fact.tsx";
import { PostButton } from "../parts/post-form.tsx";

/** Bounds the work of the page. */
export const linksCounted = 1_000;

/** What others can still open or answer, also when the user has left. */
export interface LeftOpen {
  /** At most one more than `linksCounted`. */
  readonly links: number;
  readonly requests: number;
}

interface LeftOpenProps {
  readonly user: User;
  /** The path of the user's page. */
  readonly path: string;
  readonly left: LeftOpen;
}

/** One click ends all of it. To keep it, nothing has to be done. */
export function LeftOpenCard({ user, path, left }: LeftOpenProps) {
  const { admin, formats } = useMessages();
  const links = formats.number(Math.min(left.links, linksCounted));
  return (
    <Card id="left_open" heading={admin.leftOpen}>
      <dl class="facts">
        <Fact label={admin.liveLinks} value={left.links > linksCounted ? `${links}+` : links} />
        <Fact label={admin.openRequests} value={formats.number(left.requests)} />
      </dl>
      {left.links + left.requests > 0 && (
        <>
          <p>{admin.leftOpenKept}</p>
          <p>{admin.endLinksText}</p>
          <PostButton
            action={`${path}/links/end`}
            label={admin.endLinks}
            look="danger"
            aria-label={admin.actionOn({ action: admin.endLinks, name: user.email })}
          />
        </>
      )}
    </Card>
  );
}
