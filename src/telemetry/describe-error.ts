export interface DescribedError {
  readonly name: string;
  readonly code: string | undefined;
  readonly frames: readonly string[];
  readonly cause: DescribedError | undefined;
}

const framesMax = 20;
const causesMax = 3;
const frame = /^\s+at /;

/**
 * The parts of an error that may be logged: its class, its code and its stack frames. Never its message, which may quote
 * the data that caused it (a parser's does), nor any other property.
 */
export function describeError(error: unknown, causesLeft = causesMax): DescribedError {
  if (!(error instanceof Error))
    return { name: `thrown ${typeof error}`, code: undefined, frames: [], cause: undefined };
  return {
    name: error.constructor.name,
    code: "code" in error && typeof error.code === "string" ? error.code.slice(0, 64) : undefined,
    frames: stackFrames(error),
    cause: error.cause === undefined || causesLeft === 0 ? undefined : describeError(error.cause, causesLeft - 1),
  };
}

/** The stack's first lines repeat the message, which may have several lines and may itself look like a frame. */
function stackFrames(error: Error): string[] {
  const stack = error.stack ?? "";
  const start = stack.indexOf(error.message);
  const afterMessage = start === -1 ? stack : stack.slice(start + error.message.length);
  return afterMessage
    .split("\n")
    .filter((line) => frame.test(line))
    .slice(0, framesMax)
    .map((line) => line.trim());
}
