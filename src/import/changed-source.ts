import type { ImportSource, SourceChange } from "@sealpush/import-password-pusher";
import { keyedHash } from "../crypto/sodium.ts";
import type { Destination } from "./destination.ts";
import type { Activity } from "./store/activity.ts";

const digestBytes = 16;

/** The source is not as it was when the first of its rows was imported. Nothing was written. */
export class SourceChangedError extends Error {
  override readonly name = "SourceChangedError";
  /** Empty: rows have the same numbers and times as before, and are others. */
  readonly changes: readonly SourceChange[];
  readonly activity: Activity;

  constructor(changes: readonly SourceChange[], activity: Activity) {
    super("Password Pusher has changed since its first rows were imported here, so nothing was written.");
    this.changes = changes;
    this.activity = activity;
  }
}

/**
 * A later run imports only what no run has imported. If the source has changed, it would leave spent pushes open here, and the ids of
 * a copy that was used separately would give pushes to other users.
 * @param now milliseconds since the epoch. @throws SourceChangedError.
 */
export async function refuseChangedSource(
  source: ImportSource,
  { rows, identitiesKey }: Destination,
  now: number,
): Promise<void> {
  const snapshot = await source.snapshot();
  // Without the key, nothing of the identities can be computed from the record.
  const identities = keyedHash(identitiesKey, digestBytes, "identities", snapshot.identities).toString("base64url");
  const recorded = await rows.readSnapshot();
  if (recorded === undefined) return rows.setSnapshot({ ...snapshot, identities, at: now });
  const changes = await source.changesSince(recorded.tables);
  if (changes.length === 0 && identities === recorded.identities) return;
  throw new SourceChangedError(changes, await rows.activitySince(recorded.at));
}
