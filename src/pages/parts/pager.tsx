export interface PagerProps {
  /** Names the navigation. */
  readonly label: string;
  /** Which page this is, in words. */
  readonly current: string;
  readonly newer: { readonly label: string; readonly href: string | null };
  readonly older: { readonly label: string; readonly href: string | null };
}

/** From page to page of a list that begins with the newest. */
export function Pager({ label, current, newer, older }: PagerProps) {
  return (
    <nav class="pager" aria-label={label}>
      {newer.href === null ? (
        <span />
      ) : (
        <a class="button" href={newer.href} rel="prev">
          {newer.label}
        </a>
      )}
      <span aria-current="page">{current}</span>
      {older.href === null ? (
        <span />
      ) : (
        <a class="button" href={older.href} rel="next">
          {older.label}
        </a>
      )}
    </nav>
  );
}
