import type { ComponentChildren } from "preact";

export interface FactProps {
  readonly label: string;
  readonly value: ComponentChildren;
  /** The value is written from left to right in every language, such as an IP address. */
  readonly ltr?: boolean;
}

/** One pair of a description list. */
export function Fact({ label, value, ltr = false }: FactProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd dir={ltr ? "ltr" : undefined}>{value}</dd>
    </div>
  );
}
