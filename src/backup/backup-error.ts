/** A backup cannot be made, does not hold or cannot be restored; the message is a sentence for the operator. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}
