import { makePassphraseSalt, spellingsOf } from "../crypto/passphrase.ts";
import type { RotatedColumn } from "../crypto/sealed-column.ts";
import type { PushDeps } from "./deps.ts";
import { firstGeneration, sealLabel } from "./seals.ts";
import { type PushRow, pushes } from "./store/tables.ts";

/** @param passphrase "": none. @param client its name in the Argon2 queue. */
export async function hashPassphrase(
  { random, argon2 }: Pick<PushDeps, "random" | "argon2">,
  passphrase: string,
  isOwned: boolean,
  client: string,
) {
  if (passphrase === "") return { passphraseSalt: null, passphraseHash: undefined };
  const passphraseSalt = makePassphraseSalt(random, isOwned);
  const [composed] = spellingsOf(passphrase);
  return { passphraseSalt, passphraseHash: await argon2.deriveKey(composed, passphraseSalt, client) };
}

/** The columns of a new push that authenticate its link and its owner, and what is sealed for the owner alone. */
export function sealedColumns(
  { keyring, urlTokens, ownerCheckOf }: PushDeps["vault"],
  { id, ownerId }: Pick<PushRow, "id" | "ownerId">,
  { urlToken, name, note }: { readonly urlToken: string; readonly name: string; readonly note: string },
) {
  const linkCheck = urlTokens.checkOf(urlToken);
  // The labels of an anonymous push could never be read, so they are not stored.
  const label = (column: RotatedColumn, text: string) =>
    ownerId === null ? null : sealLabel(keyring, column, { id, ownerId }, text);
  return {
    sealGeneration: firstGeneration,
    linkCheck,
    ownerCheck: ownerId === null ? null : ownerCheckOf({ id, ownerId, linkCheck }),
    nameSealed: label(pushes.seals.name, name),
    noteSealed: label(pushes.seals.note, note),
  };
}
