import type { ComponentChildren } from "preact";

export interface CardProps {
  /** The heading has it, and names the card. */
  readonly id: string;
  readonly heading: ComponentChildren;
  /** Beside the heading. */
  readonly badge?: ComponentChildren;
  /** For the style sheet. */
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Card({ id, heading, badge, class: className, children }: CardProps) {
  const title = <h2 id={id}>{heading}</h2>;
  return (
    <section class={className === undefined ? "card" : `card ${className}`} aria-labelledby={id}>
      {badge === undefined ? (
        title
      ) : (
        <div class="line">
          {title}
          {badge}
        </div>
      )}
      {children}
    </section>
  );
}

export interface PageHeadingProps {
  readonly heading: ComponentChildren;
  readonly lead?: ComponentChildren;
  /** Above the heading: the link to the page that this one belongs to. */
  readonly back?: ComponentChildren;
  /** Below the lead. */
  readonly children?: ComponentChildren;
}

export function PageHeading({ heading, lead, back, children }: PageHeadingProps) {
  return (
    <div class="page-heading">
      {back !== undefined && <p>{back}</p>}
      <h1>{heading}</h1>
      {lead !== undefined && <p class="lead">{lead}</p>}
      {children}
    </div>
  );
}
