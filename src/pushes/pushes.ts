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

/** Everything that other parts of the server can do with pushes. Pages count from 1 and have 50 rows. */
export function createPushes(deps: PushDeps) {
  return {
    /**
     * @returns the push; of an anonymous push, `urlToken` in it is the only copy.
     * @throws AppError invalid_fields, not_authenticated, unavailable (disk, quota).
     */
    create: (request: CreatePush, actor: Actor): Promise<Push> => createPush(deps, request, actor),

    /**
     * To be called before anything of a request is read: a stranger learns that a token is needed, not what is wrong with
     * the files. @throws AppError not_authenticated when the actor may not create pushes, or not with files.
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

    /** Counts nothing and opens no secret. The owner gets name and note as well. */
    find: (urlToken: string, actor: Actor): Promise<Push | undefined> => findPush(deps, urlToken, actor),

    /** The only way to retrieve a secret. */
    claimView: (urlToken: string, request: ClaimRequest, actor: Actor): Promise<ClaimOutcome> =>
      claimView(deps, urlToken, request, actor),

    /** The values of the owner's edit form. Undefined: unknown, ended, or not the actor's. */
    findEditable: (urlToken: string, actor: Actor): Promise<EditablePush | undefined> =>
      findEditable(deps, urlToken, actor),

    /**
     * Changes a live push of the actor's. On a push with a passphrase, an edit that keeps any of its content (the passphrase
     * with a new payload, a file beside an added or a removed one, a payload under another passphrase) needs the current
     * passphrase. Without it, payload (the text of a file push is removed), all files and the passphrase can be replaced
     * together.
     * @throws AppError invalid_fields, too_large (files), unavailable.
     */
    edit: (urlToken: string, request: EditPush, actor: Actor): Promise<EditOutcome> =>
      editPush(deps, urlToken, request, actor),

    /**
     * Mails the link of a live push of the actor's to up to five addresses, counted over its whole life. The audit trail
     * shows the recipients and the outcome.
     * @throws AppError not_found (unknown, or this server mails no links), not_authenticated, forbidden, invalid_fields,
     * too_many_requests (5 a minute), unavailable.
     */
    deliverLink: (urlToken: string, request: LinkDeliveryRequest, actor: Actor): Promise<void> =>
      deliverLink(deps, urlToken, request, actor),

    /**
     * Ends a push for good. A push that has ended already is returned as it is.
     * @throws AppError not_found; not_authenticated or forbidden when it is neither the actor's nor deletable by viewers.
     */
    expire: (urlToken: string, actor: Actor): Promise<Push> => expirePush(deps, urlToken, actor),

    /** Newest first, split by the state at this moment. */
    list: (ownerId: number, state: "active" | "expired", page: number): Promise<readonly Push[]> =>
      listPushes(deps, ownerId, state, page),

    /** For the owner's dashboard. A search decrypts names and notes, within bounds. @throws AppError too_many_requests. */
    search: createSearch(deps, searchLimits),

    /** For the owner's audit page; undefined: unknown, or not the actor's. */
    trail: (urlToken: string, actor: Actor, page: number): Promise<TrailPage | undefined> =>
      readTrail(deps, urlToken, actor, page),

    /** undefined: unknown, or not the actor's. */
    wholeTrail: (urlToken: string, actor: Actor): Promise<WholeTrail | undefined> =>
      readWholeTrail(deps, urlToken, actor),

    /** For the export of an account, newest first. @throws (at the first step) AppError too_many_requests: one at a time. */
    exportOwned: createExport(deps),

    /**
     * For a deleted account: its pushes end at once, and only tombstones of them remain. The sweeper finishes what a crash
     * leaves undone.
     */
    removeOwner: (ownerId: number): Promise<void> => removeOwner(deps, ownerId),

    /** For administrators, who see no more of a push than this. Nothing is decrypted. */
    adminList: createAdminList(deps),
    totals: (): Promise<PushTotals> => deps.store.adminLists.totals(),

    /** Ends a push for good as an administrator; an owned push's audit trail says so. @param together is written with the end. */
    endAsAdministrator: (pushId: number, actor: Actor, together: InTransaction): Promise<AdminEndOutcome> =>
      endAsAdministrator(deps, pushId, actor, together),

    /** Newest first. @throws AppError not_authenticated, forbidden, not_found. */
    audit: (urlToken: string, actor: Actor, page: number): Promise<readonly AuditEntry[]> =>
      auditPush(deps, urlToken, actor, page),

    /**
     * undefined: the ticket is forged or expired, or the push was deleted. Audits the download, unless `start` > 0 and the
     * same address has begun one with this push's tickets. "look": nothing will be read, so nothing is audited.
     */
    openTicket: (ticket: string, actor: Actor, start: number | "look"): Promise<Download | undefined> =>
      openTicket(deps, ticket, actor, start),
  };
}

/** Counts claims and creations, without the push or the person. */
export interface PushWatch {
  claimed(outcome: ClaimOutcome["outcome"]): void;
  created(kind: KindName): void;
}

/** The same operations, with claims and creations reported to `watch`. */
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
