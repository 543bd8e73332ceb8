import type { Keyring } from "../crypto/keyring.ts";
import type { SealedColumn } from "../db/sealed-column.ts";
import { isNoticeName, type Letter, type LetterContent } from "./letter.ts";

const letterContext = (id: number) => `outbox:${id}:letter`;

/** For the rotation of keys. */
export const sealedLetters: SealedColumn = {
  table: "outbox",
  idColumn: "id",
  sealedColumn: "letter_sealed",
  contextOf: (id) => letterContext(Number(id)),
};

export function sealLetter(keyring: Keyring, id: number, letter: Letter): Buffer {
  return keyring.seal(letterContext(id), Buffer.from(JSON.stringify(letter), "utf8"));
}

/** undefined: its key is not among the given ones any more, or it holds what this version does not know. */
export function openLetter(keyring: Keyring, id: number, sealed: Uint8Array): Letter | undefined {
  const plain = keyring.open(letterContext(id), sealed);
  return plain === undefined ? undefined : letterOf(JSON.parse(plain.toString("utf8")));
}

function letterOf(value: unknown): Letter | undefined {
  if (!isObject(value) || typeof value.to !== "string" || !isObject(value.content)) return undefined;
  const content = contentOf(value.content);
  const language = typeof value.language === "string" ? value.language : null;
  return content === undefined ? undefined : { to: value.to, language, content };
}

function contentOf(value: Readonly<Record<string, unknown>>): LetterContent | undefined {
  switch (value.kind) {
    case "confirm_account":
    case "confirm_new_email":
    case "reset_password":
      return typeof value.token === "string" ? { kind: value.kind, token: value.token } : undefined;
    case "already_registered":
    case "test":
      return { kind: value.kind };
    case "notice": {
      const { notice, subject, at, address, userAgent } = value;
      if (!isNoticeName(notice) || typeof at !== "number") return undefined;
      if (typeof subject !== "string" || typeof address !== "string" || typeof userAgent !== "string") return undefined;
      return { kind: "notice", notice, subject, at, address, userAgent };
    }
    default:
      return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
