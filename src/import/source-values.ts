import type { RelatedCounts } from "@sealpush/import-password-pusher";

/** What the server needs at run time of the contract with a package that reads another installation. */

export const noRelated: RelatedCounts = { auditEntries: 0, notifications: 0, files: 0 };

/** A file is missing, damaged, or out of reach. The message names no path. */
export class SourceFileError extends Error {
  override readonly name = "SourceFileError";
  readonly code = "SOURCE_FILE_ERROR";
}

/** The package has a class of its own with this code. */
export function isSourceFileError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "SOURCE_FILE_ERROR";
}
