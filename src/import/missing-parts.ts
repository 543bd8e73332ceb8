import type { MissingPart, PushPart, UserPart } from "@sealpush/import-password-pusher";

export type Part = UserPart | PushPart;

export const partNames: Readonly<Record<Part, string>> = {
  factor: "its second factor and its password",
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
  return written === "" ? [] : written.split(" ").map(partNamed);
}

function partNamed(name: string): Part {
  if (!isPart(name)) throw new Error("The record of an imported row names an unknown part.");
  return name;
}

function isPart(name: string): name is Part {
  return Object.hasOwn(partNames, name);
}

/** What to report about the parts of a row of an earlier run that cannot be read now. */
export function missingOfImported(before: readonly Part[], missing: readonly MissingPart[]): readonly MissingPart[] {
  return missing.map(({ part, reason, ...rest }) => ({
    ...rest,
    part,
    reason: before.includes(part)
      ? reason
      : `It stays as it was imported, because ${partNames[part]} cannot be read now, so changes of that are not known. ${reason}`,
  }));
}

/** What to report about a row of an earlier run that cannot be read now. */
export function unreadableNow({ reason }: { readonly reason: string }): string {
  return `It stays as it was imported, because its row cannot be read now. ${reason}`;
}
