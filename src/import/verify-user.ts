import type { AdoptedUser } from "../accounts/admin/adopt-user.ts";
import {
  findStoredAccount,
  findStoredToken,
  hasEndedAdoptedToken,
  type StoredAccount,
} from "../accounts/store/stored-account.ts";
import { isBcryptHash } from "../crypto/bcrypt.ts";
import { partNames } from "./source-values.ts";
import type { ImportedRow } from "./store/imported-rows.ts";
import { type StoredImport, Verdict } from "./stored-import.ts";

/** Compares an imported account with the source's user. What only this server can have changed is no failure. */
export async function verifyUser(
  here: StoredImport,
  user: AdoptedUser,
  imported: ImportedRow,
  now: number,
): Promise<Verdict> {
  const verdict = new Verdict();
  for (const part of imported.missingParts) verdict.fail(`It was imported without ${partNames[part]}.`);
  const isMissing = (part: "password" | "factor" | "api_token") => imported.missingParts.includes(part);
  const account = await findStoredAccount(here.read, here, imported.id);
  if (account === "missing") return verdict.fail("Its account is not here any more: it was deleted, or is lost.");
  if (account === "forged") {
    return verdict.fail("Its account was changed in the database of this server, so nobody can sign in to it.");
  }
  if (account.email !== user.email) verdict.change("Its email address differs from the source's.");
  if (account.isDisabled) verdict.change("Its account is disabled here.");
  if (account.admin !== user.admin) {
    verdict.change(`It is ${account.admin ? "an" : "no"} administrator here, unlike at the source.`);
  }
  comparePassword(verdict, account, isMissing("password") || isMissing("factor") ? "" : user.passwordHash);
  compareFactor(verdict, account, isMissing("factor") ? null : user.totp);
  if (user.apiToken !== null && !isMissing("api_token")) {
    await compareToken(verdict, here, { token: user.apiToken, imported, now });
  }
  return verdict;
}

/** @param there "": none, or none that was imported. */
function comparePassword(verdict: Verdict, account: StoredAccount, there: string): void {
  if (account.hasPassword && account.passwordHash === "") verdict.fail("Its password does not open here.");
  else if (there !== "" && !account.hasPassword) verdict.change("It has no password here.");
  // The first sign-in and each change of the password here replace bcrypt.
  else if (there !== "" && isBcryptHash(account.passwordHash) && account.passwordHash !== there) {
    verdict.fail("Its password at the source is not the one that was imported.");
  }
}

function compareFactor(
  verdict: Verdict,
  { secondFactors, factorRows, totpSecret }: StoredAccount,
  there: AdoptedUser["totp"],
): void {
  if (totpSecret === undefined) verdict.fail("Its authenticator app does not open here.");
  else if (factorRows < secondFactors) verdict.fail("One of its second steps is lost here.");
  else if (there !== null && secondFactors === 0) verdict.change("It has no two-step sign-in here.");
  else if (there !== null && totpSecret?.equals(there.secret) !== true) {
    verdict.change("Its authenticator app differs from the source's.");
  }
}

async function compareToken(
  verdict: Verdict,
  { read, access }: StoredImport,
  { token, imported, now }: { readonly token: string; readonly imported: ImportedRow; readonly now: number },
): Promise<void> {
  const { id: userId } = imported;
  const found = await findStoredToken(read, access, token);
  if (found === "missing") {
    // An ended token stays, but a replacement of the access secret leaves no digest to find it by.
    if (await hasEndedAdoptedToken(read, userId)) {
      verdict.change("Its API token was ended here by `sealpush keys replace-access`, as all tokens were.");
    } else verdict.fail("Its API token is not here.");
  } else if (found === "forged") verdict.fail("Its API token was changed in the database of this server.");
  else if (found === "revoked") verdict.change("Its API token was revoked here.");
  else if (found.userId !== userId) verdict.fail("Its API token belongs to another account here.");
  else if (found.expiresAt !== null && found.expiresAt <= now) verdict.change("Its API token has expired here.");
}
