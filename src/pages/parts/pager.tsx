import type { ComponentChildren } from "preact";
import { pageMax } from "../../http/parameters.ts";
import { pageHref, useMessages, usePage } from "../page.ts";

export interface PagerProps {
  /** From 1. */
  readonly number: number;
  readonly hasMore: boolean;
  /** The list starts with the newest entry; by default it does. */
  readonly newestFirst?: boolean;
  /** The address of a page. */
  path(number: number): string;
}

/** Links between the pages of a list; nothing if there is only one page. The last page of any list leads to no other. */
export function Pager({ number, hasMore, newestFirst = true, path }: PagerProps) {
  const { pager } = useMessages();
  if (number === 1 && !hasMore) return null;
  const leadsOn = hasMore && number < pageMax;
  return (
    <nav class="pager" aria-label={pager.label}>
      <PagerLink path={number > 1 ? path(number - 1) : null} rel="prev">
        {newestFirst ? pager.newer : pager.previous}
      </PagerLink>
      <span aria-current="page">{pager.page({ page: number })}</span>
      <PagerLink path={leadsOn ? path(number + 1) : null} rel="next">
        {newestFirst ? pager.older : pager.next}
      </PagerLink>
    </nav>
  );
}

export interface OlderPagerProps {
  /** null: this page is the newest. */
  readonly newest: string | null;
  /** null: this page is the last. */
  readonly older: string | null;
}

/** For a list without page numbers: each page continues where the previous one ended. */
export function OlderPager({ newest, older }: OlderPagerProps) {
  const { pager } = useMessages();
  if (newest === null && older === null) return null;
  return (
    <nav class="pager" aria-label={pager.label}>
      <PagerLink path={newest}>{pager.newest}</PagerLink>
      <span />
      <PagerLink path={older} rel="next">
        {pager.older}
      </PagerLink>
    </nav>
  );
}

interface PagerLinkProps {
  readonly path: string | null;
  readonly rel?: "prev" | "next";
  readonly children: ComponentChildren;
}

function PagerLink({ path, rel, children }: PagerLinkProps) {
  const page = usePage();
  return path === null ? (
    <span />
  ) : (
    <a class="button" href={pageHref(page, path)} rel={rel}>
      {children}
    </a>
  );
}
