/**
 * The messages between a primary and its workers. After an upgrade on disk, workers can be newer than the primary that
 * starts them: each side ignores messages it does not know.
 */

export type ToWorker =
  | { readonly sealpush: "stop"; readonly signal: string }
  /** Another worker has replaced this one. */
  | { readonly sealpush: "retire" }
  /** Carries a connection. The next one follows the worker's `ack`. */
  | { readonly sealpush: "connection" }
  /** Answers `draining`: every connection that was sent to the worker has arrived. */
  | { readonly sealpush: "all-connections-sent" }
  /** Asks for the worker's own metrics. */
  | { readonly sealpush: "report-metrics"; readonly round: number }
  /** Answers `collect-metrics`: one entry per worker. */
  | { readonly sealpush: "collected-metrics"; readonly round: number; readonly metrics: readonly unknown[] };

export type ToPrimary =
  /** The worker receives messages. */
  | { readonly sealpush: "ready" }
  /** The worker answers requests. */
  | { readonly sealpush: "listening" }
  /** The worker has received a connection. */
  | { readonly sealpush: "ack" }
  /** The worker accepts no more connections. */
  | { readonly sealpush: "draining" }
  /** The log cannot be written. All workers share it, so the primary stops them together. `code`: the system's. */
  | { readonly sealpush: "log-lost"; readonly code: string }
  /** Asks for the metrics of all workers. */
  | { readonly sealpush: "collect-metrics"; readonly round: number }
  /** The worker's own metrics. */
  | { readonly sealpush: "metrics"; readonly round: number; readonly metrics: unknown };

const kindsToWorker: Readonly<Record<ToWorker["sealpush"], true>> = {
  stop: true,
  retire: true,
  connection: true,
  "all-connections-sent": true,
  "report-metrics": true,
  "collected-metrics": true,
};
const kindsToPrimary: Readonly<Record<ToPrimary["sealpush"], true>> = {
  ready: true,
  listening: true,
  ack: true,
  draining: true,
  "log-lost": true,
  "collect-metrics": true,
  metrics: true,
};

/** Only this program is at the other end of the channel: a message of a known kind has that kind's fields. */
export function isToWorker(message: unknown): message is ToWorker {
  return Object.hasOwn(kindsToWorker, kindOf(message));
}

export function isToPrimary(message: unknown): message is ToPrimary {
  return Object.hasOwn(kindsToPrimary, kindOf(message));
}

function kindOf(message: unknown): string {
  return typeof message === "object" && message !== null && "sealpush" in message ? String(message.sealpush) : "";
}
