import type { PageContext } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { LocalTime, RelativeTime } from "../parts/times.tsx";
import { accountPath, type SessionRow } from "./model.ts";
import { Section } from "./section.tsx";
import type { AccountProps } from "./view.tsx";

export function SessionsSection({ model, page }: AccountProps) {
  const { sessions } = page.messages.profile;
  return (
    <Section name="sessions" heading={sessions.heading}>
      <p>{sessions.lead}</p>
      <ul class="rows">
        {model.sessions.map((session) => (
          <Row key={session.id} session={session} now={model.now} page={page} />
        ))}
      </ul>
      {model.sessions.some((session) => !session.current) && (
        <PostForm page={page} action={`${accountPath}/sessions/end_others`}>
          <button type="submit" class="button">
            {sessions.others}
          </button>
        </PostForm>
      )}
    </Section>
  );
}

interface RowProps {
  readonly session: SessionRow;
  readonly now: number;
  readonly page: PageContext;
}

function Row({ session, now, page }: RowProps) {
  const { messages } = page;
  const { sessions } = messages.profile;
  const { browser, address } = session;
  return (
    <li class="row account-session">
      <div class="row-main">
        <h3 class="row-title" dir="auto">
          {browser}
        </h3>
        {session.current && <span class="badge badge-active">{sessions.current}</span>}
        {!session.current && (
          <PostForm page={page} class="account-session-end" action={`${accountPath}/sessions/${session.id}/end`}>
            <button type="submit" class="button button-quiet-danger" aria-label={sessions.endOne({ browser, address })}>
              {sessions.end}
            </button>
          </PostForm>
        )}
      </div>
      <dl class="row-facts">
        <Fact label={sessions.from} ltr>
          {address}
        </Fact>
        <Fact label={sessions.began}>
          <LocalTime timeMs={session.createdAt} messages={messages} />
        </Fact>
        <Fact label={sessions.seen}>
          <RelativeTime timeMs={session.seenAt} nowMs={now} messages={messages} />
        </Fact>
      </dl>
    </li>
  );
}
