import type { ListedRequest } from "../../requests/requests.ts";
import { Layout } from "../layout.tsx";
import { type Column, List } from "../lists/list.tsx";
import { type Page, type PageContext, pageHref, untranslated } from "../page.ts";
import { ButtonLink } from "../parts/buttons.tsx";
import { PageHeading } from "../parts/card.tsx";
import { LocalTime } from "../parts/times.tsx";
import { answersPath, newRequestPath, requestsPath } from "./paths.ts";

interface RequestsModel {
  readonly requests: readonly ListedRequest[];
  readonly number: number;
  readonly hasMore: boolean;
}

export function requestsView({ requests, number, hasMore }: RequestsModel, page: PageContext): Page {
  const { messages } = page;
  const text = messages.requests;
  const newRequest = <ButtonLink to={newRequestPath} label={text.make} look="primary" />;
  return (
    <Layout page={page} title={text.heading} width="wide">
      <div class="line heading-row" data-ends-keys>
        <PageHeading heading={text.heading} lead={text.lead} />
        {requests.length > 0 && newRequest}
      </div>
      <List
        caption={text.heading}
        rows={requests}
        columns={requestColumns(page)}
        empty={
          <div class="card card-centered">
            <p>{text.none}</p>
            {newRequest}
          </div>
        }
        at={{ path: requestsPath }}
        paging={{ number, hasMore }}
      />
    </Layout>
  );
}

/** What the list of requests and the page of one say of a request. */
export function requestColumns(page: PageContext): readonly Column<ListedRequest>[] {
  const { requests: text } = page.messages;
  return [
    {
      label: text.title,
      long: true,
      value: ({ urlToken, title }) => (
        <>
          <span dir="auto" translate={untranslated}>
            {urlToken === null ? title : <a href={pageHref(page, answersPath(urlToken))}>{title}</a>}
          </span>
          {urlToken === null && <p class="field-hint">{text.linkNotStored}</p>}
        </>
      ),
    },
    {
      label: text.state,
      value: ({ state }) => <span class={state === "open" ? "badge badge-active" : "badge"}>{text.states[state]}</span>,
    },
    { label: text.answers, value: ({ answers, answersMax }) => text.answersOf({ used: answers, allowed: answersMax }) },
    { label: text.until, value: ({ expiresAt }) => <LocalTime timeMs={expiresAt} /> },
  ];
}
