import { type UserPart, userParts } from "../accounts/admin/adopt-user.ts";

/** What of a push can stay behind although it comes along. */
const pushParts = ["note", "trail", "notifications", "people", "files"] as const;

export type { UserPart } from "../accounts/admin/adopt-user.ts";
export type PushPart = (typeof pushParts)[number];
export type Part = UserPart | PushPart;

/** Why a part stayed behind, in one sentence that holds no secret, token or name. */
export interface Lack<Which extends Part = Part> {
  readonly part: Which;
  readonly reason: string;
}

/** As the store holds it. */
export function writeParts(parts: readonly Part[]): string {
  return [...new Set(parts)].sort().join(" ");
}

export function userPartsOf(parts: readonly Part[]): readonly UserPart[] {
  return userParts.filter((part) => parts.includes(part));
}

/** @throws Error when it names what is none: another version's. */
export function readParts(written: string): readonly Part[] {
  return written === "" ? [] : written.split(" ").map(partNamed);
}

function partNamed(name: string): Part {
  const part = [...userParts, ...pushParts].find((known) => known === name);
  if (part === undefined) throw new Error("An imported row lacks something of a name that is not known.");
  return part;
}

/** For rows whose source cannot be asked any more. */
export const partNames: Readonly<Record<Part, string>> = {
  factor: "its second factor and its password",
  password: "its password",
  backup_codes: "its backup codes",
  api_token: "its API token",
  created_at: "when it was made",
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
