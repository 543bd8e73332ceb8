import type { ComponentChildren } from "preact";
import type { Messages } from "../../i18n/i18n.ts";

export interface PagerProps {
  readonly messages: Messages;
  /** The first page is 1. */
  readonly number: number;
  readonly hasMore: boolean;
  hrefOf(number: number): string;
}

/** From page to page of a list that begins with the newest; nothing where there is one page. */
export function Pager({ messages, number, hasMore, hrefOf }: PagerProps) {
  const { pager } = messages;
  if (number === 1 && !hasMore) return null;
  return (
    <nav class="pager" aria-label={pager.label}>
      <Way href={number > 1 ? hrefOf(number - 1) : null} rel="prev">
        {pager.newer}
      </Way>
      <span aria-current="page">{pager.page({ page: number })}</span>
      <Way href={hasMore ? hrefOf(number + 1) : null} rel="next">
        {pager.older}
      </Way>
    </nav>
  );
}

export interface OlderPagerProps {
  readonly messages: Messages;
  /** null: the list begins there. */
  readonly newestHref: string | null;
  /** null: the list ends here. */
  readonly olderHref: string | null;
}

/** For a list without numbers of pages: each goes on from where the one before it ended. */
export function OlderPager({ messages: { pager }, newestHref, olderHref }: OlderPagerProps) {
  if (newestHref === null && olderHref === null) return null;
  return (
    <nav class="pager" aria-label={pager.label}>
      <Way href={newestHref}>{pager.newest}</Way>
      <span />
      <Way href={olderHref} rel="next">
        {pager.older}
      </Way>
    </nav>
  );
}

interface WayProps {
  readonly href: string | null;
  readonly rel?: "prev" | "next";
  readonly children: ComponentChildren;
}

function Way({ href, rel, children }: WayProps) {
  return href === null ? (
    <span />
  ) : (
    <a class="button" href={href} rel={rel}>
      {children}
    </a>
  );
}
