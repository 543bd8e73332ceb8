import type { PostgresSettings } from "../../config/config.ts";
import type { AwaitEffects } from "../open-database.ts";
import { openPool } from "./pool.ts";
import { describeStartFailure, isNotThereYet } from "./start-failures.ts";

const waitMsMax = 30_000;
const retryMs = 500;
const triesMax = waitMsMax / retryMs;

/**
 * Waits for a server that starts at the same time as this process, as in one compose file. Whatever else is the matter,
 * and whatever still is after half a minute, the opening of the database meets and tells.
 */
export async function awaitServer(settings: PostgresSettings, effects: AwaitEffects): Promise<void> {
  const { monotonicMs, pause, onWaiting, abandoned } = effects;
  const startedAt = monotonicMs();
  for (let tries = 1; ; tries += 1) {
    const failure = await probe(settings);
    if (!isNotThereYet(failure) || tries > triesMax || monotonicMs() - startedAt >= waitMsMax) return;
    const told = describeStartFailure(failure, settings);
    if (tries === 1) onWaiting(told instanceof Error ? told.message : String(told));
    await pause(retryMs);
    abandoned?.throwIfAborted();
  }
}

/** @returns what was thrown; undefined: a connection was made. */
async function probe(settings: PostgresSettings): Promise<unknown> {
  const pool = openPool({ ...settings, poolMax: 1 }, () => undefined);
  try {
    (await pool.connect()).release();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await pool.close();
  }
}
