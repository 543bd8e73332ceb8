import { AppError, invalidFields } from "../../base/errors.ts";
import type { KindName } from "../../base/push-kinds.ts";
import { makePassphraseSalt } from "../../crypto/passphrase.ts";
import { type SealedColumn, sealedColumns } from "../../crypto/sealed-columns.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import type { PushDeps } from "../deps.ts";
import { findLinkDeliveryProblems } from "../notifications/email-rules.ts";
import { linkDeliveryRefused, prepareLinkDelivery } from "../notifications/link-deliveries.ts";
import { toOwnersPush } from "../present-push.ts";
import type { Actor, CreatePush, OwnedPush, Upload } from "../push.ts";
import { findOptionProblems, optionSettings } from "../push-options.ts";
import { firstGeneration, sealLabel, sealPushContent } from "../seals.ts";
import type { NewPush } from "../store/insert-push.ts";
import { optionsBy, type PushRow, type UnsealedPushRow } from "../store/tables.ts";
import type { SpentBytes } from "./byte-budgets.ts";
import { findProblems, lifetimeOf } from "./limits.ts";
import { ownUpload, PendingUpload, uploadExpired } from "./upload.ts";

export function createOperations(deps: PushDeps) {
  /**
   * Call it before reading anything of a request: an anonymous caller then gets not_authenticated, not details about the files.
   * @throws AppError not_authenticated when the actor may not create pushes, or not with files.
   */
  function assertMayCreate(withFiles: boolean, actor: Actor): void {
    if (actor.user !== null) return;
    if (!deps.config.allowAnonymous) throw new AppError("not_authenticated", "This server asks for an API token.");
    if (withFiles && !deps.config.files.allowAnonymous) {
      throw new AppError("not_authenticated", "File pushes need an API token or a signed-in user.");
    }
  }

  return {
    assertMayCreate,

    /**
     * Seals a push and writes it with its audit entry in one transaction. Takes ownership of the uploaded files, or abandons
     * them on any error.
     * @returns the push. For an anonymous push its `urlToken` is the only copy.
     * @throws AppError invalid_fields, not_authenticated, too_many_requests (bytes a day), unavailable (disk, quota).
     */
    async create(request: CreatePush, actor: Actor): Promise<OwnedPush> {
      const upload = ownUpload(request.upload, actor);
      const spent = upload?.spent ?? deps.byteBudgets.begin(actor);
      try {
        const kind = request.kind ?? ((upload?.fileCount ?? 0) > 0 ? "file" : "text");
        assertMayCreate(kind === "file" || upload !== undefined || request.mentionsFiles === true, actor);
        const push = await sealAndInsert(deps, request, kind, { upload, spent }, actor);
        upload?.handOver();
        spent.keep();
        return push;
      } finally {
        await upload?.abandon();
        await spent.refund();
      }
    },

    /** @throws AppError not_authenticated, invalid_fields on `kind` (file pushes disabled), unavailable. */
    async beginUpload(actor: Actor): Promise<Upload> {
      assertMayCreate(true, actor);
      if (!deps.config.kinds.file.enabled) {
        throw invalidFields({ kind: ["file pushes are switched off on this server."] });
      }
      return new PendingUpload(deps, actor);
    },
  };
}

async function sealAndInsert(
  deps: PushDeps,
  request: CreatePush,
  kind: KindName,
  { upload, spent }: { readonly upload: PendingUpload | undefined; readonly spent: SpentBytes },
  actor: Actor,
): Promise<OwnedPush> {
  const problems = {
    ...findProblems(request, kind, deps.config),
    ...findLinkDeliveryProblems(deps, request, actor),
    ...(await findOptionProblems(deps, request, actor)),
  };
  if (Object.keys(problems).length > 0) throw invalidFields(problems);
  const payloadBytes = Buffer.byteLength(request.payload ?? "");
  await spent.charge(payloadBytes, deps.clock.now());
  await deps.capacity.assertRoomFor(actor, payloadBytes);

  const passphrase = request.passphrase ?? "";
  const passphraseSalt = passphrase === "" ? null : makePassphraseSalt(deps.random, actor.user !== null);
  const passphraseHash =
    passphraseSalt === null ? undefined : await deps.argon2.deriveKey(passphrase, passphraseSalt, actor.client);

  const id = await deps.ids.next();
  const now = deps.clock.now();
  const { keyring, urlTokens } = deps.vault;
  const urlToken = urlTokens.make(id, deps.random);
  const ownerId = actor.user?.id ?? null;
  const row = newRow(deps, { id, kind, ownerId, now, passphraseSalt, urlToken }, request);
  const linkDelivery = await prepareLinkDelivery(deps, request, { row, urlToken }, actor);
  const outcome = await deps.largePayloads.write(payloadBytes, actor.client, async () => {
    const content = { payload: request.payload ?? "", files: upload?.files ?? [] };
    const { keyCheck, ...sealed } = sealPushContent(keyring, row, { urlToken, passphraseHash }, content, deps.random);
    const push: NewPush = {
      row: { ...row, keyCheck },
      linkCheck: urlTokens.addressOf(urlToken).check,
      ...sealed,
      storedBytes: payloadBytes + (upload?.storedBytes ?? 0),
    };
    return await deps.store.insertPush(push, auditRecord("creation", actor, now), linkDelivery);
  });
  if (outcome === "upload_swept") throw uploadExpired();
  if (outcome !== "inserted") throw linkDeliveryRefused(outcome, deps.emails);
  return toOwnersPush(row, urlToken, now, keyring);
}

function newRow(
  deps: PushDeps,
  made: Pick<PushRow, "id" | "kind" | "ownerId" | "passphraseSalt"> & { now: number; urlToken: string },
  request: CreatePush,
): UnsealedPushRow {
  const { id, kind, ownerId, now } = made;
  const { lifetimeMs, expireAfterDays, expireAfterViews } = lifetimeOf(request, kind, deps.config);
  const label = (column: SealedColumn, text = "") =>
    ownerId === null ? null : sealLabel(deps.vault.keyring, column, { id, ownerId }, text);
  return {
    id,
    kind,
    ownerId,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + lifetimeMs,
    endedAt: null,
    endReason: null,
    expireAfterDays,
    expireAfterViews,
    views: 0,
    refusals: 0,
    ...optionsBy((option) => {
      const { offered, default: byDefault } = optionSettings(option, deps.config.kinds[kind], ownerId !== null);
      return offered && (request[option] ?? byDefault);
    }),
    sealGeneration: firstGeneration,
    passphraseSalt: made.passphraseSalt,
    // The labels of an anonymous push could never be read, so they are not stored.
    tokenSealed: label(sealedColumns.urlToken, made.urlToken),
    nameSealed: label(sealedColumns.name, request.name),
    noteSealed: label(sealedColumns.note, request.note),
  };
}
