import type { ComponentChildren } from "preact";
import { useMessages } from "../page.ts";

export interface PagerProps {
  /** The first page is 1. */
  readonly number: number;
  readonly hasMore: boolean;
  /** The list starts with the newest entry; by default it does. */
  readonly newestFirst?: boolean;
  hrefOf(number: number): string;
}

/** Links between the pages of a list; nothing if there is only one page. */
export function Pager({ number, hasMore, newestFirst = true, hrefOf }: PagerProps) {
  const { pager } = useMessages();
  if (number === 1 && !hasMore) return null;
  return (
    <nav class="pager" aria-label={pager.label}>
      <PagerLink href={number > 1 ? hrefOf(number - 1) : null} rel="prev">
        {newestFirst ? pager.newer : pager.previous}
      </PagerLink>
      <span aria-current="page">{pager.page({ page: number })}</span>
      <PagerLink href={hasMore ? hrefOf(number + 1) : null} rel="next">
        {newestFirst ? pager.older : pager.next}
      </PagerLink>
    </nav>
  );
}

export interface OlderPagerProps {
  /** null: this page is the newest. */
  readonly newestHref: string | null;
  /** null: this page is the last. */
  readonly olderHref: string | null;
}

/** For a list without page numbers: each page continues where the previous one ended. */
export function OlderPager({ newestHref, olderHref }: OlderPagerProps) {
  const { pager } = useMessages();
  if (newestHref === null && olderHref === null) return null;
  return (
    <nav class="pager" aria-label={pager.label}>
      <PagerLink href={newestHref}>{pager.newest}</PagerLink>
      <span />
      <PagerLink href={olderHref} rel="next">
        {pager.older}
      </PagerLink>
    </nav>
  );
}

interface PagerLinkProps {
  readonly href: string | null;
  readonly rel?: "prev" | "next";
  readonly children: ComponentChildren;
}

function PagerLink({ href, rel, children }: PagerLinkProps) {
  return href === null ? (
    <span />
  ) : (
    <a class="button" href={href} rel={rel}>
      {children}
    </a>
  );
}
