/** A move that cannot be done or did not succeed; the message is one sentence for the operator. */
export class MoveError extends Error {
  override readonly name = "MoveError";
}
