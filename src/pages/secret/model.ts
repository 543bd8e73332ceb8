import { mayBeViewable } from "../../base/viewable-type.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import { zipPath } from "../../http/downloads.ts";
import type { Actor, ClaimOutcome, Push } from "../../pushes/pushes.ts";
import type { PageRequest } from "../request.ts";

/** Only the views of recipients are counted; those of owners and administrators are logged. */
type Viewer = "recipient" | "owner" | "administrator";

/** Why the attempt before this one failed. */
export type StepRefusal =
  | { readonly reason: "wrong" }
  /** The form was sent before: to show the secret again is another view. */
  | { readonly reason: "used" }
  | { readonly reason: "too_many"; readonly retryAfterSeconds: number };

export type StepModel = Awaited<ReturnType<typeof stepModel>>;

/** @param push null: the page must not reveal anything about it yet. @param refusal null: this is the first visit. */
export async function stepModel(
  page: PageRequest,
  push: Push | null,
  refusal: StepRefusal | null,
  asksForStep: boolean,
) {
  const { config, pushes, random } = page.services;
  const viewer: Viewer = push === null ? "recipient" : viewerOf(push, page.actor);
  return {
    /** Path that the form is posted to; the POST claims the view. */
    action: `/p/${page.urlToken ?? ""}${asksForStep ? "/r" : ""}`,
    /** A random text that lets the POST be repeated. Browsers send it again when the opened page is reloaded. */
    idempotencyKey: makeOpaqueToken(random),
    /** For how long the POST can be repeated. */
    retrySeconds: config.claimRetrySeconds,
    passphraseRequired: push?.passphraseRequired ?? true,
    refusal,
    viewsRemaining: push?.viewsRemaining ?? null,
    /** null: the server shows the secret. */
    endToEnd: push?.endToEnd ?? null,
    expiresAt: push?.expiresAt ?? null,
    viewer,
    /** The address of the owner; null: it is not shown. */
    sender: push === null ? null : await pushes.findSender(push),
    /** The audit trail, for owners where it is served; null for everybody else. */
    auditPath:
      push !== null && isOwn(push, page.actor) && !page.context().recipientsOnly ? `/p/${push.urlToken}/audit` : null,
  };
}

export type Revealed = Extract<ClaimOutcome, { outcome: "revealed" }>;
export type SecretModel = ReturnType<typeof secretModel>;

export function secretModel(page: PageRequest, { push, files, sender, earlierViews, ...revealed }: Revealed) {
  const { config } = page.services;
  const viewer = viewerOf(push, page.actor);
  const ended = viewer === "recipient" && push.viewsRemaining === 0;
  const { endToEnd } = push;
  return {
    kind: push.kind,
    /** null: `payload` is the secret itself. */
    endToEnd,
    payload: revealed.payload,
    /** null: the payload is a text. */
    fields: revealed.fields,
    files: files.map(({ filename, contentType, sizeBytes, ticket }) => ({
      filename,
      sizeBytes,
      /** Path of the download, with its ticket. */
      href: `/files/${ticket}`,
      /** Path at which the browser shows it; null: it can only be saved. */
      viewHref: endToEnd === null && mayBeViewable(contentType) ? `/files/${ticket}/view` : null,
    })),
    /** Path of all files as one archive; null where it is of no use. */
    zipHref: (files.length > 1 && endToEnd === null ? zipPath(files.map(({ ticket }) => ticket)) : undefined) ?? null,
    /** How long the download links work. */
    ticketTtlSeconds: config.files.ticketTtlSeconds,
    /** Hidden until the reader shows it. */
    blur: config.kinds[push.kind].blur,
    viewsRemaining: push.viewsRemaining,
    expiresAt: push.expiresAt,
    viewer,
    /** The address of the owner; null: it is not shown. */
    sender,
    /** null: nothing is said about them. */
    earlierViews: viewer === "recipient" ? earlierViews : null,
    /** The page was opened before and is reloaded. */
    repeated: revealed.repeated,
    /** Where deleting is posted to; null where it is not allowed or the push has ended. */
    deletePath: !ended && mayDelete(push, page.actor) ? `/p/${push.urlToken}/expire` : null,
  };
}

/** Its link opens nothing before a click, so that a link preview uses up no view. */
export function hasStep({ retrievalStep, passphraseRequired, endToEnd }: Push): boolean {
  return retrievalStep || passphraseRequired || endToEnd !== null;
}

export function mayDelete(push: Push, actor: Actor): boolean {
  return push.deletableByViewer || isOwn(push, actor);
}

export function isOwn(push: Push, actor: Actor): boolean {
  return actor.user !== null && push.ownerId !== null && push.ownerId === actor.user.id;
}

function viewerOf(push: Push, actor: Actor): Viewer {
  if (push.isAnswer) return "recipient";
  if (isOwn(push, actor)) return "owner";
  return actor.user?.admin === true ? "administrator" : "recipient";
}
