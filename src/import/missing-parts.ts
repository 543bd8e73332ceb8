import type { MissingPart, PushPart, UserPart } from "./source.ts";

export type Part = UserPart | PushPart;

/** In the order in which a later run adds them. */
const userPartNames: Readonly<Record<UserPart, string>> = {
  factor: "its second factor and its password",
  password: "its password",
  backup_codes: "its backup codes",
  api_token: "its API token",
  created_at: "its time of creation",
};

export const partNames: Readonly<Record<Part, string>> = {
  ...userPartNames,
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

export function userPartsOf(parts: readonly Part[]): readonly UserPart[] {
  return (Object.keys(userPartNames) as UserPart[]).filter((part) => parts.includes(part));
}

/** Parts that are still missing because the row cannot be read in this run. */
export function missingInUnreadableRow(parts: readonly Part[], reason: string): readonly MissingPart[] {
  return parts.map((part) => ({
    part,
    reason: `It was imported without ${partNames[part]}, and its row cannot be read now. ${reason}`,
  }));
}

/** Parts that are still missing, each with the reason that the source gives, if it gives one. */
export function missingWithReasons<Which extends Part>(
  reasons: readonly MissingPart<Which>[],
  parts: readonly Part[],
): readonly MissingPart[] {
  const withoutReason = parts.filter((part) => !reasons.some((missing) => missing.part === part));
  return [
    ...reasons.filter(({ part }) => parts.some((missing) => missing === part)),
    ...withoutReason.map((part) => ({
      part,
      reason: `It was imported without ${partNames[part]}, which cannot be added now.`,
    })),
  ];
}
