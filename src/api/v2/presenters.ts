import type { Config } from "../../config/config.ts";
import { downloadUrl } from "../../http/downloads.ts";
import { presentLinkDelivery, timestamp, timestampOrNull } from "../../http/present.ts";
import { presentOptions, presentOwnersOptions } from "../../http/push-options.ts";
import type { AuditEntry, OwnedPush, Push, RevealedFile } from "../../pushes/pushes.ts";
import type {
  AuditAnswer,
  CommonAnswer,
  OwnedPushAnswer,
  OwnersPart,
  PreviewAnswer,
  PushAnswer,
  RetrievedPushAnswer,
  SecretAnswer,
  VersionAnswer,
} from "./schemas.ts";

export interface Revealed {
  readonly payload: string;
  readonly files: readonly RevealedFile[];
}

/** The link to hand out. @param baseUrl origin without a trailing slash. */
function htmlUrl(push: Push, baseUrl: string): string {
  return `${baseUrl}/p/${push.urlToken}${push.retrievalStep ? "/r" : ""}`;
}

/** The keys that every API version has, in the established order. */
export function presentCommon(push: Push, baseUrl: string, passphrase: string | null): CommonAnswer {
  return {
    expire_after_views: push.expireAfterViews,
    expired: push.expired,
    url_token: push.urlToken,
    ...presentOptions(push),
    expired_on: timestampOrNull(push.expiredOn),
    passphrase,
    created_at: timestamp(push.createdAt),
    updated_at: timestamp(push.updatedAt),
    expire_after_days: push.expireAfterDays,
    days_remaining: push.daysRemaining,
    views_remaining: push.viewsRemaining,
    deleted: push.deleted,
    json_url: `${baseUrl}/p/${push.urlToken}.json`,
    html_url: htmlUrl(push, baseUrl),
  };
}

export function presentPush(push: Push, baseUrl: string, passphrase: string | null = null): PushAnswer {
  return {
    ...presentCommon(push, baseUrl, passphrase),
    kind: push.kind,
    expires_at: timestamp(push.expiresAt),
  };
}

/** The keys that only the owner gets. The labels are never null: clients show them unchecked. */
export function presentOwnersPart(push: OwnedPush): OwnersPart {
  return { name: push.name ?? "", note: push.note ?? "", ...presentOwnersOptions(push) };
}

export function presentOwnedPush(push: OwnedPush, baseUrl: string, passphrase: string | null = null): OwnedPushAnswer {
  return { ...presentPush(push, baseUrl, passphrase), ...presentOwnersPart(push) };
}

export function presentRevealed(push: Push, revealed: Revealed, baseUrl: string): RetrievedPushAnswer {
  return { ...presentPush(push, baseUrl), ...presentSecret(revealed, baseUrl) };
}

export function presentGone(push: Push, baseUrl: string): RetrievedPushAnswer {
  return { ...presentPush(push, baseUrl), payload: null, files: [] };
}

/** The keys that only a retrieval has. */
export function presentSecret({ payload, files }: Revealed, baseUrl: string): SecretAnswer {
  return {
    payload,
    files: files.map((file) => ({
      filename: file.filename,
      content_type: file.contentType,
      url: downloadUrl(baseUrl, file.ticket),
    })),
  };
}

export function presentPreview(push: Push, baseUrl: string): PreviewAnswer {
  return { url: htmlUrl(push, baseUrl) };
}

export function presentAudit(entries: readonly AuditEntry[]): AuditAnswer {
  return {
    logs: entries.map((entry) => ({
      ip: entry.address,
      user_agent: entry.userAgent,
      referrer: entry.referrer,
      kind: entry.kind,
      ...(entry.linkDelivery === undefined ? {} : { notify_by_email: presentLinkDelivery(entry.linkDelivery) }),
      created_at: timestamp(entry.createdAt),
      updated_at: timestamp(entry.updatedAt),
    })),
  };
}

export function presentVersion(config: Config, version: string): VersionAnswer {
  const { kinds, files } = config;
  return {
    application_version: version,
    api_version: "2.1",
    edition: "oss",
    features: {
      anonymous_access: config.allowAnonymous,
      api_token_authentication: true,
      accounts: { enabled: false },
      pushes: {
        enabled: true,
        email_auto_dispatch: config.linkDeliveries.enabled,
        file_attachments: {
          enabled: kinds.file.enabled,
          requires_authentication: !(config.allowAnonymous && files.allowAnonymous),
        },
        url_pushes: { enabled: kinds.url.enabled },
        qr_code_pushes: { enabled: kinds.qr.enabled },
      },
      requests: { enabled: false },
    },
  };
}
