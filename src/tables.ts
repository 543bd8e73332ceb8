import * as accounts from "./accounts/store/tables.ts";
import { themeParts } from "./branding/store/branding.ts";
import type { RotatedColumn, SealedColumn } from "./crypto/sealed-column.ts";
import { jobRuns } from "./database/job-runs.ts";
import * as database from "./database/tables.ts";
import { importedRows } from "./import/store/imported-rows.ts";
import { outbox } from "./mail/store/emails.ts";
import { groupMembers, policies, userGroups } from "./policies/store/tables.ts";
import { presets } from "./pushes/store/presets.ts";
import * as pushes from "./pushes/store/tables.ts";
import { requestAnswers, requests } from "./requests/store/request-store.ts";

/**
 * All tables of the database. Each says for each column how it is protected and why; a column without that does not compile, and a test
 * compares this list with the schema. Several descriptions of one table are several parts of it.
 */
export const allTables = [
  database.meta,
  database.idBlocks,
  database.totals,
  database.locks,
  database.schemaVersion,
  database.processes,
  database.limitWindows,
  database.limitAttempts,
  jobRuns,
  accounts.users,
  accounts.sessions,
  accounts.apiTokens,
  accounts.mailedLinks,
  accounts.deletedUsers,
  accounts.knownClients,
  accounts.totpFactors,
  accounts.backupCodes,
  accounts.passkeys,
  accounts.passkeyChallenges,
  accounts.identities,
  accounts.scimUsers,
  accounts.signOnSteps,
  accounts.providerLogouts,
  accounts.adminEntries,
  pushes.rowSecrets,
  pushes.linkSecrets,
  pushes.linkSecretUsers,
  pushes.pushes,
  pushes.claimedPushes,
  pushes.importedLinks,
  pushes.claimRetries,
  pushes.creationKeys,
  pushes.payloads,
  pushes.files,
  pushes.auditEntries,
  pushes.claimedEntries,
  pushes.viewNotifications,
  pushes.linkDeliveries,
  pushes.linkDeliveryDays,
  pushes.bulkEndings,
  pushes.blobDeletions,
  pushes.downloadTickets,
  pushes.uploads,
  pushes.resumableUploads,
  requests,
  requestAnswers,
  outbox,
  themeParts,
  userGroups,
  groupMembers,
  policies,
  presets,
  importedRows,
] as const;

export const sealedColumns: readonly SealedColumn[] = allTables.flatMap(({ seals }) =>
  Object.values<SealedColumn>(seals),
);

/** All columns that a rotation of master keys reseals. */
export const rotatedColumns: readonly RotatedColumn[] = sealedColumns.filter(isRotated);

function isRotated(column: SealedColumn): column is RotatedColumn {
  return column.seal.under === "master key";
}
