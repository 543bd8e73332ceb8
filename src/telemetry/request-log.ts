import { type Clock, secondMs } from "../base/clock.ts";
import type { AnsweredRequest } from "./answered-request.ts";
import type { DestinationStream } from "./logger.ts";

/** A write of at most so much to a pipe is whole (POSIX, PIPE_BUF): lines of several processes never mix. */
const batchBytesMax = 4_096;
/** Each write wakes whoever reads the log: under load, that costs more than the lines. */
const batchMsMax = 50;
const tooManyRequests = 429;

export interface RequestLog {
  write(request: AnsweredRequest, traceId: string | undefined): void;
  /** Writes what waits. */
  flush(): void;
}

export interface RequestLogOptions {
  /** The client's address stands in each line. */
  readonly addresses: boolean;
  /** Of this process, if it is one of several: as in the logger's lines. */
  readonly worker: number | undefined;
}

/**
 * One line for each answered request, in the same form as the logger's. The logger's way, a serialised object and a write
 * for each, costs several times as much: here a line is joined from parts of a known shape, and lines that come within
 * 50 ms share a write. What a client is refused for its haste is one line a second for all, so that a flood
 * does not become one of the log; `suppressed` counts the others.
 */
export function createRequestLog(deps: {
  readonly options: RequestLogOptions;
  readonly clock: Clock;
  readonly destination: DestinationStream;
}): RequestLog {
  const { options, clock, destination } = deps;
  const timeOf = createTimeText();
  const worker = options.worker === undefined ? "" : `"worker":${options.worker},`;
  let batch = "";
  let timer: NodeJS.Timeout | undefined;
  let refusedSaidAt = Number.NEGATIVE_INFINITY;
  let refusedUnsaid = 0;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (batch === "") return;
    const lines = batch;
    batch = "";
    destination.write(lines);
  };

  const put = (line: string) => {
    if (batch.length + line.length > batchBytesMax) flush();
    batch += line;
    timer ??= setTimeout(flush, batchMsMax);
  };

  return {
    write(request, traceId) {
      const now = clock.now();
      let more = traceId === undefined ? "" : `,"traceId":"${traceId}"`;
      if (options.addresses) more += `,"address":"${request.address}"`;
      if (request.status === tooManyRequests) {
        if (Math.abs(now - refusedSaidAt) < secondMs) {
          refusedUnsaid += 1;
          return;
        }
        more += `,"suppressed":${refusedUnsaid}`;
        refusedSaidAt = now;
        refusedUnsaid = 0;
      }
      put(lineOf(request, `"time":"${timeOf(now)}",${worker}`, more));
    },
    flush,
  };
}

/** Every part is ASCII without quotes and backslashes: our own words, numbers, hex digits, an address in its shortest form. */
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

/** ISO 8601 of a time in ms, worked out once for each ms. */
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
