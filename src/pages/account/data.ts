import type { ApiToken, Factors, Identity, ListedSession, PushDefaults, User } from "../../accounts/accounts.ts";
import { kindOptions } from "../../config/topics/kinds.ts";
import { sendPieces } from "../../http/answers.ts";
import { wireName } from "../../http/errors.ts";
import { attachment, jsonType } from "../../http/headers.ts";
import { presentLinkDelivery, timestamp, timestampOrNull } from "../../http/present.ts";
import { presentAllOptions, presentPreset } from "../../http/push-options.ts";
import type { Membership } from "../../policies/policies.ts";
import { asksForPassphrase, type ExportedPush, type Preset, type TrailEvent } from "../../pushes/pushes.ts";
import type { ListedRequest } from "../../requests/requests.ts";
import type { PageServices, Reply, SignedInRequest } from "../request.ts";

/**
 * `GET /users/edit/data`: all data about the user that the server can read, as one JSON document. It has no links of
 * pushes or requests: a file in a download folder must not open a secret.
 */
export function downloadData({ session, reply, services }: SignedInRequest): Promise<Reply> {
  reply.header("content-type", jsonType);
  reply.header("content-disposition", attachment("sealpush-data.json"));
  return sendPieces(reply, documentOf(session.user, services));
}

async function* documentOf(
  user: User,
  { accounts, groups, presets: ofPresets, pushes, requests, clock }: PageServices,
): AsyncGenerator<string> {
  const exported = pushes.exportOwned(user.id)[Symbol.asyncIterator]();
  try {
    let next = await exported.next();
    const [sessions, tokens, factors, defaults, unconfirmedEmail, identities, kept, memberships, presets] =
      await Promise.all([
        accounts.listSessions(user.id),
        accounts.listTokens(user.id),
        accounts.findFactors(user.id),
        accounts.pushDefaults(user.id),
        accounts.unconfirmedEmail(user.id),
        accounts.listIdentities(user.id),
        accounts.scim.findKept(user.id),
        groups.listOf(user.id),
        ofPresets.list({ userId: user.id }),
      ]);
    const head = {
      exported_at: timestamp(clock.now()),
      account: { ...presentUser(user), new_email_to_confirm: unconfirmedEmail },
      new_push_defaults: presentDefaults(defaults),
      sessions: sessions.map(presentSession),
      api_tokens: tokens.map(presentToken),
      second_factors: presentFactors(factors),
      single_sign_on: identities.map(presentIdentity),
      scim: kept && { user_name: kept.userName, external_id: kept.externalId },
      groups: memberships.map(presentMembership),
      presets: presets.map(presentOwnPreset),
    };
    yield `${JSON.stringify(head).slice(0, -1)},"requests":[`;
    let separator = "";
    for await (const request of requests.exportOwned(user.id)) {
      yield `${separator}\n${JSON.stringify(presentRequest(request))}`;
      separator = ",";
    }
    yield '],"pushes":[';
    for (let comma = ""; next.done !== true; comma = ",") {
      yield* pushPieces(next.value, comma);
      next = await exported.next();
    }
    yield "]}\n";
  } finally {
    await exported.return?.();
  }
}

async function* pushPieces({ push, files, events }: ExportedPush, comma: string): AsyncGenerator<string> {
  const shown = {
    kind: push.kind,
    name: push.name,
    note: push.note,
    created_at: timestamp(push.createdAt),
    updated_at: timestamp(push.updatedAt),
    expires_at: timestamp(push.expiresAt),
    ended_at: timestampOrNull(push.expiredOn),
    end_reason: push.endReason,
    expire_after_days: push.expireAfterDays,
    expire_after_views: push.expireAfterViews,
    views: push.views,
    ...presentAllOptions(push),
    passphrase: asksForPassphrase(push),
    end_to_end: push.endToEnd !== null,
    files: files.map(({ filename, contentType, sizeBytes }) => ({
      filename,
      content_type: contentType,
      size_bytes: sizeBytes,
    })),
  };
  yield `${comma}\n${JSON.stringify(shown).slice(0, -1)},"audit_trail":[`;
  let separator = "";
  for await (const event of events) {
    yield separator + JSON.stringify(presentEvent(event));
    separator = ",";
  }
  yield "]}";
}

function presentRequest(request: ListedRequest) {
  return {
    title: request.title,
    note: request.note,
    wants_text: request.wantsText,
    wants_files: request.wantsFiles,
    state: request.state,
    created_at: timestamp(request.createdAt),
    expires_at: timestamp(request.expiresAt),
    answers: request.answers,
    answers_max: request.answersMax,
    key_under_passphrase: request.identitySealed !== "",
  };
}

function presentEvent(event: TrailEvent) {
  const stamps = { created_at: timestamp(event.createdAt), updated_at: timestamp(event.updatedAt) };
  if (event.kind === "limit") return { kind: event.kind, reason: event.reason, ...stamps };
  const { kind, by, address, userAgent, referrer, times, linkDelivery } = event;
  const mails = linkDelivery === undefined ? {} : { notify_by_email: presentLinkDelivery(linkDelivery) };
  return { kind, by, address, user_agent: userAgent, referrer, times, ...stamps, ...mails };
}

function presentUser(user: User) {
  return {
    email: user.email,
    administrator: user.admin,
    created_at: timestamp(user.createdAt),
    confirmed_at: timestampOrNull(user.confirmedAt),
    language: user.language,
    has_password: user.hasPassword,
    has_second_factor: user.hasSecondFactor,
  };
}

function presentDefaults({ kind, kinds, senderShown }: PushDefaults) {
  const presented = Object.entries(kinds).map(([name, chosen]) => [
    name,
    {
      expire_after_days: chosen.expireAfterDays,
      expire_after_views: chosen.expireAfterViews,
      ...Object.fromEntries(kindOptions.map((option) => [wireName(option), chosen[option]])),
    },
  ]);
  return { kind, kinds: Object.fromEntries(presented), sender_shown: senderShown };
}

function presentSession(session: ListedSession) {
  return {
    created_at: timestamp(session.createdAt),
    last_seen_at: timestamp(session.seenAt),
    address: session.address,
    user_agent: session.userAgent,
  };
}

function presentToken(token: ApiToken) {
  return {
    name: token.name,
    scopes: token.scopes,
    networks: token.networks,
    created_at: timestamp(token.createdAt),
    expires_at: timestampOrNull(token.expiresAt),
    last_used_at: timestampOrNull(token.lastUsedAt),
    last_used_address: token.lastUsedAddress,
    revoked_at: timestampOrNull(token.revokedAt),
  };
}

function presentFactors({ appAddedAt, passkeys, backupCodesLeft }: Factors) {
  return {
    authenticator_app_added_at: timestampOrNull(appAddedAt),
    passkeys: passkeys.map(({ name, createdAt, lastUsedAt }) => ({
      name,
      created_at: timestamp(createdAt),
      last_used_at: timestampOrNull(lastUsedAt),
    })),
    backup_codes_left: backupCodesLeft,
  };
}

function presentMembership({ name, byClaim, addedAt }: Membership) {
  return { name, by: byClaim ? "single_sign_on" : "administrator", added_at: timestamp(addedAt) };
}

function presentOwnPreset({ name, isDefault, settings }: Preset) {
  return { name, default: isDefault, ...presentPreset(settings) };
}

function presentIdentity({ issuer, subject, objectId, linkedAt }: Identity) {
  return { issuer, subject, object_id: objectId, linked_at: timestamp(linkedAt) };
}
