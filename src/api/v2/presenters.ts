import type { KindName } from "../../base/push-kinds.ts";
import type { Config } from "../../config/config.ts";
import { downloadUrl } from "../../http/downloads.ts";
import { presentLinkDelivery, timestamp, timestampOrNull } from "../../http/present.ts";
import { presentOptions, presentOwnersOptions, presentPreset } from "../../http/push-options.ts";
import { allowedKinds, type CallerPolicy, type Policy } from "../../policies/policies.ts";
import type {
  AuditEntry,
  CallerPreset,
  CreatePush,
  ListedPush,
  OwnedPush,
  Push,
  PushField,
  RevealedFile,
} from "../../pushes/pushes.ts";
import type {
  AuditAnswer,
  CommonAnswer,
  CreatedPushAnswer,
  Labels,
  OwnedPushAnswer,
  PolicyAnswer,
  PresetsAnswer,
  PreviewAnswer,
  PushAnswer,
  RetrievedPushAnswer,
  SecretAnswer,
  VersionAnswer,
} from "./schemas.ts";

export interface Revealed {
  readonly payload: string;
  readonly fields: readonly PushField[] | null;
  readonly files: readonly RevealedFile[];
}

/** What the links in an answer begin and end with. */
export interface LinkParts {
  /** Origin without a trailing slash. */
  readonly baseUrl: string;
  /** The language of the page; undefined: the reader's. */
  readonly locale: string | undefined;
}

/** The push may be one of a list, whose link may be unknown. Its addresses are then "", because clients expect strings. */
export type Presented<P extends Push> = Omit<P, "urlToken"> & Pick<ListedPush, "urlToken">;

/** The link to hand out. */
export function htmlUrl(push: Presented<Push>, { baseUrl, locale }: LinkParts): string {
  if (push.urlToken === null) return "";
  const query = locale === undefined ? "" : `?locale=${locale}`;
  return `${baseUrl}/p/${push.urlToken}${push.retrievalStep ? "/r" : ""}${query}`;
}

/** "" where there certainly is none, because some clients expect a string. The passphrase of a push is not stored. */
function unknownPassphrase(push: Presented<Push>): "" | null {
  return push.expired || push.passphraseRequired ? null : "";
}

/** The keys that every API version has, in the established order. */
export function presentCommon(
  push: Presented<Push>,
  links: LinkParts,
  passphrase: string | null = unknownPassphrase(push),
): CommonAnswer {
  return {
    expire_after_views: push.expireAfterViews,
    expired: push.expired,
    url_token: push.urlToken ?? "",
    ...presentOptions(push),
    expired_on: timestampOrNull(push.expiredOn),
    passphrase,
    created_at: timestamp(push.createdAt),
    updated_at: timestamp(push.updatedAt),
    expire_after_days: push.expireAfterDays,
    days_remaining: push.daysRemaining,
    views_remaining: push.viewsRemaining,
    deleted: push.deleted,
    json_url: push.urlToken === null ? "" : `${links.baseUrl}/p/${push.urlToken}.json`,
    html_url: htmlUrl(push, links),
  };
}

function presentEncryption({ endToEnd }: Pick<Push, "endToEnd">): { encryption?: "age" } {
  return endToEnd === null ? {} : { encryption: "age" };
}

export function presentPush(push: Presented<Push>, links: LinkParts, passphrase?: string): PushAnswer {
  const answer = { ...presentCommon(push, links, passphrase), kind: push.kind, expires_at: timestamp(push.expiresAt) };
  return push.endToEnd === null ? answer : { ...answer, ...presentEncryption(push) };
}

/** They are never null: clients show them unchecked. */
export function presentLabels(push: Presented<OwnedPush>): Labels {
  return { name: push.name ?? "", note: push.note ?? "" };
}

export function presentOwnedPush(push: Presented<OwnedPush>, links: LinkParts, passphrase?: string): OwnedPushAnswer {
  const { name, note } = presentLabels(push);
  const answer = { ...presentPush(push, links, passphrase), name, note };
  return push.ownerId === null ? answer : { ...answer, ...presentOwnersOptions(push) };
}

/** The labels are repeated as sent, also those of an anonymous push, which keeps none. */
export function withSentLabels(push: OwnedPush, { name, note }: CreatePush): OwnedPush {
  return { ...push, name: name ?? null, note: note ?? null };
}

export function presentCreated(push: OwnedPush, wanted: CreatePush, links: LinkParts): CreatedPushAnswer {
  const { notifyEmailsTo = "", notifyEmailsToLocale = null, passphrase = "", fields } = wanted;
  const answer: CreatedPushAnswer = presentOwnedPush(withSentLabels(push, wanted), links, passphrase);
  if (fields !== undefined) answer.fields = fields.map(({ label, type }) => ({ label, type }));
  if (notifyEmailsTo !== "") {
    answer.notify_emails_to = notifyEmailsTo;
    answer.notify_emails_to_locale = notifyEmailsToLocale;
  }
  return answer;
}

export function presentRevealed(
  push: Push,
  revealed: Revealed & { readonly sender: string | null },
  links: LinkParts,
): RetrievedPushAnswer {
  const { fields, sender } = revealed;
  const { payload, files } = presentSecret(revealed, links);
  const answer: RetrievedPushAnswer = { ...presentPush(push, links), payload, files };
  if (fields !== null) answer.fields = [...fields];
  if (sender !== null) answer.sender = sender;
  return answer;
}

export function presentGone(push: Push, links: LinkParts): RetrievedPushAnswer {
  return { ...presentPush(push, links), payload: null, files: [] };
}

/** The keys that only a retrieval has. */
export function presentSecret(
  { payload, files }: Omit<Revealed, "fields">,
  { baseUrl }: Pick<LinkParts, "baseUrl">,
): SecretAnswer {
  return {
    // Only a file push may have no text.
    payload: payload === "" ? null : payload,
    files: files.map((file) => ({
      filename: file.filename,
      content_type: file.contentType,
      url: downloadUrl(baseUrl, file.ticket),
    })),
  };
}

export function presentPreview(push: Push, links: LinkParts, sender: string | null): PreviewAnswer {
  const { endToEnd } = push;
  return {
    url: htmlUrl(push, links),
    ...presentEncryption(push),
    ...(endToEnd !== null && {
      ...(endToEnd.check !== null && { encryption_check: endToEnd.check }),
      encryption_passphrase: endToEnd.underPassphrase,
    }),
    ...(sender !== null && { sender }),
  };
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

/** Kinds and callers that the rules leave nothing are not among the features. */
export function presentVersion(config: Config, version: string, policy: Policy): VersionAnswer {
  const { files } = config;
  // Without an account, nobody could be notified.
  const allowsAnonymous = config.allowAnonymous && !policy.notifyOnViewRequired;
  const isEnabled = (kind: KindName) => ({ enabled: allowedKinds(policy).includes(kind) });
  return {
    application_version: version,
    api_version: "2.1",
    edition: "oss",
    features: {
      anonymous_access: allowsAnonymous,
      api_token_authentication: true,
      accounts: { enabled: false },
      pushes: {
        enabled: true,
        email_auto_dispatch: config.linkDeliveries.enabled && policy.mailDomains?.length !== 0,
        file_attachments: {
          ...isEnabled("file"),
          requires_authentication: !(allowsAnonymous && files.allowAnonymous),
        },
        url_pushes: isEnabled("url"),
        qr_code_pushes: isEnabled("qr"),
      },
      requests: { enabled: false },
    },
  };
}

export function presentPresets(presets: readonly CallerPreset[]): PresetsAnswer {
  return {
    presets: presets.map(({ isDefault, settings, ...of }) => ({
      ...of,
      default: isDefault,
      ...presentPreset(settings),
    })),
  };
}

export function presentPolicy({ policy, sources }: CallerPolicy): PolicyAnswer {
  return {
    passphrase: {
      required: policy.passphraseRequired,
      min_length: policy.passphraseMinLength,
      common_allowed: policy.passphraseCommonAllowed,
    },
    max_minutes: policy.maxMinutes,
    max_views: policy.maxViews,
    kinds: [...policy.kinds],
    encryption_required: policy.encryptionRequired,
    notify_on_view_required: policy.notifyOnViewRequired,
    requests: policy.requests,
    mail_domains: policy.mailDomains && [...policy.mailDomains],
    sources: [...sources],
  };
}
