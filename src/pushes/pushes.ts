import { invalidFields } from "../base/errors.ts";
import type { InTransaction } from "../database/database.ts";
import { readTrail, readWholeTrail } from "./audit/read-trail.ts";
import { claimView } from "./claim/claim-view.ts";
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
  AdminListFilter,
  AdminListPage,
  AuditEntry,
  ClaimOutcome,
  CreatePush,
  Download,
  EditablePush,
  EditOutcome,
  EditPush,
  ExportedPush,
  FoundPushes,
  KindName,
  LinkDeliveryRequest,
  Push,
  PushSearch,
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

/** The door of the room: everything that can be done with a push. */
export interface Pushes {
  /**
   * @returns the push; `urlToken` in it is the only copy for an anonymous push.
   * @throws AppError invalid_fields, not_authenticated, unavailable (disk, quota).
   */
  create(request: CreatePush, actor: Actor): Promise<Push>;

  /**
   * For before anything of a request is read: a stranger learns that a token is needed, not what is wrong with files.
   * @throws AppError not_authenticated when the actor may not make pushes, or not with files.
   */
  assertMayCreate(withFiles: boolean, actor: Actor): void;

  /** @throws AppError not_authenticated, invalid_fields on `kind` (file pushes disabled), unavailable. */
  beginUpload(actor: Actor): Promise<Upload>;

  /** Counts nothing, opens nothing. `ownLabels`: name and note are opened when the actor owns the push. */
  find(urlToken: string, actor: Actor): Promise<Push | undefined>;

  /**
   * The one way a secret leaves. `counting` "everyone": each retrieval is a counted view (API v2);
   * "strangers": the owner's and an admin's are logged but not counted (pages, v1).
   */
  claimView(
    urlToken: string,
    request: { readonly passphrase?: string; readonly counting: "everyone" | "strangers" },
    actor: Actor,
  ): Promise<ClaimOutcome>;

  /** What the owner's form for editing shows. Undefined: unknown, ended, or not the actor's. */
  findEditable(urlToken: string, actor: Actor): Promise<EditablePush | undefined>;

  /**
   * Changes a living push of the actor's. On a protected push, what keeps any of its content - its passphrase with a new
   * payload, a file beside an added or a removed one, a payload under another passphrase - needs the current passphrase.
   * Without it, payload (of a file push: its text goes), all files and the passphrase can be replaced together.
   * @throws AppError invalid_fields, too_large (files), unavailable.
   */
  edit(urlToken: string, request: EditPush, actor: Actor): Promise<EditOutcome>;

  /**
   * Mails the link of a living push of the actor's to up to five addresses, counted over all times. The audit trail tells
   * to whom and what became of it.
   * @throws AppError not_found (unknown, or no links are mailed here), not_authenticated, forbidden, invalid_fields,
   * too_many_requests (5 a minute), unavailable.
   */
  deliverLink(urlToken: string, request: LinkDeliveryRequest, actor: Actor): Promise<void>;

  /**
   * Ends a push for good. One that has ended already is returned as it is.
   * @throws AppError not_found; not_authenticated or forbidden when it is neither the actor's nor deletable by viewers.
   */
  expire(urlToken: string, actor: Actor): Promise<Push>;

  /** Newest first, 50 a page, split by the state that holds now. `page` from 1. */
  list(ownerId: number, state: "active" | "expired", page: number): Promise<readonly Push[]>;

  /** For the owner's own page. A search opens names and notes, within bounds. @throws AppError too_many_requests. */
  search(ownerId: number, search: PushSearch): Promise<FoundPushes>;

  /** For the owner's own page; undefined: unknown, or not the actor's. `page` from 1. */
  trail(urlToken: string, actor: Actor, page: number): Promise<TrailPage | undefined>;

  /** undefined: unknown, or not the actor's. */
  wholeTrail(urlToken: string, actor: Actor): Promise<WholeTrail | undefined>;

  /** For the owner's own copy, newest first. @throws (at the first step) AppError too_many_requests: one at a time. */
  exportOwned(ownerId: number): AsyncIterable<ExportedPush>;

  /**
   * For an account that is gone: its pushes end at once, and nothing of theirs stays but tombstones. The sweeper
   * finishes what a crash left.
   */
  removeOwner(ownerId: number): Promise<void>;

  /** For administrators, who see no more of a push than this. 50 a page; nothing is opened. */
  adminList(adminList: AdminListFilter): Promise<AdminListPage>;
  totals(): Promise<PushTotals>;
  /**
   * Ends a push for good, as an administrator. The trail of an owned one says so. @param together written with the end.
   */
  endAsAdministrator(pushId: number, actor: Actor, together: InTransaction): Promise<AdminEndOutcome>;

  /** Newest first, 50 a page. @throws AppError not_authenticated, forbidden, not_found. */
  audit(urlToken: string, actor: Actor, page: number): Promise<readonly AuditEntry[]>;

  /**
   * undefined: forged, run out, or the push was deleted. Audits the download, unless `start` > 0 and the same address
   * has begun one with this push's tickets. "look": nothing will be read, so nothing is audited.
   */
  openTicket(ticket: string, actor: Actor, start: number | "look"): Promise<Download | undefined>;
}

export function createPushes(deps: PushDeps): Pushes {
  return {
    create: (request, actor) => createPush(deps, request, actor),
    assertMayCreate: (withFiles, actor) => assertMayCreate(deps, withFiles, actor),
    async beginUpload(actor) {
      assertMayCreate(deps, true, actor);
      if (!deps.config.kinds.file.enabled) {
        throw invalidFields({ kind: ["file pushes are switched off on this server."] });
      }
      return new PendingUpload(deps, actor);
    },
    find: (urlToken, actor) => findPush(deps, urlToken, actor),
    claimView: (urlToken, request, actor) => claimView(deps, urlToken, request, actor),
    findEditable: (urlToken, actor) => findEditable(deps, urlToken, actor),
    edit: (urlToken, request, actor) => editPush(deps, urlToken, request, actor),
    deliverLink: (urlToken, request, actor) => deliverLink(deps, urlToken, request, actor),
    expire: (urlToken, actor) => expirePush(deps, urlToken, actor),
    search: createSearch(deps, searchLimits),
    trail: (urlToken, actor, page) => readTrail(deps, urlToken, actor, page),
    wholeTrail: (urlToken, actor) => readWholeTrail(deps, urlToken, actor),
    exportOwned: createExport(deps),
    removeOwner: (ownerId) => removeOwner(deps, ownerId),
    list: (ownerId, state, page) => listPushes(deps, ownerId, state, page),
    adminList: createAdminList(deps),
    totals: () => deps.store.adminLists.totals(),
    endAsAdministrator: (pushId, actor, together) => endAsAdministrator(deps, pushId, actor, together),
    audit: (urlToken, actor, page) => auditPush(deps, urlToken, actor, page),
    openTicket: (ticket, actor, start) => openTicket(deps, ticket, actor, start),
  };
}

/** Told what came of the two things that the domain is for; never of which push, nor of whom. */
export interface PushWatch {
  claimed(outcome: ClaimOutcome["outcome"]): void;
  created(kind: KindName): void;
}

/** The same door, with somebody who counts at it. */
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
