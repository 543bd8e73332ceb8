/**
 * What a primary and its workers say to each other. After an upgrade on the disk, workers are newer than the primary that
 * starts them: what one does not know of the other, it passes over.
 */

/** Where a worker listens. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

export type ToWorker =
  | { readonly sealpush: "stop"; readonly signal: string }
  /** Another worker stands in its place. */
  | { readonly sealpush: "retire" }
  /** Answers `deaf`: every connection that was handed to the worker has arrived. */
  | { readonly sealpush: "handed_over" }
  | { readonly sealpush: "give_part"; readonly round: number }
  | { readonly sealpush: "parts"; readonly round: number; readonly parts: readonly unknown[] };

export type ToPrimary =
  /** It hears what it is told. */
  | { readonly sealpush: "hears" }
  | ({ readonly sealpush: "listens" } & Place)
  /** It has stopped listening. */
  | { readonly sealpush: "deaf" }
  | { readonly sealpush: "gather"; readonly round: number }
  | { readonly sealpush: "part"; readonly round: number; readonly part: unknown };

const kindsToWorker: ReadonlySet<unknown> = new Set<ToWorker["sealpush"]>([
  "stop",
  "retire",
  "handed_over",
  "give_part",
  "parts",
]);
const kindsToPrimary: ReadonlySet<unknown> = new Set<ToPrimary["sealpush"]>([
  "hears",
  "listens",
  "deaf",
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
