import { unavailable } from "../../base/errors.ts";
import { assertNoProblems } from "../../base/field-problems.ts";
import type { KindName } from "../../base/push-kinds.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import type { PushDeps } from "../deps.ts";
import { judgeCreation, limitsUnder, policyFor } from "../judge.ts";
import { hashPassphrase, sealedColumns } from "../new-row.ts";
import { asksForLinkDelivery, findLinkDeliveryProblems } from "../notifications/email-rules.ts";
import { linkDeliveryRefused, prepareLinkDelivery } from "../notifications/link-deliveries.ts";
import { storedPayload } from "../payload.ts";
import { toOwnersPush } from "../present-push.ts";
import type { CreatedPush, CreatePush, Lifetime, OwnedPush, Upload } from "../push.ts";
import { findOptionProblems } from "../push-options.ts";
import { listFiles, positionFiles, sealLabel, sealPushContent } from "../seals.ts";
import { arrivalOf, type CreationKey } from "../store/idempotency-keys.ts";
import type { InsertOutcome, NewPush, WithPush } from "../store/insert-push.ts";
import { type PushRow, pushes, type UnsealedPushRow } from "../store/tables.ts";
import type { AccountStoredLinkKey } from "../stored-link-keys.ts";
import { findProblems, kindOf, lifetimeOf } from "./limits.ts";
import { assertMayCreate, assertMayUpload } from "./received-files.ts";
import { creationKeyOf, findRepeated } from "./repeat-creation.ts";
import { type RequestedPush, requestedPush, resolvePreset } from "./requested-push.ts";
import { assertComplete, findUnsealedFiles, ownUpload, PendingUpload, uploadExpired } from "./upload.ts";

export function createOperations(deps: PushDeps) {
  return {
    /**
     * Call it before reading anything of a request: an anonymous caller then gets not_authenticated, not details about the files.
     * @throws AppError not_authenticated when the actor may not create pushes, or not with files.
     */
    assertMayCreate: (withFiles: boolean, actor: Actor) => assertMayCreate(deps.config, withFiles, actor),

    /**
     * Seals a push and writes it with its audit entry in one transaction. Takes ownership of the uploaded files, or abandons
     * them on any error and for a repeated request.
     * @returns the push. For an anonymous push its `urlToken` is the only copy.
     * @throws AppError invalid_fields (also for an idempotency key of another push, or of one that has ended), not_authenticated, bytes_used_up,
     * too_many_requests (passphrases of repeated requests), unavailable (disk, quota); what `together` throws.
     * @param together written in the same transaction.
     */
    async create(asked: CreatePush, actor: Actor, together?: WithPush): Promise<CreatedPush> {
      const upload = ownUpload(deps, asked.upload, actor);
      try {
        assertMayCreate(deps.config, false, actor);
        const askedKey = creationKeyOf(deps, asked, actor);
        const { preset } = asked;
        const request = preset === undefined ? asked : await resolvePreset(deps, asked, { preset, askedKey }, actor);
        const kind = kindOf(request);
        assertMayCreate(
          deps.config,
          kind === "file" || asked.upload !== undefined || request.mentionsFiles === true,
          actor,
        );
        const receivedAt = deps.clock.now();
        const policy = await policyFor(deps, actor);
        assertNoProblems(
          findProblems(request, kind, deps.config, limitsUnder(policy, deps.config.kinds[kind], actor)),
          findLinkDeliveryProblems(deps, request, actor),
          await findOptionProblems(deps, request, actor),
        );
        const compared = askedKey && { request, requested: requestedPush(deps, request, kind, actor), upload };
        const earlier = compared && (await findRepeated(deps, askedKey, compared, actor));
        if (earlier?.push !== undefined) return { ...earlier.push, repeated: true };
        const judged = await judgeCreation(deps, request, { kind, receivedAt, policy }, actor);
        const key = earlier && { ...askedKey, arrivedAt: arrivalOf(deps.clock, receivedAt, earlier.databaseTime) };
        const push = await sealAndInsert(deps, judged, { kind, upload, key, together }, actor);
        if (push === "repeated") {
          const first = compared && (await findRepeated(deps, askedKey, compared, actor));
          if (first?.push === undefined) throw unavailable("The push is being created. Try again.", 1);
          return { ...first.push, repeated: true };
        }
        upload.handOver();
        return { ...push, repeated: false };
      } finally {
        await upload.abandon();
      }
    },

    /** @throws AppError not_authenticated, invalid_fields on `kind` (file pushes disabled), unavailable. */
    async beginUpload(actor: Actor): Promise<Upload> {
      assertMayUpload(deps.config, actor);
      return new PendingUpload(deps, actor);
    },
  };
}

interface Sending {
  readonly kind: KindName;
  readonly upload: PendingUpload;
  readonly key: Omit<CreationKey, "pushId"> | undefined;
  readonly together: WithPush | undefined;
}

/** @param request valid, with what the rules leave of the defaults. @returns "repeated": a push was inserted under its key meanwhile. */
async function sealAndInsert(
  deps: PushDeps,
  request: CreatePush,
  { kind, upload, key, together }: Sending,
  actor: Actor,
): Promise<OwnedPush | "repeated"> {
  assertComplete(upload);
  if (upload.fileCount > 0) assertNoProblems(await findUnsealedFiles(deps, request, upload));
  const { payload } = storedPayload(request);
  const payloadBytes = Buffer.byteLength(payload);
  await upload.spent.charge(payloadBytes, deps.clock.now());
  await deps.capacity.assertRoomFor(actor, payloadBytes);
  const { passphrase = "" } = request;
  const ownerId = actor.user?.id ?? null;
  const { passphraseSalt, passphraseHash } = await hashPassphrase(deps, passphrase, ownerId !== null, actor.client);
  const id = await deps.ids.next();
  const now = deps.clock.now();
  const { keyring, urlTokens } = deps.vault;
  const urlToken = urlTokens.make(id, deps.random);
  const lifetime = lifetimeOf(request, deps.config.kinds[kind], now);
  const made = { id, ownerId, passphraseSalt, now, urlToken, lifetime };
  const row = newRow(deps, made, requestedPush(deps, request, kind, actor));
  const keepsLink = storesLink(deps, row, actor);
  const needsStoredLinkKey = ownerId !== null && (keepsLink || asksForLinkDelivery(request));
  const withKey = (write: (key: AccountStoredLinkKey | undefined) => Promise<InsertOutcome>) =>
    needsStoredLinkKey ? deps.storedLinkKeys.sealing(ownerId, write) : write(undefined);
  const outcome = await withKey(async (storedLinkKey) => {
    const linkDelivery =
      storedLinkKey && (await prepareLinkDelivery(deps, request, { row, urlToken, storedLinkKey }, actor));
    return await deps.largePayloads.write(payloadBytes, actor.client, () => {
      const { keyCheck, ...sealed } = sealPushContent(keyring, row, {
        secrets: { urlToken, passphraseHash },
        content: { payload, files: listFiles(positionFiles(upload.files)) },
        random: deps.random,
      });
      const tokenSealed =
        keepsLink && storedLinkKey !== undefined
          ? storedLinkKey.seal(pushes.seals.urlToken, row, urlToken, deps.random)
          : row.tokenSealed;
      const push: NewPush = {
        ...sealed,
        row: { ...row, tokenSealed, keyCheck },
        storedLinkKey,
        storedBytes: payloadBytes + upload.storedBytes,
        key: key && { ...key, pushId: id },
      };
      const audit = auditRecord("creation", actor, now);
      return deps.store.insertPush(push, audit, { linkDelivery, together });
    });
  });
  if (outcome === "repeated") return outcome;
  if (outcome === "upload_swept") throw uploadExpired();
  if (outcome === "link_secret_replaced") throw new Error(`Push ${id} was not sealed for any link secret.`);
  if (outcome !== "inserted") throw linkDeliveryRefused(outcome, deps.emails);
  return toOwnersPush(row, urlToken, now, keyring);
}

/** Nobody else has the link of an answer, so it is always stored. */
function storesLink({ config }: PushDeps, { isAnswer }: Pick<PushRow, "isAnswer">, { user }: Actor): boolean {
  return isAnswer === 1 || (user !== null && user.isService !== true && config.keepLinks);
}

/** Only the first part of the literal is a spread: the engine copies that as a whole, and every later one key by key. */
function newRow(
  deps: PushDeps,
  {
    id,
    ownerId,
    passphraseSalt,
    now,
    urlToken,
    lifetime,
  }: Pick<PushRow, "id" | "ownerId" | "passphraseSalt"> & { lifetime: Lifetime; now: number; urlToken: string },
  { columns, name, note }: RequestedPush,
): UnsealedPushRow {
  const sealed = sealedColumns(deps.vault, { id, ownerId }, { urlToken, name, note });
  return {
    ...columns,
    id,
    ownerId,
    passphraseSalt,
    expiresAt: lifetime.expiresAt,
    expireAfterDays: lifetime.expireAfterDays,
    expireAfterViews: lifetime.expireAfterViews,
    createdAt: now,
    updatedAt: now,
    endedAt: null,
    endReason: null,
    views: 0,
    refusals: 0,
    sealGeneration: sealed.sealGeneration,
    linkCheck: sealed.linkCheck,
    ownerCheck: sealed.ownerCheck,
    nameSealed: sealed.nameSealed,
    noteSealed: sealed.noteSealed,
    // An answer without an owner is found through its request. Of an owned push: see `sealAndInsert`.
    tokenSealed:
      ownerId === null && columns.isAnswer === 1
        ? sealLabel(deps.vault.keyring, pushes.seals.anonymousUrlToken, { id, ownerId }, urlToken)
        : null,
  };
}
