import { invalidFields } from "../base/errors.ts";
import type { InTransaction } from "../database/database.ts";
import { readTrail, readWholeTrail } from "./audit/read-trail.ts";
import { type ClaimRequest, claimView } from "./claim/claim-view.ts";
import { openTicket } from "./claim/tickets.ts";
import { assertMayCreate, createPush } from "./create/create.ts";
import { PendingUpload } from "./create/upload.ts";
import type { PushDeps } from "./deps.ts";
import { editPush, findEditable } from "./edit/edit.ts";
import { expirePush } from "./edit/end-push.ts";
import { removeOwner } from "./maintenance/sweep.ts";
import { deliverLink } from "./notifications/link-deliveries.ts";
import type {
  Actor,
  AdminEndOutcome,
  AuditEntry,
  ClaimOutcome,
  CreatePush,
  Download,
  EditablePush,
  EditOutcome,
  EditPush,
  KindName,
  LinkDeliveryRequest,
  Push,
  PushTotals,
  TrailPage,
  Upload,
  WholeTrail,
} from "./push.ts";
import { createAdminList, endAsAdministrator } from "./read/admin-list.ts";
import { createExport } from "./read/export-owned.ts";
import { auditPush, findPush, listPushes } from "./read/find-push.ts";
import { createSearch, searchLimits } from "./read/search.ts";

export { auditKindNames } from "./audit/audit-trail.ts";
export { pushLimits } from "./create/limits.ts";
export { asksForLinkDelivery } from "./notifications/email-rules.ts";
export type * from "./push.ts";

export type Pushes = ReturnType<typeof createPushes>;

/** All operations on pushes for other parts of the server. Pages count from 1 and have 50 rows. */
export function createPushes(deps: PushDeps) {
  return {
    /**
     * @returns the push. For an anonymous push its `urlToken` is the only copy.
     * @throws AppError invalid_fields, not_authenticated, unavailable (disk, quota).
     */
    create: (request: CreatePush, actor: Actor): Promise<Push> => createPush(deps, request, actor),

    /**
     * Call it before reading anything of a request: an anonymous caller then gets not_authenticated, not details about the files.
     * @throws AppError not_authenticated when the actor may not create pushes, or not with files.
     */
    assertMayCreate: (withFiles: boolean, actor: Actor): void => assertMayCreate(deps, withFiles, actor),

    /** @throws AppError not_authenticated, invalid_fields on `kind` (file pushes disabled), unavailable. */
    async beginUpload(actor: Actor): Promise<Upload> {
      assertMayCreate(deps, true, actor);
      if (!deps.config.kinds.file.enabled) {
        throw invalidFields({ kind: ["file pushes are switched off on this server."] });
      }
      return new PendingUpload(deps, actor);
    },

    /** Counts no view and opens no secret. The owner also gets name and note. */
    find: (urlToken: string, actor: Actor): Promise<Push | undefined> => findPush(deps, urlToken, actor),

    /** The only way to retrieve a secret. */
    claimView: (urlToken: string, request: ClaimRequest, actor: Actor): Promise<ClaimOutcome> =>
      claimView(deps, urlToken, request, actor),

    /** The values of the owner's edit form. Undefined: the push is unknown, has ended, or belongs to another user. */
    findEditable: (urlToken: string, actor: Actor): Promise<EditablePush | undefined> =>
      findEditable(deps, urlToken, actor),

    /**
     * Changes a live push that belongs to the actor. On a push with a passphrase, an edit that keeps part of its content needs
     * the current passphrase: a new payload under the same passphrase, a kept file beside an added or removed one, or the same
     * payload under another passphrase. Without it, the payload, all files and the passphrase can be replaced together; the
     * text of a file push is then removed unless a new one is given.
     * @throws AppError invalid_fields, too_large (files), unavailable.
     */
    edit: (urlToken: string, request: EditPush, actor: Actor): Promise<EditOutcome> =>
      editPush(deps, urlToken, request, actor),

    /**
     * Mails the link of a live push that belongs to the actor to up to five addresses over its lifetime. The audit trail
     * shows the recipients and the outcome.
     * @throws AppError not_found (unknown, or this server does not send links by email), not_authenticated, forbidden, invalid_fields,
     * too_many_requests (5 a minute), unavailable.
     */
    deliverLink: (urlToken: string, request: LinkDeliveryRequest, actor: Actor): Promise<void> =>
      deliverLink(deps, urlToken, request, actor),

    /**
     * Ends a push for good. A push that has already ended is returned unchanged.
     * @throws AppError not_found; not_authenticated or forbidden when it is neither the actor's nor deletable by viewers.
     */
    expire: (urlToken: string, actor: Actor): Promise<Push> => expirePush(deps, urlToken, actor),

    /** Newest first, split by the state at this moment. */
    list: (ownerId: number, state: "active" | "expired", page: number): Promise<readonly Push[]> =>
      listPushes(deps, ownerId, state, page),

    /** For the owner's dashboard. A search decrypts a bounded number of names and notes. @throws AppError too_many_requests. */
    search: createSearch(deps, searchLimits),

    /** For the owner's audit page. Undefined: the push is unknown, or belongs to another user. */
    trail: (urlToken: string, actor: Actor, page: number): Promise<TrailPage | undefined> =>
      readTrail(deps, urlToken, actor, page),

    /** Undefined: the push is unknown, or belongs to another user. */
    wholeTrail: (urlToken: string, actor: Actor): Promise<WholeTrail | undefined> =>
      readWholeTrail(deps, urlToken, actor),

    /** For an account's data export, newest first. @throws (at the first step) AppError too_many_requests: one at a time. */
    exportOwned: createExport(deps),

    /**
     * For a deleted account: its pushes end at once, and only their tombstones remain. The sweeper finishes the work after
     * a crash.
     */
    removeOwner: (ownerId: number): Promise<void> => removeOwner(deps, ownerId),

    /** The only view of pushes that administrators have. Nothing is decrypted. */
    adminList: createAdminList(deps),
    totals: (): Promise<PushTotals> => deps.store.adminLists.totals(),

    /**
     * Ends a push for good as an administrator, which the audit trail of an owned push records.
     * @param together writes in the same transaction.
     */
    endAsAdministrator: (pushId: number, actor: Actor, together: InTransaction): Promise<AdminEndOutcome> =>
      endAsAdministrator(deps, pushId, actor, together),

    /** Newest first. @throws AppError not_authenticated, forbidden, not_found. */
    audit: (urlToken: string, actor: Actor, page: number): Promise<readonly AuditEntry[]> =>
      auditPush(deps, urlToken, actor, page),

    /**
     * Undefined: the ticket is forged or expired, or the push was deleted. Audits the download, unless `start` > 0 and the
     * same address has begun one with this push's tickets. "metadata": no byte is needed, so nothing is audited.
     */
    openTicket: (ticket: string, actor: Actor, start: number | "metadata"): Promise<Download | undefined> =>
      openTicket(deps, ticket, actor, start),
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
    async create(request, actor) {
      const push = await pushes.create(request, actor);
      watch.created(push.kind);
      return push;
    },
    async claimView(urlToken, request, actor) {
      const claim = await pushes.claimView(urlToken, request, actor);
      watch.claimed(claim.outcome);
      return claim;
    },
  };
}
