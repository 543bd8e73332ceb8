import type { ComponentChildren } from "preact";

export interface FactProps {
  readonly label: string;
  /** The value is written from left to right in every language, such as an IP address. */
  readonly ltr?: boolean;
  readonly children: ComponentChildren;
}

/** One pair of a description list. */
export function Fact({ label, ltr = false, children }: FactProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd dir={ltr ? "ltr" : undefined}>{children}</dd>
    </div>
  );
}
