import type { RelatedCounts } from "@sealpush/import-password-pusher";

/** What the server needs at run time of the contract with a package that reads another installation. */

export const noRelated: RelatedCounts = { auditEntries: 0, notifications: 0, files: 0 };

/** The operator gave an argument that cannot be used: an address, a key or a folder. The message is one sentence without any secret. */
export class SourceArgumentError extends Error {
  override readonly name = "SourceArgumentError";
  readonly code = "SOURCE_ARGUMENT_ERROR";
}

/** A file is missing, damaged, or out of reach. The message names no path. */
export class SourceFileError extends Error {
  override readonly name = "SourceFileError";
  readonly code = "SOURCE_FILE_ERROR";
}

/** The package has classes of its own with these codes. */
export const isSourceArgumentError = (error: unknown): error is Error => hasCode(error, "SOURCE_ARGUMENT_ERROR");
export const isSourceFileError = (error: unknown): error is Error => hasCode(error, "SOURCE_FILE_ERROR");

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
