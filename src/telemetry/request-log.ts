import { type Clock, secondMs } from "../base/clock.ts";
import type { AnsweredRequest } from "./answered-request.ts";
import type { DestinationStream } from "./logger.ts";

/**
 * Each write wakes the reader of the log: under load, that costs more than the lines. Writes of up to 4 KiB to a pipe are atomic (POSIX,
 * PIPE_BUF): lines of several processes never mix.
 */
const batchBytesMax = { oneProcess: 32 * 1024, manyProcesses: 4 * 1024 };
const batchMsMax = 50;
const tooManyRequests = 429;

export interface RequestLogOptions {
  /** Whether each line contains the client's address. */
  readonly addresses: boolean;
}

/**
 * Logs one line per answered request, in the format of the logger. The logger, which serialises an object and writes each
 * line, costs several times as much: here a line is joined from parts of known form, and lines within 50 ms share a write.
 * Answers with 429 are limited to one line per second, so that a flood of requests does not flood the log; `suppressedCount`
 * counts the others.
 */
export function createRequestLog(deps: {
  readonly options: RequestLogOptions;
  /** Other processes may write to the same pipe. */
  readonly manyProcesses: boolean;
  readonly clock: Clock;
  readonly destination: DestinationStream;
}) {
  const { options, clock, destination } = deps;
  const bytesMax = batchBytesMax[deps.manyProcesses ? "manyProcesses" : "oneProcess"];
  const timeOf = createTimeText();
  let batch = "";
  let timer: NodeJS.Timeout | undefined;
  let throttledLoggedAt = Number.NEGATIVE_INFINITY;
  let throttledSuppressedCount = 0;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (batch === "") return;
    const lines = batch;
    batch = "";
    destination.write(lines);
  };

  const put = (line: string) => {
    if (batch.length + line.length > bytesMax) flush();
    batch += line;
    timer ??= setTimeout(flush, batchMsMax);
  };

  return {
    write(request: AnsweredRequest, traceId: string | undefined): void {
      const now = clock.now();
      let more = traceId === undefined ? "" : `,"traceId":"${traceId}"`;
      if (options.addresses) more += `,"address":"${request.address}"`;
      if (request.status === tooManyRequests) {
        if (Math.abs(now - throttledLoggedAt) < secondMs) {
          throttledSuppressedCount += 1;
          return;
        }
        more += `,"suppressedCount":${throttledSuppressedCount}`;
        throttledLoggedAt = now;
        throttledSuppressedCount = 0;
      }
      put(lineOf(request, `"time":"${timeOf(now)}",`, more));
    },
    /** Writes what is buffered. */
    flush,
  };
}

/** No part needs escaping: all are fixed words, numbers, hex digits, or an IP address in canonical form. */
function lineOf(
  { requestId, method, route, status, durationMs }: AnsweredRequest,
  start: string,
  more: string,
): string {
  return (
    `{"level":"info",${start}"event":"request","requestId":"${requestId}","method":"${method}",` +
    `"route":"${route}","status":${status},"durationMs":${Math.round(durationMs * 100) / 100}${more}}\n`
  );
}

/** Formats a time in ms as ISO 8601, once per ms. */
function createTimeText(): (ms: number) => string {
  let last = Number.NaN;
  let text = "";
  return (ms) => {
    if (ms !== last) {
      last = ms;
      text = new Date(ms).toISOString();
    }
    return text;
  };
}
