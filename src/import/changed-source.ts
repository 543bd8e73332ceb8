import type { ImportSource, SourceChange } from "@sealpush/import-password-pusher";
import type { Destination } from "./destination.ts";
import type { Activity } from "./store/activity.ts";

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
export async function refuseChangedSource(source: ImportSource, destination: Destination, now: number): Promise<void> {
  const snapshot = await source.snapshot();
  const identities = destination.identitiesDigest(snapshot.identities);
  const recorded = await destination.recordedSnapshot();
  if (recorded === undefined) return destination.setSnapshot({ ...snapshot, identities, at: now });
  const changes = await source.changesSince(recorded.tables);
  if (changes.length === 0 && identities === recorded.identities) return;
  throw new SourceChangedError(changes, await destination.activitySince(recorded.at));
}
