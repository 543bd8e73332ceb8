/**
 * What a primary and its workers say to each other. After an upgrade on the disk, workers are newer than the primary that
 * starts them: what one does not know of the other, it passes over.
 */

export type ToWorker =
  | { readonly sealpush: "stop"; readonly signal: string }
  /** Another worker stands in its place. */
  | { readonly sealpush: "retire" }
  /** With a connection. The next one comes when this one is taken. */
  | { readonly sealpush: "connection" }
  /** Answers `leaves`: every connection that was handed to it has arrived. */
  | { readonly sealpush: "handed_over" }
  | { readonly sealpush: "give_part"; readonly round: number }
  | { readonly sealpush: "parts"; readonly round: number; readonly parts: readonly unknown[] };

export type ToPrimary =
  /** It hears what it is told. */
  | { readonly sealpush: "hears" }
  /** It answers requests. */
  | { readonly sealpush: "serves" }
  | { readonly sealpush: "taken" }
  /** It wants no more connections. */
  | { readonly sealpush: "leaves" }
  /** Nobody reads what it says. They all have one log, so the primary ends them together. `code`: the system's. */
  | { readonly sealpush: "log_lost"; readonly code: string }
  | { readonly sealpush: "gather"; readonly round: number }
  | { readonly sealpush: "part"; readonly round: number; readonly part: unknown };

const kindsToWorker: ReadonlySet<unknown> = new Set<ToWorker["sealpush"]>([
  "stop",
  "retire",
  "connection",
  "handed_over",
  "give_part",
  "parts",
]);
const kindsToPrimary: ReadonlySet<unknown> = new Set<ToPrimary["sealpush"]>([
  "hears",
  "serves",
  "taken",
  "leaves",
  "log_lost",
  "gather",
  "part",
]);

/** Only processes of ours hold the other end: a known kind has its fields. */
export function isToWorker(message: unknown): message is ToWorker {
  return kindsToWorker.has(kindOf(message));
}

export function isToPrimary(message: unknown): message is ToPrimary {
  return kindsToPrimary.has(kindOf(message));
}

function kindOf(message: unknown): unknown {
  return typeof message === "object" && message !== null && "sealpush" in message ? message.sealpush : undefined;
}
