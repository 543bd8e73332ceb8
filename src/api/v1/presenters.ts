import type { AuditEntry, OwnedPush, Push } from "../../pushes/pushes.ts";
import {
  htmlUrl,
  type LinkParts,
  type Presented,
  presentCommon,
  presentLabels,
  presentAudit as presentLogs,
  presentSecret,
  type Revealed,
} from "../v2/presenters.ts";
import type {
  AuditAnswer,
  OwnedPushAnswer,
  PreviewAnswer,
  PushAnswer,
  RetrievedPushAnswer,
  VersionAnswer,
} from "./schemas.ts";

/** @param passphrase on create the one that was sent. */
export function presentPush(push: Presented<Push>, links: LinkParts, passphrase?: string): PushAnswer {
  const answer = presentCommon(push, links, passphrase);
  // V1 has no such option for url pushes.
  return push.kind === "url" ? { ...answer, deletable_by_viewer: null } : answer;
}

export function presentOwnedPush(push: Presented<OwnedPush>, links: LinkParts, passphrase?: string): OwnedPushAnswer {
  return { ...presentPush(push, links, passphrase), ...presentLabels(push) };
}

export function presentRevealed(push: Push, revealed: Revealed, links: LinkParts): RetrievedPushAnswer {
  return { ...presentPush(push, links), ...presentSecret(revealed, links) };
}

export function presentGone(push: Push, links: LinkParts): RetrievedPushAnswer {
  return { ...presentPush(push, links), payload: null, files: [] };
}

export function presentPreview(push: Push, links: LinkParts): PreviewAnswer {
  return { url: htmlUrl(push, links) };
}

export function presentAudit(entries: readonly AuditEntry[]): AuditAnswer {
  return { views: presentLogs(entries).logs.map(({ notify_by_email: _, ...view }) => view) };
}

export function presentVersion(version: string): VersionAnswer {
  return { application_version: version, api_version: "1.5", edition: "oss" };
}
