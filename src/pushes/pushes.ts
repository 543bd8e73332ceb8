import { trailOperations } from "./audit/read-trail.ts";
import { claimOperations } from "./claim/claim-view.ts";
import { ticketOperations } from "./claim/tickets.ts";
import { createOperations } from "./create/create.ts";
import { resumableUploadOperations } from "./create/resumable-upload.ts";
import type { PushDeps } from "./deps.ts";
import { editOperations } from "./edit/edit.ts";
import { endOperations } from "./edit/end-push.ts";
import { bulkEndingOperations } from "./maintenance/bulk-endings.ts";
import { ownerOperations } from "./maintenance/sweep.ts";
import { linkDeliveryOperations } from "./notifications/link-deliveries.ts";
import type { ClaimOutcome, KindName } from "./push.ts";
import { administratorOperations } from "./read/admin-list.ts";
import { exportOperations } from "./read/export-owned.ts";
import { readOperations } from "./read/find-push.ts";
import { searchLimits, searchOperations } from "./read/search.ts";

export { becomesLink, fieldLimits, fieldTypes } from "@sealpush/age/fields";
export { StoredFileError } from "./claim/stored-files.ts";
export { codePointsUpTo, pushLimits } from "./create/limits.ts";
export { nameUnusableFile } from "./create/received-files.ts";
export { describeBulkEnding, isRestricted, readEndingNetwork } from "./maintenance/bulk-endings.ts";
export { asksForLinkDelivery } from "./notifications/email-rules.ts";
export { asksForPassphrase, isSealedLabel } from "./present-push.ts";
export * from "./presets/preset.ts";
export { type CallerPreset, createPresets, type Presets } from "./presets/presets.ts";
export type * from "./push.ts";
export { type OptionAnsweredTo, type OptionReader, optionRules, optionsAnsweredTo } from "./push-options.ts";
export { shellActor } from "./read/admin-list.ts";
export { everyPush } from "./read/search.ts";
export type { AccountStoredLinkKey, StoredLinkKeys } from "./stored-link-keys.ts";
export { auditKindNames } from "./stored-values.ts";

export type Pushes = ReturnType<typeof createPushes>;

/**
 * All operations on pushes for other parts of the server. Each is documented where it is defined. Pages count from 1 and have
 * 50 rows. They are named here, so that two with one name do not compile.
 */
export function createPushes(deps: PushDeps) {
  const { assertMayCreate, create, beginUpload } = createOperations(deps);
  const { uploadBufferBytes, openUpload, findUpload, receiveUpload, discardUpload } = resumableUploadOperations(deps);
  const { claimView } = claimOperations(deps);
  const { openTicket } = ticketOperations(deps);
  const { find, list, listByIds, audit, findSender } = readOperations(deps);
  const { search } = searchOperations(deps, searchLimits);
  const { lastViews, trail, trailOfOwner, wholeTrail } = trailOperations(deps);
  const { exportOwned } = exportOperations(deps);
  const { findEditable, edit } = editOperations(deps);
  const { expire, endByIds } = endOperations(deps);
  const { deliverLink } = linkDeliveryOperations(deps);
  const {
    findIdByLink,
    adminList,
    adminTrail,
    deletionCounts,
    retryDeletions,
    totals,
    endAsAdministrator,
    removeAsAdministrator,
  } = administratorOperations(deps);
  const { previewBulkEnding, startBulkEnding, latestBulkEndings } = bulkEndingOperations(deps);
  const { countLive, endOwned, removeOwner } = ownerOperations(deps);
  return {
    assertMayCreate,
    create,
    beginUpload,
    uploadBufferBytes,
    openUpload,
    findUpload,
    receiveUpload,
    discardUpload,
    claimView,
    openTicket,
    find,
    list,
    listByIds,
    audit,
    findSender,
    search,
    lastViews,
    trail,
    trailOfOwner,
    wholeTrail,
    exportOwned,
    findEditable,
    edit,
    expire,
    endByIds,
    deliverLink,
    findIdByLink,
    adminList,
    adminTrail,
    deletionCounts,
    retryDeletions,
    totals,
    endAsAdministrator,
    removeAsAdministrator,
    previewBulkEnding,
    startBulkEnding,
    latestBulkEndings,
    countLive,
    endOwned,
    removeOwner,
  };
}

/** Counts claims and creations, without identifying the push or the person. */
export interface PushWatch {
  claimed(outcome: ClaimOutcome["outcome"]): void;
  created(kind: KindName): void;
}

/** Wraps the operations and reports claims and creations to `watch`. */
export function watchPushes(pushes: Pushes, watch: PushWatch): Pushes {
  return {
    ...pushes,
    async create(request, actor, together) {
      const push = await pushes.create(request, actor, together);
      if (!push.repeated) watch.created(push.kind);
      return push;
    },
    async claimView(urlToken, request, actor) {
      const claim = await pushes.claimView(urlToken, request, actor);
      watch.claimed(claim.outcome);
      return claim;
    },
  };
}
