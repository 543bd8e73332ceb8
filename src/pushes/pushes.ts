import { invalidFields } from "../base/errors.ts";
import { claimView } from "./claim-view.ts";
import { assertMayCreate, createPush } from "./create.ts";
import type { PushDeps } from "./deps.ts";
import { expirePush } from "./expire.ts";
import type { Actor, AuditEntry, ClaimOutcome, CreatePush, Download, Push, Upload } from "./push.ts";
import { auditPush, findPush, listPushes } from "./read.ts";
import { openTicket } from "./tickets.ts";
import { PendingUpload } from "./upload.ts";

export { pushLimits } from "./limits.ts";
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

  /**
   * Ends a push for good. One that has ended already is returned as it is.
   * @throws AppError not_found; not_authenticated or forbidden when it is neither the actor's nor deletable by viewers.
   */
  expire(urlToken: string, actor: Actor): Promise<Push>;

  /** Newest first, 50 a page, split by the state that holds now. `page` from 1. */
  list(ownerId: number, state: "active" | "expired", page: number): Promise<readonly Push[]>;

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
    expire: (urlToken, actor) => expirePush(deps, urlToken, actor),
    list: (ownerId, state, page) => listPushes(deps, ownerId, state, page),
    audit: (urlToken, actor, page) => auditPush(deps, urlToken, actor, page),
    openTicket: (ticket, actor, start) => openTicket(deps, ticket, actor, start),
  };
}
