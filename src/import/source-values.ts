import type { MissingPart, Part, RelatedCounts } from "@sealpush/import-password-pusher";
import { errorCode } from "../base/errors.ts";

/** What the server needs at run time of the contract with a package that reads another installation. */

export const noRelated: RelatedCounts = { auditEntries: 0, notifications: 0, files: 0 };

/** A file is missing, damaged, or out of reach. The message names no path. */
export class SourceFileError extends Error {
  override readonly name = "SourceFileError";
  readonly code = "SOURCE_FILE_ERROR";
}

/** The package has a class of its own with this code. */
export function isSourceFileError(error: unknown): error is Error {
  return errorCode(error) === "SOURCE_FILE_ERROR";
}

export const partNames: Readonly<Record<Part, string>> = {
  factor: "its two-step sign-in and its password",
  password: "its password",
  api_token: "its API token",
  created_at: "its time of creation",
  note: "its note",
  trail: "entries of its audit trail",
  notifications: "link deliveries in its audit trail",
  people: "users named in its audit trail",
  files: "some of its files",
};

/** For the column of the record. */
export function writeParts(parts: readonly Part[]): string {
  return [...new Set(parts)].sort().join(" ");
}

/** @throws Error for a name that this version does not know. */
export function readParts(written: string): readonly Part[] {
  const parts = written === "" ? [] : written.split(" ");
  if (!parts.every(isPart)) throw new Error("The record of an imported row names an unknown part.");
  return parts;
}

function isPart(name: string): name is Part {
  return Object.hasOwn(partNames, name);
}

/** What to report about a row that an earlier run imported in part. */
export function missingBefore({ missingParts }: { readonly missingParts: readonly Part[] }): readonly MissingPart[] {
  return missingParts.map((part) => ({ part, reason: `An earlier run imported it without ${partNames[part]}.` }));
}
