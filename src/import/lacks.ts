import type { Lack, PushPart, UserPart } from "./source.ts";
export type Part = UserPart | PushPart;

/** As the store holds it. */
export function writeParts(parts: readonly Part[]): string {
  return [...new Set(parts)].sort().join(" ");
}

export function userPartsOf(parts: readonly Part[]): readonly UserPart[] {
  return (Object.keys(userPartNames) as UserPart[]).filter((part) => parts.includes(part));
}

/** @throws Error for a name that this version does not know. */
export function readParts(written: string): readonly Part[] {
  return written === "" ? [] : written.split(" ").map(partNamed);
}

function partNamed(name: string): Part {
  if (!isPart(name)) throw new Error("An imported row lacks a part of an unknown name.");
  return name;
}

function isPart(name: string): name is Part {
  return Object.hasOwn(partNames, name);
}

/** In the order in which they are added later. */
const userPartNames: Readonly<Record<UserPart, string>> = {
  factor: "its second factor and its password",
  password: "its password",
  backup_codes: "its backup codes",
  api_token: "its API token",
  created_at: "when it was made",
};

/** For rows that cannot be read from the source any more. */
export const partNames: Readonly<Record<Part, string>> = {
  ...userPartNames,
  note: "its note",
  trail: "entries of its audit trail",
  notifications: "what mails in its audit trail say",
  people: "who did what in its audit trail",
  files: "files of it",
};

/** Of a row that came in part and cannot be read now. */
export function stillLacking(parts: readonly Part[], reason: string): readonly Lack[] {
  return parts.map((part) => ({
    part,
    reason: `It came without ${partNames[part]}, and cannot be read now. ${reason}`,
  }));
}

/** Why each of these parts is still to come: in the messages of the source, if it has any. */
export function stillToCome<Which extends Part>(
  lacks: readonly Lack<Which>[],
  parts: readonly Part[],
): readonly Lack[] {
  const untold = parts.filter((part) => !lacks.some((lack) => lack.part === part));
  return [
    ...lacks.filter(({ part }) => parts.some((known) => known === part)),
    ...untold.map((part) => ({ part, reason: `It came without ${partNames[part]}, which cannot be added now.` })),
  ];
}
