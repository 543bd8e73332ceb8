import type { AuditEntry, OwnedPush, Push } from "../../pushes/pushes.ts";
import {
  presentCommon,
  presentAudit as presentLogs,
  presentOwnersPart,
  presentSecret,
  type Revealed,
} from "../v2/presenters.ts";
import type { AuditAnswer, OwnedPushAnswer, PushAnswer, RetrievedPushAnswer, VersionAnswer } from "./schemas.ts";

/** @param baseUrl origin without a trailing slash. @param passphrase on create the one that was sent, otherwise null. */
export function presentPush(push: Push, baseUrl: string, passphrase: string | null = null): PushAnswer {
  const answer = presentCommon(push, baseUrl, passphrase);
  // V1 has no such option for url pushes.
  return push.kind === "url" ? { ...answer, deletable_by_viewer: null } : answer;
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

export function presentAudit(entries: readonly AuditEntry[]): AuditAnswer {
  return { views: presentLogs(entries).logs.map(({ notify_by_email: _, ...view }) => view) };
}

export function presentVersion(version: string): VersionAnswer {
  return { application_version: version, api_version: "1.5", edition: "oss" };
}
