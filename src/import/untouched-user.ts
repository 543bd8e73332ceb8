import { type AdoptedAccounts, type UserAspect, userAspects } from "../accounts/admin/adopt-user.ts";
import type { ReadConnection } from "../database/database.ts";
import type { Aspect, RowDigests } from "./aspects.ts";
import type { ImportedRows, ImportedUser } from "./store/imported-rows.ts";

export interface UntouchedDeps {
  readonly accounts: Pick<AdoptedAccounts, "isUntouched">;
  readonly rows: ImportedRows;
  readonly digests: RowDigests;
}

/** What an earlier run imported of a user. */
export function adoptedBefore(digests: RowDigests, { aspects }: ImportedUser, changed: readonly Aspect[] = []) {
  return {
    changed: userAspects.filter((aspect) => changed.includes(aspect)),
    wasImported: (aspect: UserAspect) => aspects[aspect] !== undefined,
    isImportedValue: (aspect: UserAspect, value: string) => aspects[aspect] === digests.of(aspect, value),
  };
}

/**
 * Whether nobody has used or changed an imported account here. One that another source's user was merged into is in use, too, and
 * so is one that existed before. @returns undefined: it does not exist.
 */
export async function isUntouched(
  { accounts, rows, digests }: UntouchedDeps,
  imported: ImportedUser,
  connection: ReadConnection,
) {
  if (imported.aspects.email === undefined) return false;
  const untouched = await accounts.isUntouched(imported.id, adoptedBefore(digests, imported), connection);
  return untouched === true ? !(await rows.isOfOtherSource(connection, imported.id)) : untouched;
}
